"""JSON records to facts, without an object of Python for each of them.

The kernel scans the lines; those that it finds odd go to the plain decoder, `records`, whose
outcome decides: an event, or the reason why there is none. So this module says what the plain
decoder says, of the attributes that the dictionary knows:

    bytes ──→ scan_lines ──→ facts ───────────────────────┬──→ Facts, in the order of the lines
                  └── odd ──→ records.line ──→ event ─────┘
                                   └─────────→ rejected

Cost: linear in the bytes, and the plain decoder's for each odd line.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.events import records
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.scanning import PADDING, Bytes
from sensewire.events.scanning_found import FACTS, OUTCOME, Found, doubled, found_for
from sensewire.events.scanning_ids import ids_in
from sensewire.events.scanning_lines import NO_ROOM_FOR_FACTS, scan_lines, work_for
from sensewire.events.scanning_rows import Columns, facts_in, in_order, rows_of, with_rows
from sensewire.events.scanning_values import Wanted
from sensewire.events.strangers import are_too_many
from sensewire.model.errors import EventError
from sensewire.model.event import Event
from sensewire.model.facts import Facts, Ids

_FACTS_A_LINE = 12
"""For which there is room at first."""

_Array = TypeVar("_Array", bound=npt.NDArray[Any])  # Any: of any element
Positions = npt.NDArray[np.int64]
Buffer = bytes | bytearray | memoryview | Bytes


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The lines data[starts[i] : ends[i]]; how they are read, and how they are called."""

    data: Bytes
    starts: Positions
    ends: Positions
    decoding: Decoding
    place: Callable[[int], str]

    def event_at(self, row: int) -> Event:
        """The event of a line, by the plain decoder."""
        raw = self.data[self.starts[row] : self.ends[row]].tobytes()
        outcomes = list(records.line(raw, self.place(row), self.decoding))
        if len(outcomes) != 1:
            raise EventError(
                f"a batch of {len(outcomes)} CloudEvents; expected one event, for one row"
            )
        match outcomes[0]:
            case Decoded(event=event):
                return event
            case rejected:
                raise EventError(rejected.reason)


def scan(
    data: Buffer,
    starts: npt.NDArray[np.integer[Any]],
    ends: npt.NDArray[np.integer[Any]],
    dictionary: Dictionary,
    *,
    decoding: Decoding,
    place: Callable[[int], str],
    is_wanted: Callable[[str], bool] | None = None,
    with_ids: bool = False,
) -> Facts:
    """The facts of the lines data[starts[i] : ends[i]], each a JSON text with one event.

    Only attributes that the dictionary knows are read, and the time, which it knows from then on
    where a field holds it. `place` names a line by its row number. `is_wanted` is asked about every
    other name that comes, and the dictionary then knows those that are. With ids, the facts have
    them; the dictionary knows the field that holds them from then on.

    >>> from datetime import UTC, datetime
    >>> dictionary = Dictionary(["size.screen", "product"])
    >>> data = b'{"product": "laptop", "size": {"screen": 14, "keys": 88}}'
    >>> whole = np.array([0]), np.array([len(data)])
    >>> decoding = Decoding(now=datetime.now(UTC))
    >>> facts = scan(data, *whole, dictionary, decoding=decoding, place=lambda row: f"row {row}")
    >>> [facts.attributes[number] for number in facts.attribute], facts.number.tolist()
    (['product', 'size.screen'], [0.0, 14.0])
    """
    lines = Lines(
        _read_only(np.frombuffer(data, np.uint8)),
        _read_only(np.ascontiguousarray(starts, np.int64)),
        _read_only(np.ascontiguousarray(ends, np.int64)),
        decoding,
        place,
    )
    _check_bounds(lines)
    spans = np.zeros(2 * len(lines.starts) if with_ids else 0, np.int64)
    while True:
        found, odd = _scanned(lines, dictionary, spans)
        if is_wanted is None:
            break
        if are_too_many(dictionary.paths):  # then the plain decoder reads all lines
            odd[:] = True
            found.counts[FACTS] = 0
        met = (*dictionary.strangers(), *_names_in(lines, np.flatnonzero(odd).tolist(), dictionary))
        new = [name for name in dict.fromkeys(met) if is_wanted(name)]
        if not new:
            break
        for name in new:
            dictionary.attribute(name)
    return _facts(lines, found, np.flatnonzero(odd).tolist(), dictionary, spans)


def _names_in(lines: Lines, rows: Iterable[int], dictionary: Dictionary) -> Iterator[str]:
    """The names of attributes that some lines have, by the plain decoder, and that nobody knows."""
    for row in rows:
        try:
            event = lines.event_at(row)
        except EventError:
            continue
        for fact in event.facts:
            if fact.property.text not in dictionary:
                yield fact.property.text


