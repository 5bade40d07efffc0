"""Arrow columns to facts: one column an attribute, whatever its type; no Python for each row.

A null is absent, a list is many values, a struct gives dotted paths: what `Event.record` makes of
the row's Python values. Columns are walked from the outside in, with the row of every element:

    tags: list<string>   [["new", "eco"], null, ["new"]]
    rows                 [0, 1, 2]  ──→  elements  new eco new   rows  0 0 2   ──→  facts

Strings go from Arrow's buffers through the dictionary's table; numbers and booleans are copied;
other types, and texts that are untyped, cost Python's time once for each distinct value of the
batch. A row with a value that is no term is rejected, with its column's name and type. What the
dictionary does not know is not read.
Cost: linear in the values.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import types

from sensewire.events.column_ids import column_ids, held_at
from sensewire.events.column_records import Records
from sensewire.events.column_terms import (
    Array,
    compute,
    has_untyped_texts,
    is_list,
    is_term,
    is_text,
    members,
    no_term,
    plain,
    terms_of,
    untyped_terms_of,
)
from sensewire.events.column_times import are_plain_times
from sensewire.events.decoding import Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.scanning import PADDING, Bytes, Int32, Int64
from sensewire.events.scanning_rows import Columns, facts_in, in_order
from sensewire.events.scanning_table import MALFORMED
from sensewire.model.errors import EventError
from sensewire.model.event import Fact
from sensewire.model.facts import DOUBLE, INTEGER, LARGEST_INTEGER, NO_WORD, WORD, Facts
from sensewire.model.terms import HOME, Term, string, term_of

_NOTHING = -4
"""Instead of a word's number: of a value that Python cannot hold."""
Truths = npt.NDArray[np.bool_]


def facts_of(
    batch: pa.RecordBatch,
    dictionary: Dictionary,
    *,
    decoding: Decoding,
    place: Callable[[int], str],
    with_ids: bool = False,
) -> Facts:
    """The facts of a batch's rows, each an event. `place` names a row by its number.

    With ids, the facts have them.

    >>> from datetime import UTC, datetime
    >>> batch = pa.RecordBatch.from_pylist([{"price": 900, "tags": ["new", "eco"]}, {"price": 5}])
    >>> decoding = Decoding(now=datetime.now(UTC))
    >>> dictionary = Dictionary(["price", "tags"])
    >>> facts = facts_of(batch, dictionary, decoding=decoding, place=lambda row: f"row {row}")
    >>> facts.event.tolist(), [facts.attributes[number] for number in facts.attribute]
    ([0, 0, 0, 1], ['price', 'tags', 'tags', 'price'])
    """
    records = Records(batch, decoding, place)
    reading = _read(records, dictionary)
    if decoding.time_field is not None:
        _check_times(records, decoding.time_field, reading.rejected)
    columns = reading.columns(len(batch))
    ids = column_ids(records.columns, decoding.id_field, len(batch)) if with_ids else None
    return facts_in(columns, len(batch), dictionary, reading.rejected, records.event_at, ids)


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """What was read of a batch so far."""

    dictionary: Dictionary
    terms: Callable[[Array], Iterator[Term | EventError]] = terms_of
    """The terms of an array, where Python makes them."""
    leaves: list[Columns] = field(default_factory=list)
    rejected: dict[int, str] = field(default_factory=dict)

    def reject(self, rows: Int32, reason: str) -> None:
        for row in rows.tolist():
            self.rejected.setdefault(row, reason)

    def words(self, rows: Int32, attribute: int, words: Int32) -> None:
        self._add(rows, attribute, WORD, words, np.zeros(len(rows)))

    def numbers(
        self, rows: Int32, attribute: int, kind: int, numbers: npt.NDArray[np.float64]
    ) -> None:
        self._add(rows, attribute, kind, np.full(len(rows), NO_WORD, np.int32), numbers)

    def _add(
        self, rows: Int32, attribute: int, kind: int, words: Int32, numbers: npt.NDArray[np.float64]
    ) -> None:
        attributes = np.full(len(rows), attribute, np.int32)
        kinds = np.full(len(rows), kind, np.uint8)
        self.leaves.append(Columns(rows, attributes, kinds, words, numbers))

    def columns(self, events: int) -> Columns:
        """The facts of all leaves, but those of rejected rows, in the order of their events."""
        leaves = [_NO_FACTS, *self.leaves]
        joined = Columns(
            np.concatenate([leaf.event for leaf in leaves]),
            np.concatenate([leaf.attribute for leaf in leaves]),
            np.concatenate([leaf.kind for leaf in leaves]),
            np.concatenate([leaf.word for leaf in leaves]),
            np.concatenate([leaf.number for leaf in leaves]),
        )
        if self.rejected:
            good = np.ones(events, np.bool_)
            good[list(self.rejected)] = False
            joined = joined.at(good[joined.event])
        return in_order(joined, events)


