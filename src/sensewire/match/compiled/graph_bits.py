"""Two instructions that kernels of graphs need: the first vertex of a set, and reading ahead."""

from typing import Any

from llvmlite import ir
from numba import types

from sensewire.match.compiled.vectors import I8, I32, declared, instruction

_FOR_READING, _KEPT, _DATA = 0, 3, 1


@instruction
def first_of(typing: Any, members: Any) -> Any:
    """The number of the lowest bit that is set; some is."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), code


@instruction
def read_ahead(typing: Any, array: Any, place: Any) -> Any:
    """Ask the processor for a place of an array that will be read soon."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), I8.as_pointer())
        parameters = [I8.as_pointer(), I32, I32, I32]
        fetch = declared(builder, "llvm.prefetch.p0", ir.VoidType(), parameters)
        builder.call(fetch, [address, I32(_FOR_READING), I32(_KEPT), I32(_DATA)])
        return context.get_dummy_value()

    return types.void(array, place), code