def _read_only(array: _Array) -> _Array:
    """The array, not to be written: numba makes another kernel for one that may be.

    Callers have both kinds; one kernel is enough.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def _check_bounds(lines: Lines) -> None:
    """Kernels check no index: a line that is not in the data must not reach them."""
    starts, ends = lines.starts, lines.ends
    if len(starts) != len(ends):
        raise EventError(f"{len(starts)} starts of lines, and {len(ends)} ends")
    outside = (starts < 0) | (starts > ends) | (ends > len(lines.data))
    if outside.any():
        row = int(np.argmax(outside))
        raise EventError(
            f"row {row} is said to be the bytes {starts[row]} to {ends[row]}, "
            f"of {len(lines.data)} that there are"
        )


def _scanned(
    lines: Lines, dictionary: Dictionary, spans: Positions
) -> tuple[Found, npt.NDArray[np.bool_]]:
    """The facts of all lines but the odd ones, and which these are; `spans` says where ids are."""
    time = lines.decoding.time_field
    id = lines.decoding.id_field if len(spans) else None
    for name in (time, id):
        if name is not None and name not in dictionary:
            dictionary.close(dictionary.attribute(name))  # no string of it is asked for
    wanted = Wanted(
        dictionary.paths,
        dictionary.closed,
        dictionary.truths,
        -1 if time is None else dictionary.attribute(time),
        -1 if id is None else dictionary.attribute(id),
        0 if id is None else id.count("."),
    )
    count = len(lines.starts)
    longest = int((lines.ends - lines.starts).max(initial=0))
    work = work_for(len(wanted.paths.start), longest + PADDING)
    found = found_for(_FACTS_A_LINE * count + 64)
    odd = np.zeros(count, np.bool_)
    spans[:] = 0
    for data, starts, ends, done, stop in _padded(lines):
        first = done
        while True:
            done = scan_lines(
                data, starts, ends, done, stop, wanted, dictionary.table, found, work, odd, spans
            )
            if done == stop:
                break
            if found.counts[OUTCOME] == NO_ROOM_FOR_FACTS:
                found = doubled(found)
            else:
                dictionary.make_room(int(ends[done] - starts[done]))
        if len(spans) and first < stop:  # as places in all of the lines' bytes
            part = spans[2 * first : 2 * stop]
            part[part > 0] += int(lines.starts[first] - starts[first])
    dictionary.keep_up()
    return found, odd


def _padded(lines: Lines) -> Iterator[tuple[Bytes, Positions, Positions, int, int]]:
    """The lines in two parts: those that the kernel may read beyond, and copies of the others.

    data, starts, ends, and which of them are meant: begin and stop.
    """
    count = len(lines.starts)
    # Where lines do not stand in order, all are copied.
    ascending = bool((lines.ends[1:] >= lines.ends[:-1]).all())
    limit = len(lines.data) - PADDING
    safe = int(np.searchsorted(lines.ends, limit, "right")) if ascending else 0
    if safe:
        yield lines.data, lines.starts, lines.ends, 0, safe
    if safe < count:
        begin = int(lines.starts[safe:].min())
        rest = np.concatenate((lines.data[begin:], np.zeros(PADDING, np.uint8)))
        starts, ends = lines.starts - begin, lines.ends - begin
        yield _read_only(rest), _read_only(starts), _read_only(ends), safe, count


def _facts(
    lines: Lines, found: Found, odd: Sequence[int], dictionary: Dictionary, spans: Positions
) -> Facts:
    rejected: dict[int, str] = {}
    events = list(_odd_events(lines, odd, rejected))
    rows = rows_of(events, dictionary)
    facts = found.counts[FACTS]
    columns = Columns(
        found.event[:facts],
        found.attribute[:facts],
        found.kind[:facts],
        found.word[:facts],
        found.number[:facts],
    )
    if rows:
        columns = in_order(with_rows(columns, rows), len(lines.starts))
    ids = None
    if len(spans):
        spans.reshape(-1, 2)[list(odd)] = 0  # what a line had before it was found odd
        ids = ids_in(lines.data, spans)
        if events:
            ids = _with_ids(ids, events)
    return facts_in(columns, len(lines.starts), dictionary, rejected, lines.event_at, ids)


def _with_ids(ids: Ids, events: Sequence[tuple[int, Event]]) -> Ids:
    """The column with the ids of some events in their places."""
    rows = np.array([row for row, _ in events], np.int64)
    chosen = np.arange(len(ids))
    chosen[rows] = len(ids) + np.arange(len(rows))
    more = pa.array([event.id for _, event in events], pa.string())
    return pa.concat_arrays([ids, more]).take(pa.array(chosen))


def _odd_events(
    lines: Lines, odd: Sequence[int], rejected: dict[int, str]
) -> Iterator[tuple[int, Event]]:
    """The events of odd lines, by the plain decoder; why there is none is added to `rejected`."""
    for row in odd:
        try:
            yield row, lines.event_at(row)
        except EventError as error:
            rejected[row] = str(error)
