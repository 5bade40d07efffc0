"""What facts say of each event, and what the plain decoder says of a line, to compare them."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from sensewire.events import records
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.json_scanner import scan
from sensewire.model.facts import DOUBLE, INTEGER, NO_WORD, WORD, Facts
from sensewire.model.terms import Term, term_of
from tests.events.json_texts import NAMES

NOW = datetime(2024, 3, 1, tzinfo=UTC)
PLAIN = Decoding(now=NOW)

Said = set[tuple[str, Term]] | str


def scanned(
    lines: Sequence[bytes],
    names: Sequence[str] = NAMES,
    decoding: Decoding = PLAIN,
    between: bytes = b"\n",
    dictionary: Dictionary | None = None,
) -> Facts:
    ends = np.cumsum([len(line) + len(between) for line in lines], dtype=np.int64) - len(between)
    starts = ends - np.array([len(line) for line in lines], np.int64)
    return scan(
        between.join(lines),
        starts,
        ends,
        Dictionary(names) if dictionary is None else dictionary,
        decoding=decoding,
        place=lambda row: f"row {row}",
    )


def term_at(facts: Facts, index: int) -> Term:
    if facts.kind[index] == WORD:
        attribute, term = facts.words[int(facts.word[index])]
        assert attribute == facts.attribute[index]
        return term
    assert facts.word[index] == NO_WORD
    value = float(facts.number[index])
    assert facts.kind[index] in (INTEGER, DOUBLE)
    return term_of(int(value)) if facts.kind[index] == INTEGER else term_of(value)


def told(facts: Facts) -> list[Said]:
    """What the columns say of each event."""
    assert (np.diff(facts.event) >= 0).all()
    said: list[set[tuple[str, Term]]] = [set() for _ in range(len(facts))]
    for index, event in enumerate(facts.event):
        said[event].add((facts.attributes[facts.attribute[index]], term_at(facts, index)))
    assert not any(said[row] for row in facts.rejected)
    return [facts.rejected.get(row, found) for row, found in enumerate(said)]


def plainly(
    line: bytes, row: int, names: Sequence[str] = NAMES, decoding: Decoding = PLAIN
) -> Said:
    outcomes = list(records.line(line, f"row {row}", decoding))
    if len(outcomes) != 1:
        return f"a batch of {len(outcomes)} CloudEvents; expected one event, for one row"
    match outcomes[0]:
        case Decoded(event=event):
            facts = ((fact.property.text, fact.object) for fact in event.facts)
            return {(name, term) for name, term in facts if name in names}
        case rejected:
            return rejected.reason


def agree(
    lines: Sequence[bytes],
    names: Sequence[str] = NAMES,
    decoding: Decoding = PLAIN,
    between: bytes = b"\n",
) -> None:
    expected = [plainly(line, row, names, decoding) for row, line in enumerate(lines)]
    assert told(scanned(lines, names, decoding, between)) == expected
