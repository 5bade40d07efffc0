"""Arrays that grow at their end, in amortised constant time; what was seen stays as it was."""

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

    @classmethod
    def over(cls, array: npt.NDArray[Scalar]) -> "Growing[Scalar]":
        """One that begins with an array, which is read only until something is appended."""
        made = cls(array.dtype.type)
        made._data = array
        made._length = len(array)
        return made

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
        grown = np.empty(max(needed, 2 * len(self._data), 16), dtype=self._data.dtype)
        grown[: self._length] = self._data[: self._length]
        self._data = grown


Item = TypeVar("Item")


class Extended(Generic[Item]):
    """A sequence that is read only, and a list that goes on after it.

    >>> letters = Extended("ab")
    >>> letters.append("c")
    >>> letters[0], letters[2], len(letters)
    ('a', 'c', 3)
    """

    def __init__(self, first: Sequence[Item] = ()) -> None:
        self._first = first
        self._more: list[Item] = []

    def __len__(self) -> int:
        return len(self._first) + len(self._more)

    def __getitem__(self, index: int) -> Item:
        known = len(self._first)
        return self._first[index] if index < known else self._more[index - known]

    def append(self, item: Item) -> None:
        """Add one."""
        self._more.append(item)
