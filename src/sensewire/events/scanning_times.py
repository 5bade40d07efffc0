"""Whether a string is a time in one of the forms that nearly all have.

    "2024-03-01"   "2024-03-01T10:30:00"   "2024-03-01T10:30:00.25Z"   "2024-03-01T10:30:00+01:00"

Departure: a no means nothing, and `model.event.moment` decides; so does it of the days after the
28th of February, and of every 31st.
"""

import numpy as np

from sensewire.events.scanning import Bytes, compiled, inlined


@inlined
def _is_two_digits(data: Bytes, at: int, least: int, greatest: int) -> bool:
    """Whether two digits stand here, of a number in these bounds."""
    tens, ones = np.int64(data[at]) - ord("0"), np.int64(data[at + 1]) - ord("0")
    return bool(0 <= tens <= 9 and 0 <= ones <= 9 and least <= tens * 10 + ones <= greatest)


@inlined
def _is_date(data: Bytes, start: int) -> bool:
    february = data[start + 5] == ord("0") and data[start + 6] == ord("2")
    return (
        _is_two_digits(data, start, 0, 99)
        and _is_two_digits(data, start + 2, 1, 99)
        and data[start + 4] == ord("-")
        and _is_two_digits(data, start + 5, 1, 12)
        and data[start + 7] == ord("-")
        and _is_two_digits(data, start + 8, 1, 28 if february else 30)
    )


@inlined
def _is_time_of_day(data: Bytes, start: int) -> bool:
    return (
        data[start] == ord("T")
        and _is_two_digits(data, start + 1, 0, 23)
        and data[start + 3] == ord(":")
        and _is_two_digits(data, start + 4, 0, 59)
        and data[start + 6] == ord(":")
        and _is_two_digits(data, start + 7, 0, 59)
    )


@compiled
def is_plain_time(data: Bytes, start: int, end: int) -> bool:
    """Whether data[start:end] is a string, in its quotes, that is surely a time."""
    at, close = start + 1, end - 1
    if data[start] != ord('"') or close - at < 10 or close - at > 35 or not _is_date(data, at):
        return False
    at += 10
    if at == close:
        return True
    if close - at < 9 or not _is_time_of_day(data, at):
        return False
    at += 9
    if data[at] == ord("."):
        at += 1
        first = at
        while ord("0") <= data[at] <= ord("9"):
            at += 1
        if at == first:
            return False
    if at == close or (at + 1 == close and data[at] == ord("Z")):
        return True
    return (
        at + 6 == close
        and (data[at] == ord("+") or data[at] == ord("-"))
        and _is_two_digits(data, at + 1, 0, 13)
        and data[at + 3] == ord(":")
        and _is_two_digits(data, at + 4, 0, 59)
    )
