"""The one decorator of all kernels: compiled at first use, kept on disk, running without the GIL."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy.typing as npt

Function = TypeVar("Function", bound=Callable[..., Any])

Array = npt.NDArray[Any]
"""An array as a kernel sees it: numba infers its element type, so that no annotation can add one."""


def kernel(function: Function) -> Function:
    """`function`, compiled by numba. numba has no types: this is the border where that is hidden."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def loop(function: Function) -> Function:
    """The same for a kernel that makes no arrays: numba then counts no references to those it gets.

    Counting costs two locked instructions for every array that is passed on, at every turn.
    """
    return cast(Function, numba.njit(cache=True, nogil=True, _nrt=False)(function))


def inlined(function: Function) -> Function:
    """The same for a part of kernels: copied into its callers, so that calling it costs nothing."""
    return cast(Function, numba.njit(cache=True, nogil=True, inline="always")(function))
