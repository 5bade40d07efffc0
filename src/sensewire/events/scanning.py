"""What the scanning kernels stand on: how they are compiled, and the operations that numba lacks.

    lent(array)             its elements only; see below
    block(data, at)         data[at : at + 8] as one number, the first byte lowest
    product(a, b)           the 128 bits of a × b, as their high and their low half
    leading_zeros(bits)     how many of the highest bits are 0
    first_byte(flags)       of eight bytes, flagged by their highest bits: the first
    as_double(bits)         the double that 64 bits write

A kernel may read up to `PADDING` bytes past the end of a text, so that it can take eight at a time:
whoever calls it makes sure that they are there.

numba counts who holds an array, at every call and every use of a field; that took nine tenths of
the scanner's time. So what Python calls lends its arrays to what it calls itself: there they have
indices and no length, and nobody counts.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types as numba_types
from numba.extending import intrinsic

from sensewire.model.jit import machine_code

PADDING = 256
"""Bytes past the end of a text that a kernel may read, and that mean nothing."""

Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Register = Any
"""A number of 64 bits. numba's numbers are neither Python's nor numpy's, and behave as both."""

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])  # Any: each has its own arguments
_Array = TypeVar("_Array", bound=npt.NDArray[Any])  # Any: of any element


def compiled(kernel: _Kernel) -> _Kernel:
    """The function as machine code: kept on disk, and run without the interpreter's lock."""
    return machine_code(kernel)


def inlined(kernel: _Kernel) -> _Kernel:
    """As `compiled`, and laid into whatever calls it."""
    return machine_code(kernel, forceinline=True)


# Any in what follows: numba's and llvmlite's types and builders have no types of their own.
types: Any = numba_types
_WIDE, _BITS = ir.IntType(128), ir.IntType(64)


def _lent(_typing: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def _block(_typing: Any, data: Any, _at: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), _BITS.as_pointer())
        found = builder.load(address)
        found.align = 1
        return found

    return types.uint64(data, types.int64), generate


def _product(_typing: Any, _left: Any, _right: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = builder.mul(*(builder.zext(argument, _WIDE) for argument in arguments))
        high = builder.trunc(builder.lshr(whole, ir.Constant(_WIDE, 64)), _BITS)
        low = builder.trunc(whole, _BITS)
        return context.make_tuple(builder, signature.return_type, [high, low])

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), generate


def _leading_zeros(_typing: Any, _bits: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def _first_byte(_typing: Any, _flags: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zeros = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.lshr(zeros, ir.Constant(_BITS, 3))

    return types.int64(types.uint64), generate


def _as_double(_typing: Any, _bits: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


lent = cast("Callable[[_Array], _Array]", intrinsic(_lent))
block = cast("Callable[[Bytes, int], Register]", intrinsic(_block))
product = cast("Callable[[Register, Register], tuple[Register, Register]]", intrinsic(_product))
leading_zeros = cast("Callable[[Register], int]", intrinsic(_leading_zeros))
first_byte = cast("Callable[[Register], int]", intrinsic(_first_byte))
as_double = cast("Callable[[Register], float]", intrinsic(_as_double))
