"""The decorators of all kernels: compiled at first use, kept on disk, running without the GIL.

numba keeps what it compiled for a file until that file changes, even if another one has changed
that it calls: who edits a kernel touches those that use it, or empties the cache.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

Function = TypeVar("Function", bound=Callable[..., Any])

# numba infers all types of a kernel from its arguments; what mypy knows of Python's and numpy's
# numbers is not how they behave there. So inside kernels they are Any, by these names.
Array = npt.NDArray[Any]
Number = Any
int32: Any = np.int32
int64: Any = np.int64
uint32: Any = np.uint32
uint64: Any = np.uint64


def kernel(function: Function) -> Function:
    """`function`, compiled by numba; to mypy it stays what it was."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def loop(function: Function) -> Function:
    """The same for a kernel that makes no arrays: numba then counts no references to those it gets.

    Counting costs two locked instructions for every array that is passed on, at every turn.
    """
    options: Any = {"_nrt": False}  # numba's types do not name it
    return cast(Function, numba.njit(cache=True, nogil=True, **options)(function))


def inlined(function: Function) -> Function:
    """The same for a part of kernels: copied into its callers, so that calling it costs nothing."""
    return cast(Function, numba.njit(cache=True, nogil=True, inline="always")(function))
