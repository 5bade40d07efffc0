"""The days of events, by which a history is counted; without Python for each of them.

The day of an event is that of its time, in UTC. The texts that nearly all are, `2024-03-01…Z` or
without a zone, say it in their first ten characters; what is written in any other way, and every
CloudEvent, is read by the plain decoder.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sensewire.events.column_ids import held_at
from sensewire.events.column_terms import is_text, leaves
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.json_scanner import scan
from sensewire.events.portions import EventPortion, Portion
from sensewire.events.record_portion import RecordPortion
from sensewire.model.event import Event

_PLAIN = r"^[1-9]\d{3}-\d{2}-\d{2}($|T([01]\d|2[0-3])[0-9:.]*(Z|[+-]00:00)?$)"
_CLOUD = "specversion"
_CLOUD_TIME = "cloudevent.time"
_ESCAPED_LETTER = r"\\u00[4-7]"
_NONE = "-"
_UNTIMED = datetime(1, 1, 1, microsecond=1, tzinfo=UTC)  # nobody's time; dates begin at 0 o'clock

compute: Any = pc
Rows = npt.NDArray[np.int64]
Odd = npt.NDArray[np.bool_]
Array = Any


def days_of(portion: Portion, rows: Rows, decoding: Decoding) -> Array:
    """The days of some events, as texts; null for one that brings no time."""
    if isinstance(portion, EventPortion):
        events = [portion.decoded[row].event for row in rows.tolist()]
        return pa.array([_day(_time_of(event, decoding)) for event in events], pa.string())
    some = portion.at(rows.tolist())
    untimed = replace(decoding, now=_UNTIMED)
    times, odd = _of_json(some, untimed) if some.is_json else _of_columns(some, untimed)
    plain = np.asarray(compute.fill_null(compute.match_substring_regex(times, _PLAIN), False))
    days = compute.if_else(pa.array(plain), compute.utf8_slice_codeunits(times, 0, 10), None)
    others = np.flatnonzero(odd | np.asarray(times.is_valid()) & ~plain)
    if not len(others):
        return days
    chosen = np.arange(len(days))
    chosen[others] = len(days) + np.arange(len(others))
    read = [_day(_time(some, row, untimed)) for row in others.tolist()]
    return pa.concat_arrays([days, pa.array(read, pa.string())]).take(pa.array(chosen))


def _of_json(portion: RecordPortion, decoding: Decoding) -> tuple[Array, Odd]:
    """The texts of the time field, and which records are to be read by the plain decoder."""
    texts: Array = portion.batch.column(0)
    escaped = np.asarray(compute.match_substring_regex(texts, _ESCAPED_LETTER))
    odd = np.asarray(compute.match_substring(texts, _CLOUD)) | escaped
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
    times: Array = compute.if_else(compute.equal(facts.ids, _NONE), None, facts.ids)
    # A time may stand where no id does: in a list of one.
    name = decoding.time_field.rpartition(".")[2]
    return times, odd | np.asarray(times.is_null()) & np.asarray(
        compute.match_substring(texts, name)
    )


def _of_columns(portion: RecordPortion, decoding: Decoding) -> tuple[Array, Odd]:
    columns = dict(zip(portion.batch.schema.names, portion.batch.columns, strict=True))
    held: list[Array] = list(held_at(columns, decoding.time_field))
    plain = np.zeros(len(portion), np.bool_)
    if len(held) == 1 and is_text(held[0].type):
        return held[0].cast(pa.string()), plain
    if len(held) == 1 and types.is_date(held[0].type):
        return held[0].cast(pa.date32()).cast(pa.string()), plain
    if len(held) == 1 and types.is_timestamp(held[0].type):
        instants = held[0].cast(pa.timestamp(held[0].type.unit))  # a zone is how it is shown
        return instants.cast(pa.date32(), safe=False).cast(pa.string()), plain
    odd = ~plain if held or _is_in_lists(portion, decoding.time_field) else plain
    return pa.nulls(len(portion), pa.string()), odd


def _is_in_lists(portion: RecordPortion, time_field: str | None) -> bool:
    fields: list[Any] = list(portion.batch.schema)  # Any: the stubs do not iterate a schema
    return any(path == time_field for each in fields for path in leaves(each.name, each.type))


def _time(portion: RecordPortion, row: int, decoding: Decoding) -> datetime:
    for outcome in portion.outcomes(row, decoding):
        if isinstance(outcome, Decoded):
            return outcome.event.time
    return _UNTIMED


def _time_of(event: Event, decoding: Decoding) -> datetime:
    """The time of an event that was read with `now` for those that have none."""
    if event.time != decoding.now or any(fact.property.text == _CLOUD_TIME for fact in event.facts):
        return event.time
    return replace(decoding, now=_UNTIMED).time_in(event.facts, event.home)


def _day(time: datetime) -> str | None:
    return None if time == _UNTIMED else time.astimezone(UTC).date().isoformat()
