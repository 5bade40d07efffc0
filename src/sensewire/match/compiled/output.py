"""Room for pairs of event and conjunction that grows as they come."""

import numpy as np

from sensewire.match.compiled.jit import Array, Number, kernel


@kernel
def grown(array: Array, filled: Number, needed: Number) -> Array:
    """`array` with room for `needed` elements, the first `filled` of them kept."""
    if needed <= len(array):
        return array
    larger = np.empty(needed + needed // 2, array.dtype)
    larger[:filled] = array[:filled]
    return larger


@kernel
def keep_distinct(array: Array, begin: Number, end: Number) -> Number:
    """Sort array[begin : end], move its distinct values to the front; where they end."""
    if end - begin < 2:
        return end
    array[begin:end].sort()
    kept = begin + 1
    for i in range(begin + 1, end):
        if array[i] != array[kept - 1]:
            array[kept] = array[i]
            kept += 1
    return kept
