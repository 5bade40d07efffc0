"""The decorators of all kernels: compiled at first use, kept on disk, running without the GIL.

numba keeps what it compiled for a function until the function's own file changes, although other
files' functions and constants have gone into it. So that no kernel outlives a change elsewhere, of
the layout for one, kernels are kept until any file with kernels in this folder changes.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
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
    return _compiled(function)


def loop(function: Function) -> Function:
    """The same for a kernel that makes no arrays: numba then counts no references to those it gets.

    Counting costs two locked instructions for every array that is passed on, at every turn.
    """
    return _compiled(function, _nrt=False)


def inlined(function: Function) -> Function:
    """The same for a part of kernels: copied into its callers, so that calling it costs nothing."""
    return _compiled(function, inline="always")


def _compiled(function: Function, **options: Any) -> Function:
    compiled: Any = numba.njit(cache=True, nogil=True, **options)(function)
    compiled._cache._cache_file._source_stamp = _stamp()
    return cast(Function, compiled)


@cache
def _stamp() -> bytes:
    """What all files with kernels say, in one hash."""
    stamp = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        text = path.read_bytes()
        if b"compiled.jit import" in text or b"numba" in text:
            stamp.update(text)
    return stamp.digest()
