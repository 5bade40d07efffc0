"""Functions as machine code: compiled by numba at first use, kept on disk, run without the GIL.

numba keeps what it compiled until the function's own file changes, although functions and constants
of other files have gone into it. So that no kernel outlives a change elsewhere, each is kept until
its file, or a file with kernels that this one imports, changes. Where nothing can be written, every
process compiles anew.
"""

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_MARKS = (b"import numba", b"from numba", b"jit import", b"scanning import")
"""What stands in a file with kernels."""
_PACKAGE = Path(__file__).parent.parent
_IMPORTED = re.compile(rb"^\s*(?:from|import) sensewire\.([\w.]+)", re.MULTILINE)


def machine_code(function: Function, **options: Any) -> Function:
    """The function, compiled when it is first called; to mypy it stays what it was."""
    try:
        compiled: Any = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # there is no folder to keep it in
        return cast("Function", numba.njit(nogil=True, **options)(function))
    compiled._cache._cache_file._source_stamp = _stamp(function.__code__.co_filename)
    return cast("Function", compiled)


@cache
def _stamp(file: str) -> bytes:
    """What a file and the files with kernels that it imports, near or far, say: in one hash."""
    own = Path(file).read_bytes()
    seen: dict[str, bytes] = {}
    left = _IMPORTED.findall(own)
    while left:
        name = left.pop().decode()
        if name not in seen:
            seen[name] = _text(name)
            left += _IMPORTED.findall(seen[name])
    stamp = hashlib.sha256(own)
    for name in sorted(seen):
        stamp.update(seen[name])
    return stamp.digest()


@cache
def _text(name: str) -> bytes:
    """What a module says, if it has kernels; what the others say makes no difference."""
    path = _PACKAGE.joinpath(*name.split(".")).with_suffix(".py")
    text = path.read_bytes() if path.is_file() else b""
    return text if any(mark in text for mark in _MARKS) else b""
