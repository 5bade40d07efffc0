"""The engine's face: ids, removal, ranking, errors, and input that is bad or much."""

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sensewire as sw
from sensewire.model.conditions import (
    Between,
    Condition,
    Different,
    Equal,
    Exists,
    Order,
    Relation,
    Text,
    TextRelation,
    Variable,
    meaning,
)
from sensewire.model.match import Match
from sensewire.model.subscription import Conjunction, Not, Predicate, Subscription, TriplePattern
from sensewire.model.terms import term_of


@pytest.fixture
def engine() -> sw.Engine:
    return sw.Engine()


def names(matches: Any) -> list[str]:
    return [match.subscription for match in matches]


def test_ids_are_given_or_made(engine: sw.Engine) -> None:
    assert engine.add(sw.parse("a = 1"), id="s2") == "s2"
    assert [engine.add(sw.parse("a = 1")) for _ in range(2)] == ["s1", "s3"]
    assert names(engine.match(sw.Event.record({"a": 1}))) == ["s1", "s2", "s3"]


def test_a_removed_subscription_matches_no_more(engine: sw.Engine) -> None:
    for name in ("one", "two"):
        engine.add(sw.parse("a = 1"), id=name)
    engine.remove("one")
    assert names(engine.match(sw.Event.record({"a": 1}))) == ["two"]
    engine.add(sw.parse("a = 2"), id="one")
    assert names(engine.match(sw.Event.record({"a": [1, 2]}))) == ["one", "two"]


def test_rows_come_under_each_subscribers_own_names(engine: sw.Engine) -> None:
    engine.add(sw.parse("select ?x, ?y where a = ?x and b = ?y"), id="one")
    engine.add(sw.parse("select ?v, ?u where b = ?u and a = ?v"), id="two")
    one, two = engine.match(sw.Event.record({"a": 1, "b": 2}))
    assert [{name: term.value for name, term in row.items()} for row in one.rows] == [
        {"x": 1, "y": 2}
    ]
    assert [{name: term.value for name, term in row.items()} for row in two.rows] == [
        {"v": 1, "u": 2}
    ]


def test_equal_questions_are_indexed_once(engine: sw.Engine) -> None:
    engine.add(sw.parse("a = 1 and (?x, b, ?y)"))
    engine.add(sw.parse("(?u, b, ?v) and a = 1"))
    assert engine.statistics().clauses == 1


def test_the_best_are_the_nearest(engine: sw.Engine) -> None:
    for bound in (80, 90, 100, 110):
        engine.add(sw.parse(f"price <= {bound} within 0.5"), id=str(bound))
    best = engine.match(sw.Event.record({"price": 100}), best=3)
    assert names(best) == ["100", "110", "90"]
    assert isinstance(best[0], Match)
    assert best[2].distance == pytest.approx(1 / 9)


def test_nothing_selected_is_one_empty_row(engine: sw.Engine) -> None:
    engine.add(sw.parse("a exists"))
    (match,) = engine.match(sw.Event.record({"a": 1}))
    assert match.rows == ({},)
    assert match.distance == 0.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda e: e.remove("nobody"), "there is no subscription 'nobody'"),
        (lambda e: e.add("a = 1"), "a str is no subscription; make one with parse"),
        (lambda e: e.add(sw.parse("a = 1"), id=""), "the id '' is no string that is not empty"),
        (lambda e: e.add(sw.parse("a = 1"), id=7), "the id 7 is no string"),
        (lambda e: [e.add(sw.parse("a = 1"), id="x") for _ in "ab"], "the id 'x' is in use"),
        (lambda e: e.add(sw.parse("near(x)")), "there is no operator 'near'; registered: none"),
    ],
)
def test_errors_of_subscribing(engine: sw.Engine, wrong: Any, message: str) -> None:
    with pytest.raises(sw.SubscriptionError, match=message):
        wrong(engine)


def test_a_refused_subscription_leaves_nothing_behind() -> None:
    engine = sw.Engine(matcher="counting")
    with pytest.raises(sw.SubscriptionError, match="the matcher does not take triple patterns"):
        engine.add(sw.parse("a = 1 or (?x, b, ?y)"), id="s")
    assert not engine.match(sw.Event.record({"a": 1}))
    assert engine.add(sw.parse("a = 1"), id="s") == "s"


def test_what_is_nested_too_deeply_is_refused(engine: sw.Engine) -> None:
    property = meaning("p")
    body = Conjunction((TriplePattern(Variable("x0"), property, Variable("x1")),))
    for number in range(205):
        edge = TriplePattern(Variable(f"x{number + 1}"), property, Variable(f"x{number + 2}"))
        body = Conjunction((edge, Not(body)))
    with pytest.raises(sw.SubscriptionError, match="the subscription is nested too deeply"):
        engine.add(Subscription((body,)), id="s")
    assert engine.statistics().clauses == 0
    assert engine.add(sw.parse("a = 1"), id="s") == "s"