_NO_FACTS = Columns(
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(0, np.uint8),
    np.zeros(0, np.int32),
    np.zeros(0, np.float64),
)


def _read(records: Records, dictionary: Dictionary) -> _Reading:
    terms = untyped_terms_of if has_untyped_texts(records.batch) else terms_of
    reading = _Reading(dictionary, terms)
    rows = np.arange(len(records.batch), dtype=np.int32)
    for name, column in records.columns.items():
        _walk(column, name, rows, reading)
    return reading


def _walk(array: Array, name: str, rows: Int32, reading: _Reading) -> None:
    """Read an array whose element i belongs to the event rows[i]."""
    known = name in reading.dictionary
    if not known and not reading.dictionary.knows_below(name):
        return
    if known and _is_encoded_text(array):
        _encoded_texts(array, name, rows, reading)
        return
    array = plain(array)
    if types.is_struct(array.type):
        for key, member in members(array).items():
            _walk(member, f"{name}.{key}", rows, reading)
    elif is_list(array.type):
        lengths = np.asarray(compute.fill_null(compute.list_value_length(array), 0))
        _walk(array.flatten(), name, np.repeat(rows, lengths), reading)
    elif is_term(array.type):
        if known:
            _leaf(array, name, rows, reading)
    elif known or types.is_map(array.type) or types.is_union(array.type):
        reading.reject(rows[_present(array)], no_term(name, array.type))


def _is_encoded_text(array: Array) -> bool:
    """Whether strings are numbered, and not more of them than there are rows."""
    return (
        types.is_dictionary(array.type)
        and is_text(array.type.value_type)
        and len(array.dictionary) <= len(array)
    )


def _present(array: Array) -> Truths:
    return np.asarray(array.is_valid())


def _leaf(array: Array, name: str, rows: Int32, reading: _Reading) -> None:
    """Read an array of terms, of an attribute that the dictionary knows."""
    attribute = reading.dictionary.attribute(name)
    present = _present(array)
    if is_text(array.type) and reading.terms is terms_of:
        _texts(array, present, name, rows, reading)
    elif types.is_boolean(array.type):
        true = reading.dictionary.truths[attribute]
        false = np.logical_not(np.asarray(compute.fill_null(array, False))[present])
        reading.words(rows[present], attribute, true + false.astype(np.int32))
    elif types.is_floating(array.type):
        doubles = np.asarray(compute.fill_null(compute.cast(array, pa.float64()), 0.0))
        reading.numbers(rows[present], attribute, DOUBLE, doubles[present])
    elif types.is_integer(array.type):
        integers = np.asarray(compute.fill_null(array, 0))
        small = (integers <= LARGEST_INTEGER) & (integers >= -LARGEST_INTEGER)
        plain, long = present & small, present & ~small
        numbers = integers[plain].astype(np.float64)
        reading.numbers(rows[plain], attribute, INTEGER, numbers)
        if long.any():
            _others(array.filter(pa.array(long)), name, rows[long], reading)
    elif not types.is_null(array.type):
        _others(array, name, rows, reading)


def _texts(array: Array, present: Truths, name: str, rows: Int32, reading: _Reading) -> None:
    """Read strings from Arrow's buffers."""
    attribute = reading.dictionary.attribute(name)
    words = reading.dictionary.texts(attribute, *_bytes_of(array), present.view(np.uint8))
    _add_texts(words, present, name, rows, reading)


