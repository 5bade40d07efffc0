"""What an engine does, each kind of thing once and small: whoever tells the story has every kernel.

numba compiles a kernel for each combination of types that it is called with, or loads what it
compiled before from its cache; so kernels are had by calling them as an engine does, and no list
of them is kept anywhere. `sensewire warm` fills the cache in this way, and the daemon that Spark's
workers are forked from loads it.

Invariant: no thread is started, so that a process which told the story can be forked.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any


class NotCompiledError(Exception):
    """A kernel that is not in the cache was called where nothing is to be compiled."""


def load_kernels() -> bool:
    """Load every kernel that the cache has, and compile none; whether the cache had them all."""
    complete = True
    with _compiling_refused():
        for chapter in STORY:
            try:
                chapter()
            except Exception:  # numba may wrap ours: of what follows in the chapter we know nothing
                complete = False
    return complete


@contextmanager
def _compiling_refused() -> Iterator[None]:
    from numba.core import event

    class Refusing(event.Listener):
        def on_start(self, event: Any) -> None:
            raise NotCompiledError(str(event.data["dispatcher"]))

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Refusing()):
        yield


def match_events() -> None:
    """Subscriptions of every kind, and one event after the other."""
    from sensewire.engine import Engine
    from sensewire.language.parse import parse
    from sensewire.model.event import Event

    engine = Engine()
    for text in (
        "product = laptop and price <= 1600",
        "brand in (IBM, Dell) and not refurbished = true",
        "price between 3 and 7 or price > 9.5",
        'name prefix "Z" and seen > 2024-03-01 and colour exists',
        "sports and not politics",
        "price <= 900 within 1.5",
        "(?page, project, ?what) and (?what, year, ?year) and ?year > 2003",
        "everything",
    ):
        engine.add(parse(text))
    values = {"product": "laptop", "price": 5, "size": 1.5, "tags": ["sports"], "seen": None}
    for _ in range(2):  # what was just added, and what was removed meanwhile
        engine.match(Event.record(values))
        engine.match(Event.rdf("<urn:a> <urn:project> <urn:b> .", format="nt"))
        engine.remove(engine.add(parse("price = 5")))


def match_batches() -> None:
    """Batches of lines and of columns, by an engine and by one that was saved."""
    import pyarrow as pa

    from sensewire.batches import Reading
    from sensewire.engine import Engine
    from sensewire.events.decoding import Decoding
    from sensewire.language.parse import parse

    engine = Engine()
    texts = (
        "product = laptop and price <= 1600",
        'name prefix "Z"',
        "colour exists",
        "not size > 5",
    )
    for number in range(60):
        engine.add(parse(f"{texts[number % 4]} and price > {number}"))
        engine.add(parse(f"product = laptop{number} and price between {number} and 90"))
    rows = [
        {"product": "laptop3", "price": 50, "name": "Zürich", "size": [1.5, 7], "new": True},
        {"product": "phone", "price": 7.25, "colour": "red"},
    ]
    columns = pa.RecordBatch.from_pylist(rows * 40)
    lines = pa.RecordBatch.from_pydict(
        {
            "json": [
                b'{"id": 7, "product": "laptop3", "price": 50, "o": {"a": [1, null]}}',
                b'{"price": 2.5e1}',
            ]
            * 40
        }
    )
    reading = Reading(Decoding(datetime.now(UTC)), with_ids=True, encoded=True)
    with tempfile.TemporaryDirectory(prefix="sensewire-warm-") as place:
        engine.save(place)
        for each in (engine, Engine.open(place)):
            each.match_batch(lines)
            each.match_batch(lines, reading)
            each.match_batch(columns)
            each.match_batch(columns, reading)
            each.match_batch(lines.slice(1, 1))
            each.add(parse("product = phone and price < 9"))
            each.match_batch(columns)


def look_up_strings() -> None:
    """Strings found by their hash, in memory and in a folder."""
    from sensewire.model.folder import open_folder
    from sensewire.model.folder_writing import write_folder
    from sensewire.model.lookup import Lookup
    from sensewire.model.strings import Strings

    built = Lookup.of(Strings.of(["fox", "hen"]))
    with tempfile.TemporaryDirectory(prefix="sensewire-warm-") as place:
        column: dict[str, Any] = {"offsets": built.strings.offsets, "utf8": built.strings.utf8}
        write_folder(place, {**column, "slots": built.slots}, {}, format_version=1, kind="warm")
        mapped = open_folder(place, kind="warm", newest_version=1).arrays
        strings = Strings(mapped["offsets"], mapped["utf8"])
        for lookup in (built, Lookup(strings, mapped["slots"])):
            lookup.find("fox")


def hash_ids() -> None:
    """Ids of events as a stream's ledger keeps them: from Arrow's memory, which is read-only."""
    import numpy as np

    from sensewire.model.siphash import hashes_of

    places = np.frombuffer(np.zeros(2, np.int64).tobytes(), np.int64)
    hashes_of(np.frombuffer(b"fox", np.uint8), places[:-1], places[1:], bytes(16))


def match_ranks() -> None:
    """The index itself, with entries of every kind."""
    import numpy as np

    from sensewire.match.compiled.conjunctions import Conjunctions, Entries, Tests
    from sensewire.match.compiled.index import Index, build
    from sensewire.match.compiled_counting import CompiledCounting

    ones, both = np.ones(2, np.int32), np.arange(2, dtype=np.int32)
    tests = Tests(both, both == 1, np.arange(3), ones * 2, ones * 5)
    conjunctions = Conjunctions(ones * 7, tests, np.arange(3), both)
    many = np.arange(1_000, dtype=np.int32)
    plain = Entries(np.arange(1_001), many % 2, many % 7 + 1)
    one = Entries(np.arange(2), both[:1], ones[:1])
    odd = Entries(np.array([0, 2]), both * 0, both + 1)  # two ranks on one slot
    built = build(conjunctions, plain)
    for index in (built, Index.from_arrays(built.arrays()), CompiledCounting.build(conjunctions)):
        for entries in (one, plain, odd):
            index.match(entries)


def merge_graphs() -> None:
    """The baseline of graph patterns: with rows, and without."""
    import numpy as np

    from sensewire.match.merged_graph import MergedGraph, Triples

    subject, object = np.array([5, 6, -1], np.int32), np.array([6, -1, 6], np.int32)
    property, offsets = np.array([1, 2, 2], np.int32), np.array([0, 2, 3])
    graph = MergedGraph.build(offsets, subject, property, object)
    graph.match_many(offsets, abs(object), property, abs(subject))
    triples = Triples(offsets, abs(subject), property, abs(object), subject, object)
    graph.rows(triples, np.ones(2, np.bool_), 1_000)


def read_graphs() -> None:
    """Lines of N-Quads to events in columns: escaped, odd, bad, and more than there is room for."""
    from sensewire.events.decoding import Decoding
    from sensewire.events.nquads_runs import Lines
    from sensewire.events.nquads_scanner import Scanner
    from sensewire.events.scanning import PADDING

    statements = ["<urn:p> _:b", '<urn:p> "\\u0041"@EN', '<urn:p> "x"@de-1996', "bad"]
    statements.append(f'<urn:q> "{"x" * 200_000}"')
    data = "".join(f"<urn:a> {said} <urn:g> .\n" for said in statements).encode()
    data = data.replace(b"urn:g", b"urn:h", 2)
    scanner, decoding = Scanner(), Decoding(datetime.now(UTC))
    scanned = scanner.scan(bytearray(data + bytes(PADDING)), len(data), decoding.longest)
    lines = Lines.of(scanned, scanner, "e.nq", 1, decoding)
    list(lines.found(*lines.runs(0), scanner).outcomes())


def match_graphs() -> None:
    """Patterns that stand by themselves and such as share a beginning, of one fact and of many, by
    an engine and by one that was saved; events as columns, small ones and such as are large."""
    from sensewire.engine import Engine
    from sensewire.events.decoding import Decoding
    from sensewire.events.files import held_slice
    from sensewire.events.kinds import Kind
    from sensewire.events.portions import EventPortion, portions
    from sensewire.language.parse import parse
    from sensewire.model.event import Event

    engine = Engine()
    for number in range(40):  # all begin alike: a tree of steps
        more = f"(?y, <urn:p{number % 7}>, ?z) and (?z, <urn:q>, <urn:{number}>)"
        engine.add(parse(f"(?x, <urn:p>, ?y) and {more}"))
        engine.add(parse(f"(?x, <urn:p>, ?y) and {more} injective"))
        engine.add(parse(f"(<urn:{number}>, <urn:p>, ?y) and (?y, <urn:q>, ?z)"))
    for text in (
        "(?x, <urn:p>, ?y) and ?y > 5 and ?y != 9",
        "(?x, ?q, ?y) and (?y, <urn:p>, ?x) and ?x != ?y",
        "select ?y where (?x, <urn:p>, ?y) and (?x, type, red) and not (?x, <urn:q>, ?y)",
        '(?x, <urn:p>, ?y) and (?y, <urn:q>, ?z) and ?z matches "r.d" injective',
        '(?x, exactly <urn:p>, ?y) and (?x, exactly <urn:q>, exactly "red") strict',
        "(home, <urn:p>, ?x) and <urn:q> > 5",
    ):
        engine.add(parse(text))
    small = ["<urn:1> <urn:p> <urn:2>", "<urn:2> <urn:p3> _:b", "_:b <urn:q> <urn:3>"]
    small += [
        '<urn:1> <urn:p> "7"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '_:b <urn:q> "red"',
    ]
    small += ["<urn:1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:red>"]
    large = [f"<urn:{n}> <urn:p{n % 7}> <urn:{n + 1}>" for n in range(100)]
    events = [small, [*small, *large], small]
    lines = [f"{said} <urn:e{n}> .\n" for n, event in enumerate(events) for said in event]
    part = held_slice("".join(lines).encode(), Kind.NQUADS, "e.nq")
    with tempfile.TemporaryDirectory(prefix="sensewire-warm-") as place:
        engine.save(place)
        for each in (engine, Engine.open(place), Engine.open(place, as_it_is=True)):
            for portion in portions([part], Decoding(datetime.now(UTC)), wanted=each):
                assert isinstance(portion, EventPortion)
                assert portion.graphs is not None
                each.match_graphs(portion.graphs)
                each.match_graphs(portion.graphs.at([0]), encoded=True)
            for event in events:
                each.match(Event.rdf("".join(f"{said} .\n" for said in event), format="nt"))


STORY: tuple[Callable[[], None], ...] = (
    match_events,
    match_batches,
    look_up_strings,
    hash_ids,
    match_ranks,
    merge_graphs,
    read_graphs,
    match_graphs,
)
"""The chapters; each can be told without the others."""
