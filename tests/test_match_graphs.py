"""Events of N-Quads as columns get the answers that they get as events, together or one by one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.files import Slice, held_slice
from sensewire.events.graphs import Graphs
from sensewire.events.kinds import Kind
from sensewire.events.portions import EventPortion, portions
from sensewire.knowledge.content import Draft, Place
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.event import Event
from sensewire.model.subscription import Subscription
from sensewire.model.terms import RDF_TYPE, iri
from sensewire.testing.knowledge import function_of_one
from sensewire.testing.subscriptions import subscriptions, vocabulary
from tests.answers import (
    ATTRIBUTES,
    TERMS,
    any_knowledge,
    engine_of,
    is_added,
    told,
    told_of_rows,
)
from tests.test_routing import Cluster, calls_operators

DECODING = Decoding(datetime(2024, 3, 1, tzinfo=UTC), time_field="seen")
VERTICES = ["<http://x.org/a>", "<http://x.org/b>", "_:n", "_:m", "_:H"]
PROPERTIES = [f"<http://x.org/{name}>" for name in (*ATTRIBUTES, "tags", "seen")]
VALUES = [*VERTICES, '"2024-03-01"', *map(str, TERMS[:9]), "<http://one.org/red>", '"one:red"']
WORDS = vocabulary(
    attributes=[*ATTRIBUTES, "tags", "http://x.org/price"],
    terms=[*TERMS, iri("http://x.org/a"), iri("http://x.org/b")],
)

_places = st.integers(0, 255)  # one draw for each part of a line: small examples stay small
_lines = st.lists(st.tuples(_places, _places, _places, st.integers(0, 3)), min_size=1, max_size=24)


@st.composite
def quads(draw: DrawFn) -> bytes:
    """Lines of a few graphs: dense, with classes, blank nodes and named graphs of all kinds."""
    names = ["<urn:e{}>", "_:g{}", "<http://x.org/a>", "_:H", "<urn:\\u0061{}>"]
    graph, number = "", 0
    texts: list[str] = []
    for subject, property, value, then in draw(_lines):
        if then == 0 or not graph:
            graph, number = names[subject % len(names)].format(number), number + 1
        edge = f"<{RDF_TYPE.text}>" if property % 5 == 0 else PROPERTIES[property % len(PROPERTIES)]
        end = VALUES[value % len(VALUES)]
        texts.append(f"{VERTICES[subject % len(VERTICES)]} {edge} {end} {graph} .")
    return "\n".join(texts).encode()


asked_for: SearchStrategy[list[Subscription]] = st.lists(subscriptions(WORDS), max_size=6)


def part_of(data: bytes) -> Slice:
    return held_slice(data, Kind.NQUADS, "e.nq")


def columns_in(data: bytes, engine: Engine | None = None) -> list[Graphs]:
    found = portions([part_of(data)], DECODING, wanted=engine)
    columns = [each.graphs for each in found if isinstance(each, EventPortion)]
    return [graphs for graphs in columns if graphs is not None]


def events_in(data: bytes, engine: Engine | None = None) -> list[Event]:
    kept = None if engine is None else engine.wants_property
    found = decode(part_of(data), DECODING, kept=kept)
    return [each.event for each in found if isinstance(each, Decoded)]


def told_of_columns(engine: Engine, graphs: Sequence[Graphs]) -> list[list[str]]:
    said = [told_of_rows(engine.match_graphs(each), len(each)) for each in graphs]
    return [lines for some in said for lines in some]


@given(known=any_knowledge, asked=asked_for, data=quads(), all_facts=st.booleans())
def test_columns_are_answered_as_events(
    known: Knowledge, asked: list[Subscription], data: bytes, all_facts: bool
) -> None:
    by_columns, together, one_by_one = (engine_of(known, asked) for _ in range(3))
    graphs = columns_in(data, None if all_facts else by_columns)
    events = events_in(data, None if all_facts else by_columns)
    assert sum(map(len, graphs)) == len(events)
    said = told_of_columns(by_columns, graphs)
    ids = [each for some in graphs for each in some.ids().to_pylist()]
    assert ids == [event.id for event in events]
    assert said == told_of_rows(together.match_events(events), len(events))
    assert said == [told(one_by_one, event) for event in events]
    assert by_columns.statistics() == together.statistics()


@given(known=any_knowledge, asked=asked_for, data=quads())
def test_facts_that_nobody_asks_for_change_no_answer(
    known: Knowledge, asked: list[Subscription], data: bytes
) -> None:
    engine = engine_of(known, asked)
    assert told_of_columns(engine, columns_in(data, engine)) == told_of_columns(
        engine, columns_in(data)
    )


@given(known=any_knowledge, asked=asked_for, data=quads(), more=asked_for)
def test_subscriptions_that_come_and_go_meanwhile(
    known: Knowledge, asked: list[Subscription], data: bytes, more: list[Subscription]
) -> None:
    """What is known of the terms of one portion is no longer true of the next."""
    engine, other = engine_of(known, asked), engine_of(known, [])
    graphs, events = columns_in(data), events_in(data)
    told_of_columns(engine, graphs)
    for number in range(len(asked)):
        if f"s{number}" in engine.ids():
            engine.remove(f"s{number}")
    for number, each in enumerate(more):
        if is_added(engine, each, f"t{number}"):
            other.add(each, id=f"t{number}")
    assert told_of_columns(engine, graphs) == [told(other, event) for event in events]


def test_matches_rows_failures_and_distances_with_places_and_ids() -> None:
    texts = ["(?x, price, ?y) and ?y > 1", "select ?x where (?x, type, red)", "colour = red"]
    asked = [*map(parse, texts), parse("price <= 4 within 1"), parse("(home, tags, ?x) and seen()")]
    data = b"""\