def _encoded_texts(array: Array, name: str, rows: Int32, reading: _Reading) -> None:
    """Read strings that Arrow numbered: each of its numbers is given ours."""
    attribute = reading.dictionary.attribute(name)
    values = array.dictionary
    has_value = _present(values)
    numbers = reading.dictionary.texts(attribute, *_bytes_of(values), has_value.view(np.uint8))
    present = _present(array.indices)
    chosen = np.asarray(compute.fill_null(array.indices, 0))[present]
    rows, has_value = rows[present], has_value[chosen]
    _add_texts(numbers[chosen], has_value, name, rows, reading)


def _add_texts(words: Int32, present: Truths, name: str, rows: Int32, reading: _Reading) -> None:
    malformed = words == MALFORMED
    if malformed.any():
        reading.reject(rows[malformed], f"the column {name!r} holds a string that is not UTF-8")
    reading.words(rows[present], reading.dictionary.attribute(name), words[present])


def _bytes_of(array: Array) -> tuple[Bytes, Int64]:
    """The bytes of strings, with room behind them for the kernels, and where each begins."""
    if types.is_string_view(array.type):
        array = compute.cast(array, pa.large_string())
    width = np.int64 if types.is_large_string(array.type) else np.int32
    _, places, texts = array.buffers()
    if len(array) == 0 or texts is None:
        return np.zeros(PADDING, np.uint8), np.zeros(len(array) + 1, np.int64)
    offsets = np.frombuffer(places, width)[array.offset : array.offset + len(array) + 1]
    used = np.frombuffer(texts, np.uint8)[offsets[0] : offsets[-1]]
    data = np.concatenate((used, np.zeros(PADDING, np.uint8)))
    return data, offsets.astype(np.int64) - int(offsets[0])


def _others(array: Array, name: str, rows: Int32, reading: _Reading) -> None:
    """Read terms that Python makes: each distinct value once."""
    encoded = array.dictionary_encode()
    present = _present(encoded.indices)
    chosen = np.asarray(compute.fill_null(encoded.indices, 0))[present]
    rows = rows[present]
    attribute = reading.dictionary.attribute(name)
    terms = list(reading.terms(encoded.dictionary))
    good = [index for index, term in enumerate(terms) if isinstance(term, Term)]
    numbers = np.full(len(terms), _NOTHING, np.int32)
    asked = [(attribute, term) for term in terms if isinstance(term, Term)]
    numbers[good] = reading.dictionary.words_of(asked)
    words = numbers[chosen]
    bad = words == _NOTHING
    for row, index in zip(rows[bad].tolist(), chosen[bad].tolist(), strict=True):
        reading.rejected.setdefault(row, f"the column {name!r} holds {terms[index]}")
    reading.words(rows[~bad], attribute, words[~bad])


def _check_times(records: Records, time_field: str, rejected: dict[int, str]) -> None:
    """Reject the rows whose time field holds no time, or several."""
    if are_plain_times(list(held_at(records.columns, time_field))):
        return
    dictionary = Dictionary([time_field])
    facts = _read(records, dictionary).columns(len(records.batch))
    several = np.bincount(facts.event, minlength=len(records.batch))[facts.event] > 1
    for row in np.unique(facts.event[several]).tolist():
        if reason := records.problem(row):
            rejected.setdefault(row, reason)
    property = string(time_field)
    problems: dict[Term, str | None] = {}
    for row, term in zip(facts.event.tolist(), _terms(facts, dictionary), strict=True):
        if term not in problems:
            problems[term] = _problem(records.decoding, Fact(HOME, property, term))
        if reason := problems[term]:
            rejected.setdefault(row, reason)


def _terms(facts: Columns, dictionary: Dictionary) -> Iterator[Term]:
    """The terms that facts stand for."""
    rows = zip(facts.kind.tolist(), facts.word.tolist(), facts.number.tolist(), strict=True)
    for kind, word, number in rows:
        if kind == WORD:
            yield dictionary.words[word][1]
        else:
            yield term_of(int(number) if kind == INTEGER else number)


def _problem(decoding: Decoding, time: Fact) -> str | None:
    try:
        decoding.time_in((time,), HOME)
    except EventError as error:
        return str(error)
    return None
