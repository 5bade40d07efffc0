"""Eight postings at once: the innermost step of matching, as AVX-512 instructions.

For plain events, which are rows of codes; those with many values on a slot have `simd_bits`.

    event's row   64 codes of 16 bits in two registers
    8 words       low high column forbidden │ low high column forbidden │ …
    permuted      the column's code, four times over, by `vpermi2w`
    compared      code < low, code > high, code = forbidden: three masks of 32 bits,
                  of which `pext` takes each fourth bit
    compressed    `vpcompressd` moves the targets of the postings that pass to the front; they are
                  stored whole, and only the count says how many of them stand

Nothing branches. Stores may reach 8 elements behind the last result: buffers keep that room.
"""

from typing import Any

from llvmlite import ir
from numba import types

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
    count,
    counts,
    declared,
    instruction,
    lanes_of,
    load,
    store,
    up_to_eight,
)

_HALVES = ir.VectorType(I16, 32)
_WORDS = ir.VectorType(I64, 8)
_BYTES = ir.VectorType(I8, 32)
_EACH_FOURTH = 0x11111111


def _mask(builder: Any, comparison: str, left: Any, right: Any) -> Any:
    return builder.bitcast(builder.icmp_unsigned(comparison, left, right), I32)


def _gathered(builder: Any, bits: Any) -> Any:
    extract = declared(builder, "llvm.x86.bmi.pext.32", I32, [I32, I32])
    return builder.call(extract, [bits, constant(_EACH_FOURTH)])


def _row(builder: Any, address: Any) -> tuple[Any, Any]:
    beyond = builder.add(address, ir.Constant(I64, 64))
    return load(builder, address, _HALVES, 64), load(builder, beyond, _HALVES, 64)


