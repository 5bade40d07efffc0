"""What the tests of patterns share: events written shortly, the same among many other vertices, and
the answers to batches."""

from dataclasses import replace

from sensewire.engine import Engine
from sensewire.match.compiled.jit import Array
from sensewire.match.layered import Layered
from sensewire.model.event import Event
from sensewire.model.match import BatchMatches
from sensewire.model.terms import iri

X = "http://x.org/"


def graph(*lines: str, home: str | None = None) -> Event:
    """An event from lines of three short names; numbers, labels and texts as in Turtle.

    The property `a` is `rdf:type`.
    """
    text = ""
    for line in lines:
        subject, property, value = line.split()
        written = property if property == "a" else _word(property)
        text += f"{_word(subject)} {written} {_word(value)} .\n"
    return Event.rdf(text, "ttl", id="e", home=None if home is None else iri(X + home))


def _word(word: str) -> str:
    return word if word[0] in '"_' or word[0].isdigit() else f"<{X}{word}>"


def wide(event: Event) -> Event:
    """The same event among a hundred other vertices that have classes."""
    others = graph(*(f"w{number} a Filler" for number in range(100))).facts
    return replace(event, facts=(*event.facts, *others))


def tables_of(engine: Engine) -> dict[str, Array]:
    """The tables of the only index of patterns."""
    matcher = engine._dispatch.of_facts
    assert isinstance(matcher, Layered)
    (graphs,) = [graphs for each in matcher._segments for graphs in each.graphs]
    return graphs.index.arrays()


def told_of(found: BatchMatches, events: int) -> list[list[str]]:
    """The lines of `told` for each event of a batch."""
    lines: list[list[str]] = [[] for _ in range(events)]
    for match in found.matches.to_pylist():
        rows = [
            ", ".join(f"?{n} {t}" for n, t in sorted(row)) or "-" for row in match["rows"] or [[]]
        ]
        text = " | ".join(sorted(set(rows)))
        lines[match["event"]].append(f"{match['subscription']} at {match['distance']:.12g}: {text}")
    for failure in found.failures.to_pylist():
        lines[failure["event"]].append(f"{failure['subscription']} failed: {failure['reason']}")
    for rejected in found.rejected.to_pylist():
        lines[rejected["event"]].append(f"rejected: {rejected['reason']}")
    return [sorted(each) for each in lines]
