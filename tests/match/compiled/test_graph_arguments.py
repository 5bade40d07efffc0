"""Arrays that a kernel takes as one argument.

Planted and caught here: a length of the array before; a kind that is not looked at.
"""

from typing import NamedTuple

import numpy as np
import pytest

from sensewire.match.compiled.graph_arguments import addresses, arrays_at
from sensewire.match.compiled.jit import Array, Number, loop

KINDS = (np.int32, np.uint8, np.float64)


class Three(NamedTuple):
    """Arrays by their names."""

    first: Array
    second: Array
    third: Array


_arrays_at = arrays_at(Three, KINDS)


@loop
def summed(written: Array, sums: Array) -> Number:
    """The sum of each array; the last item of the first is set to 0."""
    made = _arrays_at(written)
    first, second, third = made.first, made.second, made.third
    sums[:] = 0
    for each in first:
        sums[0] += each
    for each in second:
        sums[1] += each
    for each in third:
        sums[2] += each
    if len(first):
        first[-1] = 0
    return len(first) + len(second) + len(third)


def test_a_kernel_reads_and_writes_the_arrays_themselves() -> None:
    arrays = np.array([1, -2, 5], np.int32), np.array([255], np.uint8), np.array([0.5, 0.25])
    sums = np.zeros(3)
    assert summed(addresses(arrays, KINDS), sums) == 6
    assert sums.tolist() == [4, 255, 0.75]
    assert arrays[0].tolist() == [1, -2, 0]


def test_empty_arrays_are_none_to_walk() -> None:
    arrays = tuple(np.empty(0, kind) for kind in KINDS)
    sums = np.ones(3)
    assert summed(addresses(arrays, KINDS), sums) == 0
    assert not sums.any()


@pytest.mark.parametrize(
    "wrong", [np.zeros(2, np.int64), np.zeros((2, 2), np.int32), np.zeros(4, np.int32)[::2]]
)
def test_an_array_that_would_be_read_wrongly_is_refused(wrong: Array) -> None:
    with pytest.raises(TypeError, match="argument 0"):
        addresses((wrong, np.zeros(1, np.uint8), np.zeros(1)), KINDS)
