"""Whether a column holds nothing but times in the forms that nearly all have: no Python a row.

Departure: a no means nothing, and `model.event.moment` decides, value by value.
"""

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import types

from sensewire.events.column_terms import Array, compute, is_text

_TEXT = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
    r"(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?)?$"
)
_YEARS = 1, 9_999


def are_plain_times(held: Sequence[Array]) -> bool:
    """Whether all that is in the one array that holds times is one; nulls are none, and no harm."""
    if len(held) != 1:
        return not held
    (values,) = held
    if values.null_count == len(values):
        return True
    if is_text(values.type):
        return _are_plain_texts(values)
    if types.is_date(values.type) or types.is_timestamp(values.type):
        return _are_of(compute.year(values))
    return False


def _are_plain_texts(values: Array) -> bool:
    if not compute.all(compute.match_substring_regex(values, _TEXT)).as_py():
        return False
    try:
        days = compute.cast(compute.utf8_slice_codeunits(values, 0, 10), pa.date32())
    except pa.ArrowInvalid:  # a 30th of February
        return False
    return _are_of(compute.year(days))


def _are_of(years: Array) -> bool:
    bounds = compute.min_max(years).as_py()
    return bool(_YEARS[0] <= bounds["min"] and bounds["max"] <= _YEARS[1])
