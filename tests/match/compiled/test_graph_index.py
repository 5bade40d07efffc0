"""The compiled matcher of patterns: equal to the oracle on graphs where most patterns match."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import sensewire as sw
from sensewire.engine import Engine
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.files import listing, slices
from sensewire.events.portions import EventPortion, portions
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.unparse import unparse
from sensewire.match.compiled import graph_index
from sensewire.model import datatypes
from sensewire.model.conditions import Constant, Equal, Variable
from sensewire.model.event import Event
from sensewire.model.expressions import Test
from sensewire.model.subscription import Atom, Conjunction, Subscription, TriplePattern
from sensewire.model.terms import (
    Kind,
    iri,
    language_string,
    literal,
    quantity,
    string,
    term_of,
    untyped,
)
from sensewire.testing.agreement import agree
from sensewire.testing.graphs import dense_graphs, wide_graphs
from sensewire.testing.knowledge import function_of_one, knowledge
from sensewire.testing.patterns import Case, alike, cases, fitting
from sensewire.testing.subscriptions import vocabulary
from tests.answers import OPERATORS, engine_of, is_added, told
from tests.match.compiled.graph_cases import X, graph, tables_of, told_of, wide
from tests.match.test_layered import limited, of

PROPERTIES = ["p", "q", "r"]
KILOMETRE = quantity("1 km")
assert KILOMETRE is not None
TERMS = [
    *map(iri, (f"{X}red", "http://one.org/red", f"{X}Thing", "http://one.org/green")),
    *map(string, ("red", "green", "Thing")),
    *map(term_of, (1, 2, 1.5, 2**53 + 1, True, float("nan"))),
    untyped("red"),
    untyped("1"),
    untyped("2024-03-01"),
    literal("2024-03-01", datatypes.DATE),
    literal("1", datatypes.DECIMAL),
    literal(str(2**53), datatypes.INTEGER),
    literal("0.1", datatypes.FLOAT),
    literal("2024-03-01T00:00:00.1Z", datatypes.DATE_TIME),
    language_string("red", "en"),
    KILOMETRE,
]
OF_RDF = [term for term in TERMS if term.kind is not Kind.STRING]
WORDS = vocabulary(attributes=PROPERTIES, terms=TERMS)
NAMES = ["red", "green", "Thing", "one word", "crimson"]
FUNCTIONS = [
    function_of_one("paint", "p", "q", "p > 1 ? 'red' : 'green'"),
    function_of_one("ratio", "p", "r", "1 / (p - p)"),
    function_of_one("dye", "q", "p", "q == 'red' ? 2 : null"),
]
narrow = cases(PROPERTIES, TERMS, WORDS)
mixed = cases(
    PROPERTIES,
    TERMS,
    WORDS,
    graphs=wide_graphs(PROPERTIES, TERMS, 70) | dense_graphs(PROPERTIES, TERMS),
    patterns=2,
)
of_nots = cases(PROPERTIES, TERMS, WORDS, patterns=3, nots=1)
of_one_edge = cases(PROPERTIES, TERMS, WORDS, patterns=1)
any_graph = dense_graphs(PROPERTIES, TERMS)
any_knowledge = knowledge(NAMES, PROPERTIES, FUNCTIONS)


# The oracle


@given(narrow)
def test_patterns_equal_the_oracle(case: Case) -> None:
    agree("auto", *case, operators=OPERATORS)


@given(narrow, any_knowledge)
def test_patterns_equal_the_oracle_with_knowledge(case: Case, known: Knowledge) -> None:
    agree("auto", *case, knowledge=known, operators=OPERATORS)


@given(mixed)
def test_events_of_many_vertices_equal_the_oracle(case: Case) -> None:
    """Large and small ones by turns."""
    agree("auto", *case, operators=OPERATORS)


@given(mixed, any_knowledge)
def test_events_of_many_vertices_equal_the_oracle_with_knowledge(
    case: Case, known: Knowledge
) -> None:
    agree("auto", *case, knowledge=known, operators=OPERATORS)


@given(of_nots, any_knowledge | st.just(Knowledge()))
def test_nots_equal_the_oracle(case: Case, known: Knowledge) -> None:
    agree("auto", *case, knowledge=known, operators=OPERATORS)


of_tries = given(
    alike("p"),
    st.lists(dense_graphs(["p", "q"], [*TERMS, *TERMS[:4]], 6), min_size=2, max_size=3),
)


@of_tries
def test_patterns_that_begin_alike_equal_the_oracle(
    asked: list[Subscription], sent: list[Event]
) -> None:
    agree("auto", asked, [*sent, wide(sent[0])])


@pytest.mark.long
@settings(max_examples=4_000, deadline=None)
@given(narrow, any_knowledge | st.just(Knowledge()))
def test_many_more_patterns(case: Case, known: Knowledge) -> None:
    agree("auto", *case, knowledge=known, operators=OPERATORS)


@pytest.mark.long
@settings(max_examples=10_000, deadline=None)
@given(of_nots, any_knowledge | st.just(Knowledge()))
def test_many_more_nots(case: Case, known: Knowledge) -> None:
    agree("auto", *case, knowledge=known, operators=OPERATORS)


@pytest.mark.long
@settings(max_examples=500, deadline=None)
@given(mixed, any_knowledge | st.just(Knowledge()))
def test_many_more_events_of_many_vertices(case: Case, known: Knowledge) -> None:
    agree("auto", *case, knowledge=known, operators=OPERATORS)


@pytest.mark.long
@settings(max_examples=1_000, deadline=None)
@of_tries
def test_many_more_patterns_that_begin_alike(asked: list[Subscription], sent: list[Event]) -> None:
    agree("auto", asked, sent)


def test_most_patterns_match() -> None:
    """Else the laws above would say little."""
    asked = matched = 0

    @settings(max_examples=100, derandomize=True, database=None)
    @given(narrow)
    def count(case: Case) -> None:
        nonlocal asked, matched
        engine = engine_of(Knowledge(), case.asked)
        asked += len(case.asked) * len(case.sent)
        matched += sum(len(engine.match(event)) for event in case.sent)

    count()
    assert matched > asked / 4


def test_patterns_that_begin_alike_share_tries() -> None:
    engine = Engine()
    for number in range(40):
        engine.add(sw.parse(f"(?a, p, ?b) and (?b, p, ?c) and ?c > {number}"))
    engine.match(graph("a p b"))
    assert len(tables_of(engine)["in_trie"]) == 40


def test_a_trie_that_is_found_whole() -> None:
    """By the first of several facts; and one whose patterns have nothing left to do."""
    for flag in ("", "injective"):
        engine, oracle = Engine(), Engine(matcher="oracle")
        for number in range(40):
            for text in (
                f"(?a, p, ?b) and (?b, p, ?c) and ?c < {number + 100} {flag}",
                f"(?a, q, ?b) and ?b + {number} > 45 {flag}",
            ):
                engine.add(sw.parse(text), id=text)
                oracle.add(sw.parse(text), id=text)
        event = graph("a p b", "b p 1", "a p c", "c p 2", "a q 9", "b q 8", "b q 9")
        for each in (event, wide(event), event):
            assert told(engine, each) == told(oracle, each)
            assert len(engine.match(each)) == 43


def test_a_trie_whose_patterns_are_found_one_after_another() -> None:
    """Each by another vertex, or by another fact; also those that end where others go on."""
    for flag in ("", "injective"):
        engine = Engine()
        for number in range(40):
            text = f"(?a, p, ?b) and (?b, p, ?c) and ?c suffix '<{number}>' {flag}"
            engine.add(sw.parse(text), id=str(number))
        engine.add(sw.parse(f"(?a, p, ?b) and (?b, p, ?c) {flag}"), id="all")
        by_vertex = graph("a p b", *(f'b p "<{number}>"' for number in range(40)))
        assert len(engine.match(by_vertex)) == 41
        for first in (0, 20):
            numbers = range(first, first + 20)
            lines = [line for n in numbers for line in (f"a{n} p b{n}", f'b{n} p "<{n}>"')]
            event = graph(*lines)
            for each in (event, wide(event)):
                found = {match.subscription for match in engine.match(each)}
                assert found == {"all", *map(str, numbers)}


# One by one, and in a batch


@given(narrow | mixed, any_knowledge | st.just(Knowledge()))
def test_a_batch_is_its_events_one_by_one(case: Case, known: Knowledge) -> None:
    engine = engine_of(known, case.asked)
    sent = [*case.sent, *reversed(case.sent), case.sent[0]]
    alone = [told(engine, event) for event in sent]
    assert told_of(engine.match_events(sent), len(sent)) == alone


@given(
    cases(
        PROPERTIES,
        OF_RDF,
        graphs=dense_graphs(PROPERTIES, OF_RDF) | wide_graphs(PROPERTIES, OF_RDF, 70),
        patterns=2,
    ),
    any_knowledge | st.just(Knowledge()),
)
def test_quads_as_columns_are_events_one_by_one(case: Case, known: Knowledge) -> None:
    """Without the facts that nobody asks for."""
    engine = engine_of(known, case.asked)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "events.nq"
        path.write_text("".join(map(_quads, range(len(case.sent)), case.sent)))
        files = listing([path]).files
        parts = [part for file in files for part in slices(file, 10**9)]
        decoding = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))
        whole = [each.event for part in portions(parts, decoding) for each in _events(part)]
        for found in portions(parts, decoding, wanted=engine):
            assert isinstance(found, EventPortion)
            assert found.graphs is not None
            lines = told_of(engine.match_graphs(found.graphs), len(found))
            assert lines == [told(engine, event) for event in whole]


def _events(portion: object) -> Iterable[Decoded]:
    assert isinstance(portion, EventPortion)
    return portion.decoded


def _quads(number: int, event: Event) -> str:
    lines = []
    for subject, property, value in event.facts:
        named = property if property.kind is Kind.IRI else iri(X + property.text)
        lines.append(f"{subject} {named} {value} <{X}g{number}> .\n")
    return "".join(lines)


@given(narrow, st.permutations(range(5)))
def test_the_order_of_subscriptions_makes_no_difference(case: Case, order: list[int]) -> None:
    engine = engine_of(Knowledge(), case.asked)
    other = Engine(operators=OPERATORS)
    for number in order:
        if number < len(case.asked):
            is_added(other, case.asked[number], f"s{number}")
    for event in case.sent:
        assert told(other, event) == told(engine, event)


# Live


names = st.sampled_from([f"s{number}" for number in range(8)])


class Living(RuleBasedStateMachine):
    """Patterns that come and go between matches, merges, saves and opens; with an oracle beside."""

    @initialize(
        known=any_knowledge | st.just(Knowledge()),
        small=st.integers(0, 6),
        growth=st.integers(1, 4),
        most=st.integers(1, 3),
    )
    def begin(self, known: Knowledge, small: int, growth: int, most: int) -> None:
        self.patch = pytest.MonkeyPatch()
        limited(self.patch, small=small, growth=growth, most=most)
        self.folder = TemporaryDirectory()
        self.engine = Engine(known, operators=OPERATORS)
        self.model = Engine(known, matcher="oracle", operators=OPERATORS)

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.undo()
            self.folder.cleanup()

    @rule(name=names, event=any_graph, data=st.data(), strict=st.sampled_from((False, False, True)))
    def add(self, name: str, event: Event, data: st.DataObject, strict: bool) -> None:
        subscription = data.draw(fitting(event, WORDS, strict=strict, most=3))
        if name not in self.model.ids():
            added = is_added(self.model, subscription, name)
            assert is_added(self.engine, subscription, name) == added
        assert told(self.engine, event) == told(self.model, event)

    @rule(name=names)
    def remove(self, name: str) -> None:
        if name in self.model.ids():
            self.engine.remove(name)
            self.model.remove(name)

    @rule(sent=st.lists(any_graph, min_size=1, max_size=3))
    def match(self, sent: list[Event]) -> None:
        alone = [told(self.model, event) for event in sent]
        assert [told(self.engine, event) for event in sent] == alone
        assert told_of(self.engine.match_events(sent), len(sent)) == alone

    @rule()
    def settle(self) -> None:
        of(self.engine).settle()

    @rule()
    def save_and_open(self) -> None:
        self.engine.save(self.folder.name)
        self.engine = Engine.open(self.folder.name, operators=OPERATORS)


TestLiving = Living.TestCase
TestLiving.settings = settings(stateful_step_count=10)


@given(narrow, st.data())
def test_patterns_equal_up_to_names_and_order_are_indexed_once(
    case: Case, data: st.DataObject
) -> None:
    engine = engine_of(Knowledge(), case.asked)
    before = engine.statistics().clauses
    for number, each in enumerate(case.asked):
        is_added(engine, data.draw(renamed(each)), f"again{number}")
    assert engine.statistics().clauses == before


@st.composite
def renamed(draw: st.DrawFn, subscription: Subscription) -> Subscription:
    """The same in another order, by other names."""
    names = [f"n{number}" for number in draw(st.permutations(range(20)))]
    known: dict[str, str] = {}
    text = re.sub(
        r"\?(v\d+|[pqxyz]2?)\b",
        lambda found: "?" + known.setdefault(found[1], names[len(known)]),
        unparse(subscription),
    )
    made = sw.parse(text)
    conjunctions = tuple(
        Conjunction(tuple(draw(st.permutations(each.atoms))), each.constraints)
        for each in made.conjunctions
    )
    return replace(made, conjunctions=conjunctions)


# What comes after what


OF_ONE_KEY = [
    (
        ("(?x, p, ?y) and ?x = b", "(b, p, ?x) and (e, p, ?x)"),
        ("b p e, e p b", "b p c, e p c", "b p c, e p d, e p b"),
    ),
    (
        ("(b, p, ?x) and (?x, q, ?y)", "(?x, p, ?y) and ?x = b and (?y, q, ?z) and (?x, q, ?z)"),
        ("b p c, c q e, b q e", "b p c, c q c", "b p c, b q e"),
    ),
    (
        ("(?x, p, b) and (?x, q, c)", "(?x, p, ?y) and ?y = b and (?x, q, ?z) and (?y, q, ?z)"),
        ("a p b, a q c", "a p b, a q c, b q c", "a p b, b q c, a q d"),
    ),
    (
        ("(b, p, c) and (d, q, ?x)", "(?x, p, ?y) and ?x = b and ?y = c and (?y, q, ?x)"),
        ("b p c, d q e", "b p c, c q b", "b p c, d q b, c q b"),
    ),
    (
        ("(home, p, ?y) and ?y > 1", "(?x, p, ?y) and ?x is a C", "p > 1"),
        ("a p 5, a a C", "a p 1, a a C", "a p 5"),
    ),
    (("(?x, p, ?y) and ?x = b", "(b, p, ?y) and not (?y, q, ?z)"), ("b p c, c q d", "b p c")),
]


@pytest.mark.parametrize(("texts", "lines"), OF_ONE_KEY)
def test_a_constant_here_is_a_variable_there(texts: Sequence[str], lines: Sequence[str]) -> None:
    """One key leads to patterns whose triggers bind other ends."""
    for order in (texts, texts[::-1]):
        subscriptions = [sw.parse(text) for text in order]
        events = [graph(*each.split(", "), home=each[0]) for each in lines]
        agree("auto", subscriptions, [each for event in events for each in (event, wide(event))])


@pytest.mark.parametrize("flag", ["", " injective"])
def test_a_trie_where_a_constant_here_is_a_variable_there(flag: str) -> None:
    texts = []
    for number in range(40):
        texts.append(f"(b, p, ?x) and (?x, q, ?y) and ?y >= {number}{flag}")
        texts.append(f"(?x, p, ?y) and ?x = b and (?y, q, ?z) and ?z >= {number}{flag}")
        texts.append(f"(?x, p, ?y) and ?x = b and (?x, q, ?z) and ?z >= {number}{flag}")
    event = graph("b p c", "c q 20", "b q 10", "c p b")
    agree("auto", [sw.parse(text) for text in texts], [event, wide(event)])
    agree("auto", [sw.parse(text) for text in texts[::-1]], [event, wide(event)])


@given(of_one_edge, st.data())
def test_constants_spelled_as_variables_equal_the_oracle(case: Case, data: st.DataObject) -> None:
    """Patterns of one edge have no other to be found by."""
    asked = [each for one in case.asked for each in (one, data.draw(with_variables(one)))]
    agree("auto", asked, case.sent, operators=OPERATORS)


@st.composite
def with_variables(draw: st.DrawFn, subscription: Subscription) -> Subscription:
    """The same with variables in the place of some constants, which must be equal to them."""
    made = []
    for conjunction in subscription.conjunctions:
        atoms, limits = list[Atom](), list(conjunction.constraints)
        for atom in conjunction.atoms:
            if isinstance(atom, TriplePattern):
                ends = []
                for end in (atom.subject, atom.object):
                    if isinstance(end, Constant) and draw(st.sampled_from((True, True, False))):
                        limits.append(Test(Variable(f"v{50 + len(limits)}"), Equal(end)))
                        end = Variable(f"v{49 + len(limits)}")
                    ends.append(end)
                atom = TriplePattern(ends[0], atom.property, ends[1])
            atoms.append(atom)
        made.append(Conjunction(tuple(atoms), tuple(limits)))
    return replace(subscription, conjunctions=tuple(made))


def test_an_event_after_a_large_one() -> None:
    """What was found of the one is not taken for found of the other."""
    engine = Engine()
    engine.add(sw.parse("(?x, p, ?y)"), id="it")
    small = graph("a p b")
    for sent in ([small, wide(small)], [wide(small), small], [wide(small), wide(small), small]):
        for event in sent:
            assert len(engine.match(event)) == 1
        assert len(engine.match_events(sent).matches) == len(sent)


def test_equal_patterns_of_strict_and_other_subscriptions_are_two() -> None:
    texts = {"strict": "strict", "plain": ""}
    for order in (["strict", "plain"], ["plain", "strict"]):
        engine = Engine()
        for id in order:
            engine.add(sw.parse(f"(?x, exactly <{X}p>, exactly 1) {texts[id]}"), id=id)
        assert engine.statistics().clauses == 2
        assert [match.subscription for match in engine.match(graph("a p 1.0"))] == ["plain"]


def test_stamps_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """When they have been used up, nothing of before is taken for what is now."""
    monkeypatch.setattr(graph_index, "_LAST_STAMP", 6)
    engine = Engine()
    for number in range(40):
        engine.add(sw.parse(f"(?x, p, ?y) and (?y, p, ?z) and ?z >= {number}"), id=str(number))
    for number in range(30):
        event = graph(*(["a p b", f"b p {number}"] if number % 3 else ["a q b"]))
        event = wide(event) if number % 4 == 0 else event
        assert len(engine.match(event)) == (number + 1 if number % 3 else 0)


def test_more_matches_than_there_is_room_for() -> None:
    engine = Engine()
    for number in range(150):
        engine.add(sw.parse(f"(?x, p, ?y) and ?y >= {number}"), id=str(number))
    sent = [graph(f"a p {number % 160}") for number in range(300)]
    found = engine.match_events(sent).matches.column("event").to_pylist()
    expected = [min(number % 160 + 1, 150) for number in range(300)]
    assert [found.count(number) for number in range(300)] == expected


def test_terms_are_looked_up_anew_when_something_new_is_asked_for() -> None:
    engine = Engine()
    event = graph("a p 1", "a q b")
    for text in ("(a, p, ?x)", "(?x, p, ?y) and ?y > 0", "(?x, q, b)", "(?x, ?p, b)", "(a, r, b)"):
        engine.add(sw.parse(text), id=text)
        assert [match.subscription for match in engine.match(event)][-1:] or text == "(a, r, b)"
        assert (text in [match.subscription for match in engine.match(event)]) is (
            text != "(a, r, b)"
        )
