"""Rows of CSV and TSV as events: a cell is an untyped value of the attribute that its column names.

An empty cell is absent; of columns with one name each adds a value. The bytes of an event are the
header and its row, so that they are a table by themselves.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from sensewire.events.csv_rows import Header, Row, Table, table_of
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.lines import Line
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.terms import HOME, Term, string, untyped

_SUFFIXES = {".tsv": "\t"}


def separator_of(suffix: str) -> str | None:
    """The separator that a file's name stands for; None where its header decides."""
    return _SUFFIXES.get(suffix)


def csv_events(
    lines: Iterable[Line], file: str, decoding: Decoding, separator: str | None
) -> Iterator[Outcome]:
    """The events of a table's lines, and the rows that are none.

    >>> from datetime import UTC, datetime
    >>> lines = [Line(1, b"id,price"), Line(2, b"a,5")]
    >>> (found,) = csv_events(lines, "t.csv", Decoding(datetime.now(UTC)), None)
    >>> found.event.id, str(found.event.facts[1].object), found.raw
    ('a', '"5"', b'id,price\\na,5')
    """
    table = table_of(lines, file, decoding.longest, separator)
    if not isinstance(table, Table):
        yield from () if table is None else (table,)
        return
    columns = _Columns(table.header, file, decoding)
    for row in table.rows:
        yield row if isinstance(row, Rejected) else columns.outcome(row)


class _Columns:
    """What a header says of every row."""

    def __init__(self, header: Header, file: str, decoding: Decoding) -> None:
        self._header = header
        self._file = file
        self._decoding = decoding
        self._names = tuple(map(string, header.names))
        self._is_repeated = len(set(header.names)) < len(header.names)
        places = [at for at, name in enumerate(header.names) if name == decoding.id_field]
        self._id = places[0] if len(places) == 1 else None

    def outcome(self, row: Row) -> Outcome:
        """The event of a row, or why it is none."""
        place = f"{self._file}:{row.line}"
        raw = b"%s\n%s" % (self._header.raw, row.raw)
        pairs = zip(self._names, row.cells, strict=True)
        facts = tuple([Fact(HOME, name, _value(cell)) for name, cell in pairs if cell])
        if self._is_repeated:  # values of one attribute stand together, as a record's list does
            first = self._header.names.index
            facts = distinct(sorted(facts, key=lambda fact: first(fact.property.text)))
        try:
            time = self._decoding.time_in(facts, HOME)
        except EventError as error:
            return Rejected(place, raw, str(error))
        id = "" if self._id is None else row.cells[self._id]
        return Decoded(place, raw, Event(id or place, time, facts, HOME))


@lru_cache(maxsize=65_536)
def _value(text: str) -> Term:
    """A cell's value: most stand in many rows."""
    return untyped(text)