def test_an_operator_may_not_have_a_functions_name() -> None:
    with pytest.raises(sw.SensewireError, match="regex is a function of constraints"):
        sw.Engine(operators={"regex": lambda event: True})


def test_a_bad_expression_is_refused_before_it_is_indexed() -> None:
    asked = Predicate(meaning("a"), Text(TextRelation.MATCHES, "("))
    with pytest.raises(sw.SubscriptionError, match=r"'\(' is no RE2 expression: missing \)"):
        Subscription((Conjunction((asked,)),))


def test_what_is_no_event_is_refused(engine: sw.Engine) -> None:
    with pytest.raises(sw.EventError, match=r"a dict is no event; make one with Event\.record"):
        engine.match({"a": 1})  # type: ignore[arg-type]  # what a newcomer might try


def test_an_unknown_matcher_is_named() -> None:
    with pytest.raises(sw.SensewireError, match="there is no matcher 'fast'; expected one of auto"):
        sw.Engine(matcher="fast")


def test_a_batch_and_a_folder(engine: sw.Engine, tmp_path: Path) -> None:
    """The rest is told by `test_batches.py` and `test_saving.py`."""
    engine.add(sw.parse("price <= 1600"), id="anna")
    batch = pa.RecordBatch.from_pydict({"price": [900, 1700, None]})
    engine.save(tmp_path / "index")
    for each in (engine, sw.Engine.open(tmp_path / "index")):
        found = each.match_batch(batch)
        assert found.matches.to_pylist() == [
            {"event": 0, "subscription": "anna", "rows": None, "distance": 0.0}
        ]


