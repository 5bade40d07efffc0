"""Numbers of JSON in bytes: where they end, and the double nearest to them.

Up to 2 ** 53 and powers of ten up to 22, one exact multiplication or division does (Clinger, "How
to read floating point numbers accurately", 1990). Beyond, the product with a power of five of 128
bits (Lemire, "Number parsing at a gigabyte per second", 2021, section 5; Mushtak and Lemire, "Fast
number parsing without fallback", 2023, on why no other case is left). Cost: linear in the digits.

    -12.50e3   ─→   sign −, decimal 1250, power −2 + 3   ─→   −12500.0

Departure: numbers of more than 19 digits that count, and those whose exponents come near the
double's limits, are BAD here: the plain decoder reads them.
"""

import numpy as np

from sensewire.events.scanning import (
    Bytes,
    Register,
    as_double,
    compiled,
    inlined,
    leading_zeros,
    product,
)
from sensewire.model.facts import DOUBLE, INTEGER, LARGEST_INTEGER

BAD = -1
LONG_INTEGER = 3
"""Beside INTEGER and DOUBLE: an integer that its text stands for."""
_MOST_DIGITS = 60  # before the point, and after it: what is read past a line's end has a bound
_COUNTED_DIGITS = 19  # fit into 64 bits
_LARGEST_POWER = 280  # with 19 digits still far from infinity, and from what is not normal

_MINUS, _POINT, _ZERO = ord("-"), ord("."), ord("0")
_EXACT = 22  # 10 ** 22 is a double, 10 ** 23 is none
_EXACT_POWERS = np.array([10.0**power for power in range(_EXACT + 1)])
_EXACT_FIVES = -27  # 5 ** 27 still has 64 bits


def _five(power: int) -> int:
    """The highest 128 bits of 5 ** power; rounded up where halfway cases must come out exact."""
    if power >= 0:
        return _highest(5**power)
    five: int = 5**-power
    bits = (five - 1).bit_length()
    if power >= _EXACT_FIVES:
        return (1 << (bits + 127)) // five + 1
    return _highest((1 << (2 * bits + 128)) // five)


def _highest(number: int) -> int:
    extra = number.bit_length() - 128
    return number >> extra if extra >= 0 else number << -extra


_FIVES = np.array(
    [
        (five >> 64, five & (2**64 - 1))
        for five in map(_five, range(-_LARGEST_POWER, _LARGEST_POWER + 1))
    ],
    np.uint64,
)
"""Power + _LARGEST_POWER → the two halves."""


@inlined
def _is_digit(byte: int) -> bool:
    return ord("0") <= byte <= ord("9")


@compiled
def number(data: Bytes, start: int) -> tuple[int, int, float]:
    """A number's end, or BAD; INTEGER, DOUBLE or LONG_INTEGER; and the first two's value."""
    at = start
    negative = data[at] == _MINUS
    if negative:
        at += 1
    decimal = np.uint64(0)
    first = at
    while _is_digit(data[at]) and at - first < _MOST_DIGITS:
        decimal = decimal * np.uint64(10) + np.uint64(data[at] - _ZERO)
        at += 1
    digits = at - first
    if digits == 0 or digits == _MOST_DIGITS or (digits > 1 and data[first] == _ZERO):
        return BAD, INTEGER, 0.0
    byte = data[at]
    if byte != _POINT and (byte | 0x20) != ord("e"):
        if digits < _COUNTED_DIGITS and decimal <= np.uint64(LARGEST_INTEGER):
            value: Register = np.float64(np.int64(decimal))
            return at, INTEGER, 0.0 - value if negative else value
        return at, LONG_INTEGER, 0.0
    power: Register = 0
    if byte == _POINT:
        at += 1
        first_of_fraction = at
        while _is_digit(data[at]) and at - first_of_fraction < _MOST_DIGITS:
            decimal = decimal * np.uint64(10) + np.uint64(data[at] - _ZERO)
            at += 1
        power = first_of_fraction - at
        if power == 0 or power == -_MOST_DIGITS:
            return BAD, DOUBLE, 0.0
        digits -= power
    if digits > _COUNTED_DIGITS and digits - _zeros(data, first, at) > _COUNTED_DIGITS:
        return BAD, DOUBLE, 0.0
    if (data[at] | 0x20) == ord("e"):
        at, exponent = _exponent(data, at + 1)
        if at < 0:
            return BAD, DOUBLE, 0.0
        power += exponent
    if decimal == 0:
        value = 0.0
    elif decimal <= np.uint64(LARGEST_INTEGER) and -_EXACT <= power <= _EXACT:
        value = np.float64(np.int64(decimal))
        value = value * _EXACT_POWERS[power] if power >= 0 else value / _EXACT_POWERS[-power]
    elif -_LARGEST_POWER <= power <= _LARGEST_POWER:
        value = nearest_double(decimal, power)
    else:
        return BAD, DOUBLE, 0.0
    return at, DOUBLE, -value if negative else value


@inlined
def _zeros(data: Bytes, first: int, end: int) -> int:
    """How many zeros the digits data[first:end] begin with, their point apart."""
    at, count = first, 0
    while at < end and (data[at] == _ZERO or data[at] == _POINT):
        count += data[at] == _ZERO
        at += 1
    return count


@inlined
def _exponent(data: Bytes, start: int) -> tuple[int, Register]:
    """The end of an exponent, or BAD, and its value."""
    at = start
    negative = data[at] == _MINUS
    if negative or data[at] == ord("+"):
        at += 1
    first = at
    exponent = np.int64(0)
    while _is_digit(data[at]) and at - first < 4:
        exponent = exponent * 10 + np.int64(data[at] - _ZERO)
        at += 1
    if at == first or at - first == 4:
        return BAD, exponent
    return at, -exponent if negative else exponent


@compiled
def nearest_double(decimal: Register, power: int) -> float:
    """The double nearest to decimal × 10 ** power, for a decimal of 1 … 2 ** 64 − 1."""
    shift = leading_zeros(decimal)
    shifted = decimal << np.uint64(shift)
    five = power + _LARGEST_POWER
    high, low = product(shifted, _FIVES[five, 0])
    # The 55 bits that decide are right, unless a carry from below could run through all others.
    if (high & np.uint64(0x1FF)) == np.uint64(0x1FF):
        carry, _ = product(shifted, _FIVES[five, 1])
        low = low + carry
        if carry > low:
            high = high + np.uint64(1)
    upper = np.int64(high >> np.uint64(63))
    mantissa = high >> np.uint64(upper + 9)
    exponent = ((217706 * power) >> 16) + 63 + upper - shift + 1023
    # Halfway between two doubles, exactly: to the even one.
    if (
        low <= np.uint64(1)
        and -4 <= power <= 23
        and (mantissa & np.uint64(3)) == np.uint64(1)
        and (mantissa << np.uint64(upper + 9)) == high
    ):
        mantissa = mantissa & ~np.uint64(1)
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        exponent += 1
    mantissa = mantissa & np.uint64((1 << 52) - 1)
    return as_double(mantissa | (np.uint64(exponent) << np.uint64(52)))
