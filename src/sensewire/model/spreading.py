"""Lists of numbers, laid out one after another: those of chosen ones, with whose they are."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sensewire.model.jit import machine_code

Int64 = npt.NDArray[np.int64]


@machine_code
def spread(chosen: npt.NDArray[Any], offsets: Int64, listed: npt.NDArray[Any]) -> tuple[Any, Any]:
    """The numbers in the lists of those chosen: for each the place among them, and itself.

    >>> offsets, listed = np.array([0, 2, 2, 3]), np.array([7, 8, 9])
    >>> [found.tolist() for found in spread(np.array([2, 1, 0, 2]), offsets, listed)]
    [[0, 2, 2, 3], [9, 7, 8, 9]]
    """
    total = 0
    for place in range(len(chosen)):
        number = chosen[place]
        total += offsets[number + 1] - offsets[number]
    places = np.empty(total, np.int64)
    found = np.empty(total, np.int64)
    filled = 0
    for place in range(len(chosen)):
        number = chosen[place]
        for at in range(offsets[number], offsets[number + 1]):
            places[filled] = place
            found[filled] = listed[at]
            filled += 1
    return places, found


@machine_code
def spread_one_or_many(
    chosen: npt.NDArray[Any], alone: Int64, first: int, offsets: Int64, listed: npt.NDArray[Any]
) -> tuple[Any, Any]:
    """The same where most lists are of one number, which stands in `alone`, −1 for none; those of
    `first` and below are the lists, backwards.

    >>> alone, offsets, listed = np.array([5, -1, -2]), np.array([0, 2]), np.array([7, 8])
    >>> found = spread_one_or_many(np.array([0, 1, 2]), alone, -2, offsets, listed)
    >>> [each.tolist() for each in found]
    [[0, 2, 2], [5, 7, 8]]
    """
    total = 0
    for place in range(len(chosen)):
        number = alone[chosen[place]]
        if number >= 0:
            total += 1
        elif number <= first:
            total += offsets[first - number + 1] - offsets[first - number]
    places = np.empty(total, np.int64)
    found = np.empty(total, np.int64)
    filled = 0
    for place in range(len(chosen)):
        number = alone[chosen[place]]
        if number >= 0:
            places[filled] = place
            found[filled] = number
            filled += 1
        elif number <= first:
            for at in range(offsets[first - number], offsets[first - number + 1]):
                places[filled] = place
                found[filled] = listed[at]
                filled += 1
    return places, found
