"""Arrays that grow at their end, in amortised constant time; what was seen of one stays as it was."""

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Scalar = TypeVar("Scalar", bound=np.generic)


class Growing(Generic[Scalar]):
    """An array to append to.

    >>> numbers = Growing(np.int32)
    >>> numbers.extend([1, 2]); numbers.append(3)
    >>> numbers.view.tolist(), len(numbers)
    ([1, 2, 3], 3)
    """

    def __init__(self, kind: type[Scalar], first: Sequence[float] = ()) -> None:
        self._data: npt.NDArray[Scalar] = np.empty(max(16, len(first)), dtype=kind)
        self._length = 0
        self.extend(first)

    def __len__(self) -> int:
        return self._length

    @property
    def view(self) -> npt.NDArray[Scalar]:
        """What it holds now; what is appended later is not seen in it."""
        return self._data[: self._length]

    def append(self, value: float) -> None:
        """Add one."""
        if self._length == len(self._data):
            self._reserve(self._length + 1)
        self._data[self._length] = value
        self._length += 1

    def extend(self, values: Sequence[float] | npt.NDArray[Scalar]) -> None:
        """Add many."""
        end = self._length + len(values)
        if end > len(self._data):
            self._reserve(end)
        self._data[self._length : end] = values
        self._length = end

    def _reserve(self, needed: int) -> None:
        grown = np.empty(max(needed, 2 * len(self._data)), dtype=self._data.dtype)
        grown[: self._length] = self._data[: self._length]
        self._data = grown
