"""Eight postings at once, for events with many values on a slot: by bitmaps of their codes.

    16 words      the two words of eight postings, or the words of a body twice
    split         low and high │ column and forbidden, by `vpermt2d`
    gathered      the part of the column's bitmap that has the word's code, by `vpgatherdd`
    met           the bit is set, or, where the word forbids the code, is not

Words of more than one rank are left to others. Nothing branches, and stores reach behind the last
result, as in `simd`.
"""

from typing import Any

from llvmlite import ir
from numba import types

from sensewire.match.compiled.layout import BITS
from sensewire.match.compiled.vectors import (
    I1,
    I8,
    I16,
    I32,
    I64,
    TARGETS,
    broadcast,
    compressed,
    constant,
    counts,
    declared,
    instruction,
    lanes_of,
    load,
    store,
    up_to_eight,
)

_PARTS = ir.VectorType(I32, 16)


def _bits_meet(builder: Any, first: Any, second: Any, bits: Any) -> tuple[Any, Any]:
    """For 8 words and 8 more at two addresses: which are of one rank; and for which the event has
    that rank, or lacks it where the word forbids it. Masks of 16 bits."""

    def each(number: int) -> Any:
        return ir.Constant(_PARTS, [number] * 16)

    def parts(begin: int) -> Any:
        lanes = ir.Constant(ir.VectorType(I32, 16), list(range(begin, 32, 2)))
        words = (load(builder, address, _PARTS, 8) for address in (first, second))
        return builder.shuffle_vector(*words, lanes)

    bounds, rest = parts(0), parts(1)
    low, high = builder.and_(bounds, each(0xFFFF)), builder.lshr(bounds, each(16))
    column, kind = builder.and_(rest, each(63)), builder.and_(rest, each(3 << 6))
    code = builder.or_(low, builder.lshr(rest, each(16)))  # one of them is 0
    gather = declared(
        builder, "llvm.x86.avx512.mask.gather.dpi.512", _PARTS,
        [_PARTS, I8.as_pointer(), _PARTS, ir.VectorType(I1, 16), I32],
    )  # fmt: skip
    place = builder.add(builder.mul(column, each(2 * BITS)), builder.lshr(code, each(5)))
    base = builder.inttoptr(bits, I8.as_pointer())
    all_lanes = ir.Constant(ir.VectorType(I1, 16), [1] * 16)
    found = builder.call(gather, [each(0), base, place, all_lanes, constant(4)])
    bit = builder.shl(each(1), builder.and_(code, each(31)))
    has = builder.icmp_unsigned("!=", builder.and_(found, bit), each(0))
    forbids = builder.icmp_unsigned("==", low, each(0))
    single = builder.or_(builder.icmp_unsigned("==", low, high), forbids)
    single = builder.and_(single, builder.icmp_unsigned("==", kind, each(0)))

    def mask(truths: Any) -> Any:
        return builder.zext(builder.bitcast(truths, I16), I32)

    return mask(single), mask(builder.xor(has, forbids))


@instruction
def block_of_bits(
    context: Any,
    first: Any,
    second: Any,
    target: Any,
    bits: Any,
    place: Any,
    left: Any,
    out_conjunction: Any,
    candidates: Any,
) -> Any:
    """Try 8 postings on an event that may have many ranks on a slot, by its bitmaps: matches +
    (candidates << 32). Those who pass all words of one rank, and have others, are candidates,
    stored by their places."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        first, second, target, bits, place, left, out_conjunction, candidates = arguments
        single, met = _bits_meet(builder, first, second, bits)

        def both(mask: Any) -> Any:
            return builder.and_(mask, builder.lshr(mask, constant(8)))

        passed = both(builder.or_(met, builder.not_(single)))
        passed = builder.and_(passed, up_to_eight(builder, left))
        targets = load(builder, target, TARGETS, 4)
        signs = builder.icmp_signed("<", targets, ir.Constant(TARGETS, None))
        direct = builder.and_(lanes_of(builder, signs), both(single))
        sure, rest = builder.and_(passed, direct), builder.and_(passed, builder.not_(direct))
        numbers = ir.Constant(TARGETS, [0x7FFFFFFF] * 8)
        found = builder.and_(compressed(builder, sure, targets), numbers)
        store(builder, found, out_conjunction, 4)
        places = broadcast(builder, builder.trunc(place, I32), I32, 8)
        places = builder.add(places, ir.Constant(TARGETS, list(range(8))))
        store(builder, compressed(builder, rest, places), candidates, 4)
        return counts(builder, sure, rest)

    return types.int64(*([types.int64] * 8)), generate


@instruction
def body_of_bits(context: Any, body: Any, bits: Any) -> Any:
    """Whether such an event meets the words 1 … 7 of a body: 0 it does, 1 it fails one of one
    rank, 2 there are other words, or a tail."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        body, bits = arguments
        header = load(builder, body, I64, 8)
        single, met = _bits_meet(builder, body, body, bits)
        masks = builder.trunc(builder.lshr(header, ir.Constant(I64, 32)), I32)
        ranges = builder.and_(masks, constant(255))
        others = builder.lshr(masks, constant(8))  # sets, pairs, tail
        others = builder.or_(others, builder.and_(ranges, builder.not_(single)))
        failed = builder.and_(ranges, builder.and_(single, builder.not_(met)))
        zero, first, second = (ir.Constant(I64, number) for number in range(3))
        open = builder.select(builder.icmp_unsigned("!=", others, constant(0)), second, zero)
        return builder.select(builder.icmp_unsigned("!=", failed, constant(0)), first, open)

    return types.int64(types.int64, types.int64), generate
