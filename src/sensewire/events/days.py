"""The days of events, by which a history is counted; without Python for each of them.

The day of an event is that of its time, in UTC. The texts that nearly all are, `2024-03-01…Z` or
without a zone, say it in their first ten characters; the others are read by the plain decoder.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sensewire.events import records
from sensewire.events.column_ids import held_at
from sensewire.events.column_records import Records
from sensewire.events.column_terms import is_text
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.json_scanner import scan
from sensewire.events.portions import EventPortion, Portion
from sensewire.events.record_portion import RecordPortion

_PLAIN = r"^\d{4}-\d{2}-\d{2}($|T[0-9:.]*(Z|[+-]00:00)?$)"
_CLOUD = "specversion"
_NONE = "-"

compute: Any = pc
Rows = npt.NDArray[np.int64]
Odd = npt.NDArray[np.bool_]
Array = Any


def days_of(portion: Portion, rows: Rows, decoding: Decoding) -> Array:
    """The days of some events, as texts; null for one without a time: its time is `now`."""
    if isinstance(portion, EventPortion):
        events = [portion.decoded[row].event for row in rows.tolist()]
        return pa.array([_day(event.time, decoding) for event in events], pa.string())
    some = portion.at(rows.tolist())
    times, odd = _of_json(some, decoding) if some.is_json else _of_columns(some, decoding)
    plain = compute.fill_null(compute.match_substring_regex(times, _PLAIN), False)
    days = compute.if_else(plain, compute.utf8_slice_codeunits(times, 0, 10), None)
    others = np.flatnonzero(odd | np.asarray(times.is_valid()) & ~np.asarray(plain))
    if not len(others):
        return days
    chosen = np.arange(len(days))
    chosen[others] = len(days) + np.arange(len(others))
    read = [_day(_time(some, row, decoding), decoding) for row in others.tolist()]
    return pa.concat_arrays([days, pa.array(read, pa.string())]).take(pa.array(chosen))


def _of_json(portion: RecordPortion, decoding: Decoding) -> tuple[Array, Odd]:
    """The texts of the time field, and which records are to be read by the plain decoder."""
    texts: Array = portion.batch.column(0)
    odd = np.asarray(compute.match_substring(texts, _CLOUD))
    if decoding.time_field is None:
        return pa.nulls(len(portion), pa.string()), odd
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    facts = scan(
        np.frombuffer(data, np.uint8),
        places[:-1],
        places[1:],
        Dictionary(),
        decoding=replace(decoding, id_field=decoding.time_field, time_field=None),
        place=lambda _: _NONE,
        with_ids=True,
    )
    assert facts.ids is not None
    return compute.if_else(compute.equal(facts.ids, _NONE), None, facts.ids), odd


def _of_columns(portion: RecordPortion, decoding: Decoding) -> tuple[Array, Odd]:
    columns = dict(zip(portion.batch.schema.names, portion.batch.columns, strict=True))
    held: list[Array] = list(held_at(columns, decoding.time_field))
    nothing = pa.nulls(len(portion), pa.string())
    if not held:
        return nothing, np.zeros(len(portion), np.bool_)
    values = held[0]
    if len(held) == 1 and is_text(values.type):
        return values.cast(pa.string()), np.zeros(len(portion), np.bool_)
    if len(held) == 1 and (types.is_date(values.type) or types.is_timestamp(values.type)):
        days = values.cast(pa.timestamp("us"), safe=False).cast(pa.date32(), safe=False)
        return days.cast(pa.string()), np.zeros(len(portion), np.bool_)
    return nothing, np.ones(len(portion), np.bool_)


def _time(portion: RecordPortion, row: int, decoding: Decoding) -> datetime:
    if not portion.is_json:
        return Records(portion.batch, decoding, portion.place).event_at(row).time
    found = list(records.line(portion.raw(row), portion.place(row), decoding))
    return found[0].event.time if isinstance(found[0], Decoded) else decoding.now


def _day(time: datetime, decoding: Decoding) -> str | None:
    return None if time == decoding.now else time.astimezone(UTC).date().isoformat()
