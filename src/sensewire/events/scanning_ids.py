"""Where the id of a JSON record stands, and ids as an Arrow column, without Python for each.

An id is a string that is not empty, or an integer, as `flatten.id_in` finds it: under the field's
whole name, or at its dotted path through objects only. What is written in a way that takes more
than copying (escapes, -0) is left to the plain decoder.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sensewire.events.scanning import Bytes, Int64, Register, compiled, inlined
from sensewire.model.facts import INTEGER, WORD, Ids

_QUOTE, _BACKSLASH, _MINUS, _ZERO = ord('"'), ord("\\"), ord("-"), ord("0")
_END_OF_OBJECT = ord("}")
_ODD = np.int64(-1)
_NONE = np.int64(0)


@inlined
def id_span(
    data: Bytes, start: int, end: int, kind: int, depth: int, dots: int, closing: Bytes
) -> tuple[Register, Register]:
    """From where to where the bytes of an id go; 0, 0 where the value is none; −1 makes it odd."""
    for level in range(depth + 1):
        if closing[level] != _END_OF_OBJECT:
            return _NONE, _NONE  # in a list
    if depth != 0 and depth != dots:
        return _ODD, _NONE  # "a.b" in one key, "c" below it: no path that names an id
    byte = data[start]
    if byte == _QUOTE:
        for at in range(start + 1, end - 1):
            if data[at] == _BACKSLASH:
                return _ODD, _NONE
        return np.int64(start + 1), np.int64(end - 1)
    if byte == _MINUS and data[start + 1] == _ZERO:
        return _ODD, _NONE
    if kind == INTEGER or (kind == WORD and (byte == _MINUS or _ZERO <= byte <= _ZERO + 9)):
        return np.int64(start), np.int64(end)
    return _NONE, _NONE


def ids_in(data: Bytes, spans: Int64) -> Ids:
    """The ids as a column: the bytes between two places each, null for none."""
    starts, ends = spans[0::2], spans[1::2]
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    texts = _gathered(data, starts, offsets)
    missing = ends == starts
    validity = np.packbits(~missing, bitorder="little") if missing.any() else None
    buffers = [
        None if validity is None else pa.py_buffer(validity.data),
        pa.py_buffer(offsets.data),
        pa.py_buffer(texts.data),
    ]
    ids: Ids = pa.Array.from_buffers(pa.large_string(), len(starts), buffers)
    return ids.cast(pa.string())


@compiled
def _gathered(data: Bytes, starts: Int64, offsets: Int64) -> npt.NDArray[np.uint8]:
    result = np.empty(offsets[-1], np.uint8)
    for row in range(len(starts)):
        begin, to = starts[row], offsets[row]
        for at in range(offsets[row + 1] - to):
            result[to + at] = data[begin + at]
    return result