<http://x.org/a> <http://x.org/price> "5"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:e1> .
_:n <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "red" <urn:e2> .
_:H <http://x.org/colour> "red" _:g .
_:H <http://x.org/tags> "red" _:g .
"""
    engine = engine_of(Knowledge(), asked)
    (graphs,) = columns_in(data)
    assert told_of_columns(engine, [graphs]) == [
        ["s0 at 0: -", "s3 at 0.25: -"],
        ["s1 at 0: ?x _:n"],
        ["s2 at 0: -", "s4 failed: operator seen failed: RuntimeError: too little to see"],
    ]
    assert [graphs.place(row) for row in range(3)] == ["e.nq:1", "e.nq:2", "e.nq:3"]
    found = engine.match_graphs(graphs, encoded=True)
    assert found.ids is not None
    assert found.ids.to_pylist() == ["urn:e1", "urn:e2", "e.nq:3"]


def test_words_of_several_meanings_are_counted_as_in_events(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("hierarchy: {jaguar: cat}\n")
    (tmp_path / "two.yaml").write_text("hierarchy: {jaguar: car}\n")
    known = Knowledge.load(tmp_path / "one.yaml", tmp_path / "two.yaml")
    asked = [parse("(?x, <http://x.org/sees>, ?y) and (?y, <http://x.org/eats>, fish)")]
    data = b"".join(
        b'<http://x.org/%d> <http://x.org/%s> "jaguar" <urn:e%d> .\n' % (one, verb, event)
        for event in range(3)
        for one in range(2)
        for verb in (b"sees", b"hears")
    )
    by_columns, by_events = engine_of(known, asked), engine_of(known, asked)
    told_of_columns(by_columns, columns_in(data, by_columns))
    by_events.match_events(events_in(data, by_events))
    assert by_columns.statistics().ambiguous == {"jaguar": 6}  # what nobody asks for is not read
    assert by_columns.statistics() == by_events.statistics()


def test_functions_add_to_columns_what_they_add_to_events() -> None:
    draft = Draft()
    draft.mapping(function_of_one("double", "price", "twice", "price * 2"), Place("here"))
    draft.mapping(function_of_one("endless", "size", "size", "size + 1"), Place("here"))
    engine = Engine(Knowledge(draft.content()))
    engine.add(parse("select ?n where (?x, twice, ?n)"), id="s")
    data = b"".join(
        b'<http://x.org/a> <http://x.org/%s> "4"^^<http://www.w3.org/2001/XMLSchema#integer>'
        b" <urn:%s> .\n" % (name, name)
        for name in (b"price", b"size", b"weight")
    )
    (graphs,) = columns_in(data, engine)
    doubled, endless, nothing = told_of_columns(engine, [graphs])
    assert doubled == ['s at 0: ?n "8"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert endless[0].startswith("rejected: ")
    assert nothing == []


@given(known=any_knowledge, asked=asked_for, data=quads(), shards=st.integers(1, 3))
def test_shards_together_say_of_columns_what_one_engine_says(
    known: Knowledge, asked: list[Subscription], data: bytes, shards: int
) -> None:
    cluster = Cluster(known, asked, shards)
    routed = columns_in(data, cluster.router.engine)
    lines: list[list[str]] = [[] for each in routed for _ in range(len(each))]
    before = 0
    for number, graphs in enumerate(routed):
        found = cluster.router.engine.match_graphs(graphs, encoded=True)
        for rejected in found.rejected.to_pylist():
            lines[before + rejected["event"]].append(f"rejected: {rejected['reason']}")
        routes = cluster.router.routes(found, len(graphs))
        for shard, rows in zip(cluster.shards, routes, strict=True):
            some = columns_in(data, shard)[number].at(rows)
            answers = told_of_rows(shard.match_graphs(some), len(rows))
            for row, said in zip(rows.tolist(), answers, strict=True):
                lines[before + row] += said
        before += len(graphs)
    expected = told_of_columns(cluster.whole, columns_in(data, cluster.whole))
    assert [sorted(each) for each in lines] == expected
    if not any(
        map(calls_operators, asked)
    ):  # which are asked about by the oracle, and of all facts
        assert cluster.router.engine.statistics().ambiguous == cluster.whole.statistics().ambiguous
