"""Many arrays as one argument: where they lie, and how long they are.

Handing an array to a kernel takes some 40 ns, as long as trying a pattern, and kernels of graphs
take dozens: tables and room that are the same from call to call. So they are written down once, as
numbers in an array, and a kernel makes arrays of them again. One kernel calls another in the same
way, since seven words an array are too many to be copied for each fact that fits something.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.np import arrayobj
from numba.np.numpy_support import from_dtype

from sensewire.match.compiled.jit import Array
from sensewire.match.compiled.vectors import I64, instruction

# numba has no types here: everything that it makes is Any.
_types: Any = types
_arrays: Any = arrayobj


def arrays_at(named: type, kinds: Sequence[type]) -> Any:
    """What a kernel calls with what `addresses` wrote down, to have arrays of these kinds again, by
    the names of a `NamedTuple`."""
    arrays = [_types.Array(from_dtype(np.dtype(kind)), 1, "C") for kind in kinds]

    @instruction
    def unpacked(typing: Any, written: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words = _arrays.make_array(signature.args[0])(context, builder, arguments[0]).data

            def word(place: int) -> Any:
                return builder.load(builder.gep(words, [I64(place)]))

            made = []
            for number, array in enumerate(arrays):
                item = context.get_abi_sizeof(context.get_data_type(array.dtype))
                data = context.get_data_type(array.dtype).as_pointer()
                one = _arrays.make_array(array)(context, builder)
                _arrays.populate_array(
                    one,
                    data=builder.inttoptr(word(2 * number), data),
                    shape=[word(2 * number + 1)],
                    strides=[I64(item)],
                    itemsize=I64(item),
                    meminfo=None,
                )
                made.append(one._getvalue())
            return context.make_tuple(builder, signature.return_type, made)

        return _types.NamedTuple(arrays, named)(written), code

    return unpacked


def addresses(arrays: Sequence[Array], kinds: Sequence[type]) -> Array:
    """Where arrays lie and how long they are; whoever hands that on must keep the arrays."""
    written = np.empty(2 * len(kinds), np.int64)
    for number, (array, kind) in enumerate(zip(arrays, kinds, strict=True)):
        if array.dtype != kind or array.ndim != 1 or not array.flags.c_contiguous:
            raise TypeError(f"argument {number} is {array.dtype} in {array.ndim} dimensions")
        written[2 * number] = array.__array_interface__["data"][0]
        written[2 * number + 1] = len(array)
    return written
