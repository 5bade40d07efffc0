"""Many strings as two plain arrays, so that they can be memory-mapped and handed to Arrow as is.

    strings    "fox"  ""  "Zürich"
    offsets     0      3   3        10        int64, one more than there are strings
    utf8        f o x  Z ü ü r i c h          uint8, end to end
                └ 0 ┘  └ 2 ───────┘           string i is utf8[offsets[i] : offsets[i + 1]]

The layout is Arrow's `large_string`, so columns pass between the two without a copy. A column takes
8 bytes a string beside its text; reading one string is a slice of one page or two.

Invariant: the arrays are read-only and offsets ascend from 0 to len(utf8). Made so once, a column
is the same kind of array to a compiled kernel whether it was built a moment ago or mapped from a
file: numba would compile a kernel apart for arrays that can be written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    import pyarrow as pa

Int64 = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """A column of strings.

    >>> names = Strings.of(["fox", "", "Zürich"])
    >>> len(names), names[2], names.offsets.tolist()
    (3, 'Zürich', [0, 3, 3, 10])
    >>> names.take(np.array([2, 0])).to_pylist()
    ['Zürich', 'fox']
    """

    offsets: Int64
    utf8: Bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", read_only(self.offsets))
        object.__setattr__(self, "utf8", read_only(self.utf8))

    @classmethod
    def of(cls, strings: Iterable[str]) -> "Strings":
        """Make a column of strings, in their order; one that UTF-8 cannot write is refused.

        >>> Strings.of(["fox", "half \\ud83e"])
        Traceback (most recent call last):
        ...
        sensewire.model.errors.SensewireError: the string 'half \\ud83e' has half of a surrogate \
pair at character 5: it is no Unicode text and cannot be stored
        """
        import pyarrow as pa

        try:
            column: Any = pa.array(strings, type=pa.large_string())
        except UnicodeEncodeError as error:
            raise SensewireError(
                f"the string {error.object!r} has half of a surrogate pair at character"
                f" {error.start}: it is no Unicode text and cannot be stored"
            ) from None
        if column.null_count:
            raise SensewireError(
                f"{column.null_count} of {len(column)} strings are None: a column has strings only"
            )
        _, offsets, utf8 = column.buffers()
        return cls(
            np.frombuffer(offsets, dtype=np.int64)[: len(column) + 1],
            np.frombuffer(utf8, dtype=np.uint8),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < len(self):
            raise IndexError(f"there is no string {number}: the column has {len(self)}")
        return self.utf8[self.offsets[number] : self.offsets[number + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self)):
            yield self[number]

    def take(self, numbers: npt.NDArray[np.integer[Any]]) -> "pa.LargeStringArray":
        """The strings of these numbers, in their order; a number that is not there is an error.

        The column itself is not copied, nor read beyond the strings that are taken. Where `string`
        is wanted, `.cast("string")` shares the text and narrows the offsets.
        """
        import pyarrow as pa

        taken: pa.LargeStringArray = self.arrow().take(pa.array(numbers))
        return taken

    def arrow(self) -> "pa.LargeStringArray":
        """The whole column as an Arrow array over the same memory."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.offsets.data), pa.py_buffer(self.utf8.data)]
        column: Any = pa.Array.from_buffers(pa.large_string(), len(self), buffers, null_count=0)
        whole: pa.LargeStringArray = column
        return whole


def read_only(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The same memory, as an array that cannot be written."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
