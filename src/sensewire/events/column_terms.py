"""The values of an Arrow array as terms, as `term_of` gives them for the Python values.

    integer, float     numbers                  date, timestamp   dates; nanoseconds are kept
    string             strings                  decimal           decimals
    boolean            booleans                 null              absent

Whatever else Arrow has (bytes, times of day, durations, intervals, maps, unions, extensions) is no
term. Cost: Python's for every value: callers ask for distinct ones.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sensewire.model.errors import EventError
from sensewire.model.terms import Term, term_of, untyped

_EXPECTED = "expected strings, numbers, booleans, dates, decimals, or lists and structs of them"


UNTYPED: dict[bytes | str, bytes | str] = {b"sensewire.texts": b"untyped"}
"""What stands beside the schema of a batch whose texts are untyped: a table of texts."""

Array = Any
"""An Arrow array. What it can do is told by its type, at run time only."""
compute: Any = pc
"""Arrow's functions, some of which the stubs do not know, or not for arrays such as these."""


def is_term(type: pa.DataType) -> bool:
    """Whether values of the type are terms."""
    return (
        types.is_integer(type)
        or types.is_floating(type)
        or types.is_boolean(type)
        or is_text(type)
        or types.is_date(type)
        or types.is_timestamp(type)
        or types.is_decimal(type)
        or types.is_null(type)
    )


def is_text(type: pa.DataType) -> bool:
    """Whether values of the type are strings."""
    return types.is_string(type) or types.is_large_string(type) or types.is_string_view(type)


def is_list(type: pa.DataType) -> bool:
    """Whether values of the type are lists."""
    return (
        types.is_list(type)
        or types.is_large_list(type)
        or types.is_fixed_size_list(type)
        or types.is_list_view(type)
        or types.is_large_list_view(type)
    )


def no_term(name: str, type: pa.DataType) -> str:
    """Why a row with a value of such a column is rejected.

    >>> no_term("photo", pa.binary())[:50]
    "the column 'photo' has the type binary, whose valu"
    """
    return f"the column {name!r} has the type {type}, whose values are no terms; {_EXPECTED}"


def plain(array: Array) -> Array:
    """The array with each value in its place, and of a width that all of Arrow can work on."""
    while types.is_dictionary(array.type) or types.is_run_end_encoded(array.type):
        if types.is_dictionary(array.type):
            array = array.dictionary_decode()
        else:
            array = compute.run_end_decode(array)
    if types.is_decimal32(array.type) or types.is_decimal64(array.type):
        array = compute.cast(array, pa.decimal128(array.type.precision, array.type.scale))
    return array


def members(array: Array) -> Mapping[str, Array]:
    """The fields of an array of structs, null where their struct is; the last one of a name."""
    names = [array.type.field(index).name for index in range(array.type.num_fields)]
    return dict(zip(names, array.flatten(), strict=True))


def terms_of(array: Array) -> Iterator[Term | EventError]:
    """The terms of an array of such a type, without nulls; an error for what is none."""
    for value in values_of(array):
        try:
            yield value if isinstance(value, EventError) else term_of(value)
        except EventError as error:
            yield error


def untyped_terms_of(array: Array) -> Iterator[Term | EventError]:
    """The terms of an array of texts that are untyped, without nulls."""
    return map(untyped, array.to_pylist())


def has_untyped_texts(batch: pa.RecordBatch) -> bool:
    """Whether the texts of a batch are untyped."""
    return (batch.schema.metadata or {}).items() >= UNTYPED.items()


def values_of(array: Array) -> Iterator[object]:
    """The values that these terms stand for; an error for what Python cannot hold."""
    nanoseconds = types.is_timestamp(array.type) and array.type.unit == "ns"
    for value in array:
        if not value.is_valid:
            yield None
            continue
        try:
            yield _nanoseconds(value) if nanoseconds else value.as_py()
        except (ValueError, OverflowError, KeyError, pa.ArrowException) as error:
            # ValueError: not UTF-8, or a year beyond 9999; KeyError: an unknown time zone
            yield EventError(f"a value of type {array.type} that cannot be read: {error}")


def _nanoseconds(value: Any) -> Term:  # Any: a scalar of Arrow
    """A time with all of its nine digits; with six, as any other, where the last three are 0."""
    microseconds, rest = divmod(value.value, 1_000)
    short = pa.scalar(microseconds, pa.timestamp("us", value.type.tz))
    term = term_of(short.as_py())
    if rest == 0:
        return term
    whole, zone = term.text[:19], term.text[26 if term.text[19:20] == "." else 19 :]
    return Term(term.kind, f"{whole}.{microseconds % 1_000_000:06}{rest:03}{zone}", term.datatype)


def leaves(path: str, form: pa.DataType) -> Iterator[str]:
    """The dotted paths of a column and all that is in it.

    >>> list(leaves("size", pa.struct({"screen": pa.int64(), "tags": pa.list_(pa.string())})))
    ['size.screen', 'size.tags']
    """
    waiting: list[tuple[str, Any]] = [(path, form)]  # Any: what a type has depends on the type
    while waiting:
        path, inner = waiting.pop()
        while is_list(inner) or types.is_dictionary(inner) or types.is_run_end_encoded(inner):
            inner = inner.value_type
        if types.is_struct(inner):
            members = [inner.field(place) for place in range(inner.num_fields)]
            waiting.extend((f"{path}.{member.name}", member.type) for member in members[::-1])
        else:
            yield path