def _codes(builder: Any, row: tuple[Any, Any], words: Any) -> Any:
    """For each of 8 words the row's code in its column, in all four lanes."""
    lanes = ir.Constant(ir.VectorType(I32, 32), [4 * (lane // 4) + 2 for lane in range(32)])
    columns = builder.shuffle_vector(words, ir.Constant(_HALVES, ir.Undefined), lanes)
    permute = declared(
        builder, "llvm.x86.avx512.vpermi2var.hi.512", _HALVES, [_HALVES, _HALVES, _HALVES]
    )
    return builder.call(permute, [row[0], columns, row[1]])


def _failed(builder: Any, codes: Any, words: Any) -> Any:
    """Each fourth bit: the word is not met as a RANGE."""
    failed = _mask(builder, "<", codes, words)
    failed = builder.or_(failed, builder.lshr(_mask(builder, ">", codes, words), constant(1)))
    return builder.or_(failed, builder.lshr(_mask(builder, "==", codes, words), constant(3)))


def _failed_grid(builder: Any, key: Any, words: Any) -> Any:
    """Each fourth bit: one of the word's two ranges does not hold its half of the key."""
    codes = builder.bitcast(broadcast(builder, key, I64, 8), _HALVES)
    low = builder.and_(_mask(builder, "<", codes, words), constant(0x55555555))
    high = builder.and_(_mask(builder, ">", codes, words), constant(0xAAAAAAAA))
    failed = builder.or_(low, high)
    failed = builder.or_(failed, builder.lshr(failed, constant(1)))
    return builder.or_(failed, builder.lshr(failed, constant(2)))


def _block(builder: Any, arguments: Any, grid: bool) -> Any:
    (first, second, target, row_at, key, left, local, event, out_event, out_conjunction,
     candidates) = arguments  # fmt: skip
    row = _row(builder, row_at)
    words, more = load(builder, first, _HALVES, 8), load(builder, second, _HALVES, 8)
    if grid:
        failed = _failed_grid(builder, key, words)
    else:
        failed = _failed(builder, _codes(builder, row, words), words)
    failed = builder.or_(failed, _failed(builder, _codes(builder, row, more), more))
    passed = _gathered(builder, builder.not_(failed))
    passed = builder.and_(passed, up_to_eight(builder, left))
    targets = load(builder, target, TARGETS, 4)
    signs = builder.icmp_signed("<", targets, ir.Constant(TARGETS, None))
    direct = lanes_of(builder, signs)
    sure, rest = builder.and_(passed, direct), builder.and_(passed, builder.not_(direct))
    numbers = ir.Constant(TARGETS, [0x7FFFFFFF] * 8)
    store(builder, builder.and_(compressed(builder, sure, targets), numbers), out_conjunction, 4)
    store(builder, broadcast(builder, builder.trunc(event, I32), I32, 8), out_event, 4)
    place = builder.zext(compressed(builder, rest, targets), _WORDS)
    whose = broadcast(builder, builder.shl(local, ir.Constant(I64, 32)), I64, 8)
    store(builder, builder.or_(place, whose), candidates, 8)
    return counts(builder, sure, rest)


_BLOCK = types.int64(*([types.int64] * 11))


@instruction
def block(
    context: Any,
    first: Any,
    second: Any,
    target: Any,
    row: Any,
    key: Any,
    left: Any,
    local: Any,
    event: Any,
    out_event: Any,
    out_conjunction: Any,
    candidates: Any,
) -> Any:
    """Try 8 postings of an ordinary list: matches + (candidates << 32), both stored."""
    return _BLOCK, lambda _context, builder, _signature, arguments: _block(
        builder, arguments, grid=False
    )


@instruction
def block_of_grid(
    context: Any,
    first: Any,
    second: Any,
    target: Any,
    row: Any,
    key: Any,
    left: Any,
    local: Any,
    event: Any,
    out_event: Any,
    out_conjunction: Any,
    candidates: Any,
) -> Any:
    """The same in a list of the grid, with the key of the event's two codes."""
    return _BLOCK, lambda _context, builder, _signature, arguments: _block(
        builder, arguments, grid=True
    )


@instruction
def unmet(context: Any, body: Any, row: Any) -> Any:
    """Not 0 where the event's row fails one of the words 1 … 7 of a body."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        words = load(builder, arguments[0], _HALVES, 8)
        header = load(builder, arguments[0], I64, 8)
        codes = _codes(builder, _row(builder, arguments[1]), words)
        failed = _gathered(builder, _failed(builder, codes, words))
        equal = _mask(builder, "==", codes, words)
        equal = builder.and_(equal, constant(0xBBBBBBBB))  # the column's lane means nothing
        hit = builder.or_(equal, builder.lshr(equal, constant(1)))
        hit = _gathered(builder, builder.or_(hit, builder.lshr(equal, constant(3))))

        def mask(shift: int) -> Any:
            moved = builder.trunc(builder.lshr(header, ir.Constant(I64, shift)), I32)
            return builder.and_(moved, constant(255))

        ranges, sets, pairs = mask(32), mask(40), mask(48)
        bad = builder.and_(ranges, builder.xor(failed, sets))
        missed = builder.and_(sets, builder.not_(builder.or_(ranges, hit)))
        hit_either = builder.or_(hit, builder.lshr(hit, constant(1)))
        missed = builder.or_(missed, builder.and_(pairs, builder.not_(hit_either)))
        return builder.zext(builder.or_(bad, missed), I64)

    return types.int64(types.int64, types.int64), generate


@instruction
def cells_of_32(
    context: Any,
    left: Any,
    right: Any,
    left_present: Any,
    right_present: Any,
    local: Any,
    shift: Any,
    side: Any,
    events: Any,
    cells: Any,
) -> Any:
    """Of 32 events those with both slots, and their cells: stored compressed; how many."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (left, right, left_present, right_present, local, shift, side, events,
         cells) = arguments  # fmt: skip

        def spread(value: Any) -> Any:
            return broadcast(builder, builder.trunc(value, I16), I16, 32)

        rows = builder.zext(load(builder, left, _BYTES, 1), _HALVES)
        columns = builder.zext(load(builder, right, _BYTES, 1), _HALVES)
        both = builder.and_(
            load(builder, left_present, _BYTES, 1), load(builder, right_present, _BYTES, 1)
        )
        present = builder.icmp_unsigned("!=", both, ir.Constant(_BYTES, None))
        compress = declared(
            builder, "llvm.x86.avx512.mask.compress.v32i16", _HALVES,
            [_HALVES, _HALVES, ir.VectorType(I1, 32)],
        )  # fmt: skip
        rows = builder.shl(builder.lshr(rows, spread(shift)), spread(side))
        cell = builder.or_(rows, builder.lshr(columns, spread(shift)))
        number = builder.add(spread(local), ir.Constant(_HALVES, list(range(32))))
        nothing = ir.Constant(_HALVES, None)
        store(builder, builder.call(compress, [number, nothing, present]), events, 2)
        store(builder, builder.call(compress, [cell, nothing, present]), cells, 2)
        return builder.zext(count(builder, builder.bitcast(present, I32)), I64)

    return types.int64(*([types.int64] * 9)), generate


@instruction
def fetch(context: Any, address: Any) -> Any:
    """Ask for the memory at an address, ahead of its use. Every machine has this one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], I8.as_pointer())
        ask = declared(builder, "llvm.prefetch.p0", ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
        builder.call(ask, [pointer, constant(0), constant(3), constant(1)])
        return ir.Constant(I64, 0)

    return types.int64(types.int64), generate


@instruction
def lowest_bit(context: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set. Every machine has this one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zeros = declared(builder, "llvm.cttz.i32", I32, [I32, I1])
        return builder.call(zeros, [arguments[0], ir.Constant(I1, 1)])

    return types.uint32(types.uint32), generate
