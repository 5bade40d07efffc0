"""The decorators of the index's kernels, and the types of what they take."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sensewire.model.jit import machine_code

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
    return machine_code(function)


def loop(function: Function) -> Function:
    """The same for a kernel that makes no arrays: numba then counts no references to those it gets.

    Counting costs two locked instructions for every array that is passed on, at every turn.
    """
    return machine_code(function, _nrt=False)


def inlined(function: Function) -> Function:
    """The same for a part of kernels: copied into its callers, so that calling it costs nothing."""
    return machine_code(function, inline="always")
