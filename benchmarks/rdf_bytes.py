"""Bytes of N-Quads to encoded facts: microseconds a triple, beside pyoxigraph, in one run.

    columns    the scanner and what follows it: codes, distinct facts, home vertices
    events     the same, then an object for every fact and event, as matchers read them today
    pyoxigraph quads as its own objects, and nothing done with them
    by lines   pyoxigraph line by line, with runs and terms as `events.rdf` has them

Two mixtures of events with 90 triples each: plain, and with escapes and language tags. One core,
warmed, the shortest of several times. The columns are held to what is read line by line.

    .venv/bin/python benchmarks/rdf_bytes.py
"""

import gc
import io
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import pyoxigraph

from sensewire.events import rdf
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoding
from sensewire.events.files import Slice, listing, slices
from sensewire.events.graphs import Graphs
from sensewire.events.lines import Line, lines_in
from sensewire.events.nquads import graph_portions

EVENTS, TRIPLES, TIMES, SEED = 1_000, 90, 5, 7
_XSD = "http://www.w3.org/2001/XMLSchema#"
_DECODING = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))


def main() -> None:
    """Measure, check and print."""
    for name, spoken in (("plain", False), ("escapes, languages", True)):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "events.nq"
            path.write_bytes("".join(_lines(random.Random(SEED), spoken)).encode())
            (part,) = slices(listing([path]).files[0], path.stat().st_size)
            _measure(name, part, path.read_bytes())


def _measure(name: str, part: Slice, raw: bytes) -> None:
    plain = list(rdf.nquads(_read(raw), part.file.name, _DECODING))
    assert list(decode(part, _DECODING)) == plain, "an answer that was timed is not the right one"
    ways: dict[str, Callable[[], object]] = {
        "columns": lambda: _columns(part),
        "events": lambda: list(decode(part, _DECODING)),
        "pyoxigraph": lambda: _parsed(raw),
        "by lines": lambda: list(rdf.nquads(_read(raw), part.file.name, _DECODING)),
    }
    count = EVENTS * TRIPLES
    print(f"{name}: {count:,} triples of {len(raw) / count:.0f} bytes")
    for way, run in ways.items():
        shortest = min(_seconds(run) for _ in range(1 if way == "by lines" else TIMES))
        print(f"  {way:<12}{shortest / count * 1e6:8.3f} µs a triple")


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    start = process_time()
    run()
    return process_time() - start


def _columns(part: Slice) -> int:
    found = graph_portions(part, _DECODING)
    return sum(len(graphs.facts.subject) for graphs in found if isinstance(graphs, Graphs))


def _parsed(raw: bytes) -> int:
    return sum(1 for _ in pyoxigraph.parse(raw, format=pyoxigraph.RdfFormat.N_QUADS))


def _read(raw: bytes) -> Iterator[Line]:
    return lines_in(io.BytesIO(raw), 0, len(raw), longest=_DECODING.longest)


def _lines(chance: random.Random, spoken: bool) -> Iterator[str]:
    words = ("hasPart", "observedBy", "locatedIn")
    properties = [
        f"http://www.example.org/vocabulary#{word}{i}" for word in words for i in range(20)
    ]
    for event in range(EVENTS):
        graph = f"<http://events.example.org/2024/03/{event:07}>"
        base = "http://data.example.org/resource"
        nodes = [f"<{base}/{event}/{chance.randrange(10**9)}>" for _ in range(12)]
        nodes += [f"_:b{number}" for number in range(4)]
        shared = [f"<{base}/thing{chance.randrange(5_000)}>" for _ in range(8)]
        for number in range(TRIPLES):
            subject = nodes[number * len(nodes) // TRIPLES]
            value = chance.choice([*nodes[:8], *shared]) if chance.random() < 0.55 else ""
            value = value or (_spoken(chance) if spoken else _literal(chance))
            yield f"{subject} <{chance.choice(properties)}> {value} {graph} .\n"


def _literal(chance: random.Random) -> str:
    number = chance.randrange(10**6)
    return chance.choice(
        [
            f'"value {number} of something"',
            f'"{number}"^^<{_XSD}integer>',
            f'"{number / 1_000}"^^<{_XSD}double>',
            f'"2024-03-{number % 28 + 1:02}T10:00:00Z"^^<{_XSD}dateTime>',
        ]
    )


def _spoken(chance: random.Random) -> str:
    number = chance.randrange(10**5)
    return chance.choice(
        [
            f'"Gr\\u00FC\\u00DFe {number} \\"so\\"\\n"@de-AT',
            f'"Gr\\u00FC\\u00DFe {number}"',
            f'"Grüße {number} aus Zürich"@de',
            f'"some text {number}"@en-GB',
        ]
    )


if __name__ == "__main__":
    main()