def limit(engine: sw.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for matcher in engine._dispatch.matchers:
        if hasattr(matcher, "budget"):
            monkeypatch.setattr(matcher, "budget", 1_000)


def test_a_search_without_end_is_undecided_and_the_rest_goes_on(
    engine: sw.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " and ".join(f"(?a{i}, p, ?b{i})" for i in range(8))
    all_of_them = ", ".join(f"?a{i}" for i in range(8))
    engine.add(sw.parse(f"select {all_of_them} where {text}"), id="monster")
    engine.add(sw.parse(f"select ?a0 where {text}"), id="one of each is enough")
    engine.add(sw.parse(text), id="one solution is enough")
    engine.add(sw.parse("(?a, p, ?b)"), id="small")
    limit(engine, monkeypatch)
    facts = "".join(f"<http://x.org/{i}> <http://x.org/p> {i} . " for i in range(9))
    matches = engine.match(sw.Event.rdf(facts, "ttl"))
    assert names(matches) == ["one of each is enough", "one solution is enough", "small"]
    (failure,) = matches.failures
    assert (failure.subscription, failure.reason) == (
        "monster",
        "budget exceeded: more than 1,000 steps",
    )
    assert engine.statistics().costly == {"monster": 1}


def test_one_refusal_is_enough_where_the_search_has_no_end(
    engine: sw.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(engine, monkeypatch)
    search = "(?a, ?p, ?b) and (?c, ?q, ?d) and (?e, ?r, ?f)"
    record = {f"k{i}": i for i in range(150)}
    for number, end in enumerate(["(?z, nothing, ?w)", "not k0 = 0", "k0 = 1"]):
        engine.add(sw.parse(f"select ?a where {search} and {end}"), id=str(number))
    matches = engine.match(sw.Event.record(record))
    assert not matches
    assert not matches.failures


def test_predicates_alone_are_no_search(engine: sw.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(engine, monkeypatch)
    engine.add(sw.parse("v > 2998 and v < 0.5 and v = 2999 and v = 2998 within 1"), id="s")
    assert names(engine.match(sw.Event.record({"v": list(range(3_000))}))) == ["s"]


def test_ten_thousand_atoms_are_no_matter(engine: sw.Engine) -> None:
    predicates = " and ".join(f"a{i} = {i}" for i in range(10_000))
    engine.add(sw.parse(f"{predicates} and (home, a1, 1)"), id="long")
    record = {f"a{i}": i for i in range(20)}
    assert not engine.match(sw.Event.record(record))
    engine.add(sw.parse(" and ".join(f"(home, a1, ?x{i})" for i in range(2_000))), id="deep")
    assert names(engine.match(sw.Event.record(record))) == ["deep"]


@pytest.mark.parametrize("knowledge", ["shop.yaml", None, {}])
def test_knowledge_is_loaded_first(knowledge: Any) -> None:
    with pytest.raises(sw.SensewireError, match=r"is no knowledge; load it with Knowledge\.load"):
        sw.Engine(knowledge)


@pytest.mark.parametrize("best", [0, -1, "x", 1.5])
def test_best_is_a_number(best: Any) -> None:
    with pytest.raises(sw.SensewireError, match="expected a whole number above 0"):
        sw.Engine().match(sw.Event.record({}), best=best)


def test_what_an_engine_has_seen() -> None:
    engine = sw.Engine()
    engine.add(sw.parse("price > 5 or price > 5"), id="a")
    engine.add(sw.parse("price > 5"), id="b")
    engine.match(sw.Event.record({"price": 9}))
    seen = engine.statistics()
    assert (seen.subscriptions, seen.clauses, seen.events) == (2, 1, 1)
    assert seen.ambiguous == seen.unknown == {}


# Input that is bad, or much: the right answer, or an error for that one alone


def test_values_of_unexpected_types(engine: sw.Engine) -> None:
    engine.add(sw.parse("price <= 5"), id="number")
    engine.add(sw.parse("price != 5"), id="other")
    engine.add(sw.parse("price = true"), id="truth")
    for value, expected in [
        ("5", ["other"]),
        (True, ["other", "truth"]),
        ({"deep": 5}, []),
        ([5, "x"], ["number", "other"]),
        (None, []),
        ("", ["other"]),
        (10**400, ["other"]),
        (-(10**400), ["number", "other"]),
    ]:
        assert names(engine.match(sw.Event.record({"price": value}))) == expected, value
    with pytest.raises(sw.EventError, match="'price'"):
        sw.Event.record({"price": object()})


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("bound", [math.nan, math.inf, -math.inf, 0.0, 1e308])
@pytest.mark.parametrize("tolerance", [None, 1.0])
def test_nan_and_infinities_on_both_sides(
    relation: Relation, bound: float, tolerance: float | None
) -> None:
    conditions: list[Condition] = [
        Order(relation, term_of(bound)),
        Different(meaning(term_of(bound))),
    ]
    conditions.append(Equal(meaning(term_of(bound))))
    conditions += [Between(term_of(low), term_of(bound)) for low in (math.nan, -math.inf, 1.0)]
    engines = [sw.Engine(matcher=matcher) for matcher in ("auto", "oracle")]
    for number, condition in enumerate(conditions):
        asked = Conjunction((Predicate(meaning("a"), condition),))
        for engine in engines:
            engine.add(Subscription((asked,), tolerance=tolerance), id=str(number))
    values: list[Any] = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5, 1e308, -1e308, 10**400, "INF"]
    mine, oracle = (
        [[(m.subscription, m.distance) for m in e.match(sw.Event.record({"a": v}))] for v in values]
        for e in engines
    )
    assert mine == oracle
    batch = pa.RecordBatch.from_pydict({"a": [float(value) for value in values[:8]]})
    found = engines[0].match_batch(batch).matches.to_pylist()
    assert [
        [(each["subscription"], each["distance"]) for each in found if each["event"] == row]
        for row in range(8)
    ] == oracle[:8]


def test_ten_thousand_values_of_one_attribute(engine: sw.Engine) -> None:
    for text in ("v = 9999", "v = 10000", "not v = 7", "v > 9998 and v < 1", "v = ?x and w = ?x"):
        engine.add(sw.parse(text), id=text)
    record = {"v": list(range(10_000)), "w": 9_999}
    assert names(engine.match(sw.Event.record(record))) == [
        "v = 9999",
        "v = ?x and w = ?x",
        "v > 9998 and v < 1",
    ]


@pytest.mark.parametrize("asked", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_a_hundred_thousand_attributes(engine: sw.Engine, asked: int) -> None:
    """In an event, most of which nobody asks for; in subscriptions too, where there is time."""
    atoms = [Predicate(meaning(f"a{number}"), Exists()) for number in range(asked)]
    for number in range(0, asked, 10):
        several = tuple(atoms[number : number + 10])
        engine.add(Subscription((Conjunction(several),)), id=str(number))
    record = {f"a{number}": number for number in range(100_000)}
    del record["a1995"]
    found = names(engine.match(sw.Event.record(record)))
    assert len(found) == asked // 10 - 1
    assert "1990" not in found


def test_one_bad_subscription_leaves_the_others_alone(engine: sw.Engine) -> None:
    engine.add(sw.parse("a = 1"), id="good")
    for bad, id in ((sw.parse("far(1)"), "far"), (sw.parse("a = 2"), "good"), ("a = 1", "text")):
        with pytest.raises(sw.SubscriptionError):
            engine.add(bad, id=id)  # type: ignore[arg-type]  # one is no subscription
    assert names(engine.match(sw.Event.record({"a": [1, 2]}))) == ["good"]
    assert engine.statistics().clauses == 1
