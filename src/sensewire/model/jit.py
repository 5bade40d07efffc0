"""Functions as machine code: compiled by numba at first use, kept on disk, run without the GIL.

numba keeps what it compiled until the function's own file changes, although functions and constants
of other files have gone into it. So that no kernel outlives a change elsewhere, kernels are kept
until any file with kernels changes. Where nothing can be written, every process compiles anew.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_MARKS = (b"import numba", b"from numba", b"jit import", b"scanning import")
"""What stands in a file with kernels."""


def machine_code(function: Function, **options: Any) -> Function:
    """The function, compiled when it is first called; to mypy it stays what it was."""
    try:
        compiled: Any = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # there is no folder to keep it in
        return cast("Function", numba.njit(nogil=True, **options)(function))
    compiled._cache._cache_file._source_stamp = _stamp()
    return cast("Function", compiled)


@cache
def _stamp() -> bytes:
    """What all files with kernels say, in one hash."""
    stamp = hashlib.sha256()
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
        text = path.read_bytes()
        if any(mark in text for mark in _MARKS):
            stamp.update(text)
    return stamp.digest()
