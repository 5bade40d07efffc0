"""What vector instructions are made of: LLVM code for registers of 512 bits.

numba has no vectors, but lets a function be given as LLVM code: an `instruction`. It is compiled
only where a kernel calls it; kernels do so only where `available()`.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import config
from numba.extending import intrinsic

# llvmlite and numba have no types: everything that they hand over is Any.
I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
TARGETS = ir.VectorType(I32, 8)

_NEEDED = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi2", "bmi2")


def instruction(function: Callable[..., Any]) -> Any:
    """A function of LLVM code that kernels may call; numba names its arguments' types to it."""
    return intrinsic(function)


def available() -> bool:
    """Whether the machine that numba compiles for has the instructions."""
    told: Any = config  # numba's types do not name what it was told to compile for
    if told.CPU_FEATURES is not None:
        return all(f"+{name}" in told.CPU_FEATURES.split(",") for name in _NEEDED)
    if told.CPU_NAME is not None:
        return False
    features = binding.get_host_cpu_features()
    return all(features.get(name, False) for name in _NEEDED)


def declared(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """One of LLVM's own functions."""
    known = builder.module.globals.get(name)
    return known or ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def constant(bits: int) -> Any:
    """A number of 32 bits."""
    return ir.Constant(I32, bits)


def load(builder: Any, address: Any, kind: Any, alignment: int) -> Any:
    """What stands at an address."""
    loaded = builder.load(builder.inttoptr(address, kind.as_pointer()))
    loaded.align = alignment
    return loaded


def store(builder: Any, value: Any, address: Any, alignment: int) -> None:
    """Write at an address."""
    stored = builder.store(value, builder.inttoptr(address, value.type.as_pointer()))
    stored.align = alignment


def broadcast(builder: Any, value: Any, kind: Any, lanes: int) -> Any:
    """One value in all lanes."""
    vector = ir.VectorType(kind, lanes)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, constant(0))
    zeros = ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def count(builder: Any, bits: Any) -> Any:
    """How many bits are set."""
    return builder.call(declared(builder, "llvm.ctpop.i32", I32, [I32]), [bits])


def counts(builder: Any, sure: Any, rest: Any) -> Any:
    """Matches + (candidates << 32)."""
    many = builder.zext(count(builder, rest), I64)
    return builder.or_(
        builder.zext(count(builder, sure), I64), builder.shl(many, ir.Constant(I64, 32))
    )


def lanes_of(builder: Any, truths: Any) -> Any:
    """Eight truths as bits."""
    return builder.zext(builder.bitcast(truths, I8), I32)


def up_to_eight(builder: Any, left: Any) -> Any:
    """The lanes of those postings that are left, of the next eight."""
    some = builder.trunc(left, I32)
    eight = builder.select(builder.icmp_signed(">", some, constant(8)), constant(8), some)
    keep = declared(builder, "llvm.x86.bmi.bzhi.32", I32, [I32, I32])
    return builder.call(keep, [constant(255), eight])


def compressed(builder: Any, bits: Any, targets: Any) -> Any:
    """The targets of the lanes whose bits are set, moved to the front."""
    compress = declared(
        builder, "llvm.x86.avx512.mask.compress.v8i32", TARGETS,
        [TARGETS, TARGETS, ir.VectorType(I1, 8)],
    )  # fmt: skip
    mask = builder.bitcast(builder.trunc(bits, I8), ir.VectorType(I1, 8))
    return builder.call(compress, [targets, ir.Constant(TARGETS, None), mask])
