"""Eight postings at once: the innermost step of matching, as AVX-512 instructions.

numba has no vectors, but lets a function be given as LLVM code. Each function here stands for a few
instructions on registers of 512 bits, and is compiled only where a kernel calls it; kernels do so
only where `available()`.

    event's row   64 codes of 16 bits in two registers
    8 words       low high column forbidden │ low high column forbidden │ …
    permuted      the column's code, four times over, by `vpermi2w`
    compared      code < low, code > high, code = forbidden: three masks of 32 bits,
                  of which `pext` takes each fourth bit
    compressed    `vpcompressd` moves the targets of the postings that pass to the front; they are
                  stored whole, and only the count says how many of them stand

Nothing branches. Stores may reach 8 elements behind the last result: buffers keep that room.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import config, types
from numba.extending import intrinsic

from sensewire.match.compiled.layout import BITS

# llvmlite and numba have no types: everything that they hand over is Any.
_I1, _I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
_HALVES = ir.VectorType(_I16, 32)
_TARGETS = ir.VectorType(_I32, 8)
_WORDS = ir.VectorType(_I64, 8)
_PARTS = ir.VectorType(_I32, 16)
_BYTES = ir.VectorType(_I8, 32)
_EACH_FOURTH = 0x11111111

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


def _function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    known = builder.module.globals.get(name)
    return known or ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def _constant(bits: int) -> Any:
    return ir.Constant(_I32, bits)


def _load(builder: Any, address: Any, kind: Any, alignment: int) -> Any:
    loaded = builder.load(builder.inttoptr(address, kind.as_pointer()))
    loaded.align = alignment
    return loaded


def _store(builder: Any, value: Any, address: Any, alignment: int) -> None:
    stored = builder.store(value, builder.inttoptr(address, value.type.as_pointer()))
    stored.align = alignment


def _broadcast(builder: Any, value: Any, kind: Any, lanes: int) -> Any:
    vector = ir.VectorType(kind, lanes)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, _constant(0))
    zeros = ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _mask(builder: Any, comparison: str, left: Any, right: Any) -> Any:
    return builder.bitcast(builder.icmp_unsigned(comparison, left, right), _I32)


def _gathered(builder: Any, bits: Any) -> Any:
    extract = _function(builder, "llvm.x86.bmi.pext.32", _I32, [_I32, _I32])
    return builder.call(extract, [bits, _constant(_EACH_FOURTH)])


def _count(builder: Any, bits: Any) -> Any:
    return builder.call(_function(builder, "llvm.ctpop.i32", _I32, [_I32]), [bits])


def _counts(builder: Any, sure: Any, rest: Any) -> Any:
    many = builder.zext(_count(builder, rest), _I64)
    return builder.or_(
        builder.zext(_count(builder, sure), _I64), builder.shl(many, ir.Constant(_I64, 32))
    )


def _lanes(builder: Any, truths: Any) -> Any:
    """Eight truths as bits."""
    return builder.zext(builder.bitcast(truths, _I8), _I32)


def _up_to_eight(builder: Any, left: Any) -> Any:
    """The lanes of those postings that are left, of the next eight."""
    some = builder.trunc(left, _I32)
    eight = builder.select(builder.icmp_signed(">", some, _constant(8)), _constant(8), some)
    keep = _function(builder, "llvm.x86.bmi.bzhi.32", _I32, [_I32, _I32])
    return builder.call(keep, [_constant(255), eight])


def _row(builder: Any, address: Any) -> tuple[Any, Any]:
    beyond = builder.add(address, ir.Constant(_I64, 64))
    return _load(builder, address, _HALVES, 64), _load(builder, beyond, _HALVES, 64)


def _codes(builder: Any, row: tuple[Any, Any], words: Any) -> Any:
    """For each of 8 words the row's code in its column, in all four lanes."""
    lanes = ir.Constant(ir.VectorType(_I32, 32), [4 * (lane // 4) + 2 for lane in range(32)])
    columns = builder.shuffle_vector(words, ir.Constant(_HALVES, ir.Undefined), lanes)
    permute = _function(
        builder, "llvm.x86.avx512.vpermi2var.hi.512", _HALVES, [_HALVES, _HALVES, _HALVES]
    )
    return builder.call(permute, [row[0], columns, row[1]])


def _failed(builder: Any, codes: Any, words: Any) -> Any:
    """Each fourth bit: the word is not met as a RANGE."""
    failed = _mask(builder, "<", codes, words)
    failed = builder.or_(failed, builder.lshr(_mask(builder, ">", codes, words), _constant(1)))
    return builder.or_(failed, builder.lshr(_mask(builder, "==", codes, words), _constant(3)))


def _failed_grid(builder: Any, key: Any, words: Any) -> Any:
    """Each fourth bit: one of the word's two ranges does not hold its half of the key."""
    codes = builder.bitcast(_broadcast(builder, key, _I64, 8), _HALVES)
    low = builder.and_(_mask(builder, "<", codes, words), _constant(0x55555555))
    high = builder.and_(_mask(builder, ">", codes, words), _constant(0xAAAAAAAA))
    failed = builder.or_(low, high)
    failed = builder.or_(failed, builder.lshr(failed, _constant(1)))
    return builder.or_(failed, builder.lshr(failed, _constant(2)))


def _compressed(builder: Any, bits: Any, targets: Any) -> Any:
    compress = _function(
        builder, "llvm.x86.avx512.mask.compress.v8i32", _TARGETS,
        [_TARGETS, _TARGETS, ir.VectorType(_I1, 8)],
    )  # fmt: skip
    mask = builder.bitcast(builder.trunc(bits, _I8), ir.VectorType(_I1, 8))
    return builder.call(compress, [targets, ir.Constant(_TARGETS, None), mask])


def _block(builder: Any, arguments: Any, grid: bool) -> Any:
    (first, second, target, row_at, key, left, local, event, out_event, out_conjunction,
     candidates) = arguments  # fmt: skip
    row = _row(builder, row_at)
    words, more = _load(builder, first, _HALVES, 8), _load(builder, second, _HALVES, 8)
    if grid:
        failed = _failed_grid(builder, key, words)
    else:
        failed = _failed(builder, _codes(builder, row, words), words)
    failed = builder.or_(failed, _failed(builder, _codes(builder, row, more), more))
    passed = _gathered(builder, builder.not_(failed))
    passed = builder.and_(passed, _up_to_eight(builder, left))
    targets = _load(builder, target, _TARGETS, 4)
    signs = builder.icmp_signed("<", targets, ir.Constant(_TARGETS, None))
    direct = _lanes(builder, signs)
    sure, rest = builder.and_(passed, direct), builder.and_(passed, builder.not_(direct))
    numbers = ir.Constant(_TARGETS, [0x7FFFFFFF] * 8)
    _store(builder, builder.and_(_compressed(builder, sure, targets), numbers), out_conjunction, 4)
    _store(builder, _broadcast(builder, builder.trunc(event, _I32), _I32, 8), out_event, 4)
    place = builder.zext(_compressed(builder, rest, targets), _WORDS)
    whose = _broadcast(builder, builder.shl(local, ir.Constant(_I64, 32)), _I64, 8)
    _store(builder, builder.or_(place, whose), candidates, 8)
    return _counts(builder, sure, rest)


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


def _bits_meet(builder: Any, first: Any, second: Any, bits: Any) -> tuple[Any, Any]:
    """For 8 words and 8 more at two addresses: which are of one rank; and for which the event has
    that rank, or lacks it where the word forbids it. Masks of 16 bits."""

    def each(number: int) -> Any:
        return ir.Constant(_PARTS, [number] * 16)

    def parts(begin: int) -> Any:
        lanes = ir.Constant(ir.VectorType(_I32, 16), list(range(begin, 32, 2)))
        words = (_load(builder, address, _PARTS, 8) for address in (first, second))
        return builder.shuffle_vector(*words, lanes)

    bounds, rest = parts(0), parts(1)
    low, high = builder.and_(bounds, each(0xFFFF)), builder.lshr(bounds, each(16))
    column, kind = builder.and_(rest, each(63)), builder.and_(rest, each(3 << 6))
    code = builder.or_(low, builder.lshr(rest, each(16)))  # one of them is 0
    gather = _function(
        builder, "llvm.x86.avx512.mask.gather.dpi.512", _PARTS,
        [_PARTS, _I8.as_pointer(), _PARTS, ir.VectorType(_I1, 16), _I32],
    )  # fmt: skip
    place = builder.add(builder.mul(column, each(2 * BITS)), builder.lshr(code, each(5)))
    base = builder.inttoptr(bits, _I8.as_pointer())
    all_lanes = ir.Constant(ir.VectorType(_I1, 16), [1] * 16)
    found = builder.call(gather, [each(0), base, place, all_lanes, _constant(4)])
    bit = builder.shl(each(1), builder.and_(code, each(31)))
    has = builder.icmp_unsigned("!=", builder.and_(found, bit), each(0))
    forbids = builder.icmp_unsigned("==", low, each(0))
    single = builder.or_(builder.icmp_unsigned("==", low, high), forbids)
    single = builder.and_(single, builder.icmp_unsigned("==", kind, each(0)))

    def mask(truths: Any) -> Any:
        return builder.zext(builder.bitcast(truths, _I16), _I32)

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
            return builder.and_(mask, builder.lshr(mask, _constant(8)))

        passed = both(builder.or_(met, builder.not_(single)))
        passed = builder.and_(passed, _up_to_eight(builder, left))
        targets = _load(builder, target, _TARGETS, 4)
        signs = builder.icmp_signed("<", targets, ir.Constant(_TARGETS, None))
        direct = builder.and_(_lanes(builder, signs), both(single))
        sure, rest = builder.and_(passed, direct), builder.and_(passed, builder.not_(direct))
        numbers = ir.Constant(_TARGETS, [0x7FFFFFFF] * 8)
        found = builder.and_(_compressed(builder, sure, targets), numbers)
        _store(builder, found, out_conjunction, 4)
        places = _broadcast(builder, builder.trunc(place, _I32), _I32, 8)
        places = builder.add(places, ir.Constant(_TARGETS, list(range(8))))
        _store(builder, _compressed(builder, rest, places), candidates, 4)
        return _counts(builder, sure, rest)

    return types.int64(*([types.int64] * 8)), generate


@instruction
def body_of_bits(context: Any, body: Any, bits: Any) -> Any:
    """Whether such an event meets the words 1 … 7 of a body: 0 it does, 1 it fails one of one
    rank, 2 there are other words, or a tail."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        body, bits = arguments
        header = _load(builder, body, _I64, 8)
        single, met = _bits_meet(builder, body, body, bits)
        masks = builder.trunc(builder.lshr(header, ir.Constant(_I64, 32)), _I32)
        ranges = builder.and_(masks, _constant(255))
        others = builder.lshr(masks, _constant(8))  # sets, pairs, tail
        others = builder.or_(others, builder.and_(ranges, builder.not_(single)))
        failed = builder.and_(ranges, builder.and_(single, builder.not_(met)))
        zero, first, second = (ir.Constant(_I64, number) for number in range(3))
        open = builder.select(builder.icmp_unsigned("!=", others, _constant(0)), second, zero)
        return builder.select(builder.icmp_unsigned("!=", failed, _constant(0)), first, open)

    return types.int64(types.int64, types.int64), generate


@instruction
def unmet(context: Any, body: Any, row: Any) -> Any:
    """Not 0 where the event's row fails one of the words 1 … 7 of a body."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        words = _load(builder, arguments[0], _HALVES, 8)
        header = _load(builder, arguments[0], _I64, 8)
        codes = _codes(builder, _row(builder, arguments[1]), words)
        failed = _gathered(builder, _failed(builder, codes, words))
        equal = _mask(builder, "==", codes, words)
        equal = builder.and_(equal, _constant(0xBBBBBBBB))  # the column's lane means nothing
        hit = builder.or_(equal, builder.lshr(equal, _constant(1)))
        hit = _gathered(builder, builder.or_(hit, builder.lshr(equal, _constant(3))))

        def mask(shift: int) -> Any:
            moved = builder.trunc(builder.lshr(header, ir.Constant(_I64, shift)), _I32)
            return builder.and_(moved, _constant(255))

        ranges, sets, pairs = mask(32), mask(40), mask(48)
        bad = builder.and_(ranges, builder.xor(failed, sets))
        missed = builder.and_(sets, builder.not_(builder.or_(ranges, hit)))
        hit_either = builder.or_(hit, builder.lshr(hit, _constant(1)))
        missed = builder.or_(missed, builder.and_(pairs, builder.not_(hit_either)))
        return builder.zext(builder.or_(bad, missed), _I64)

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
            return _broadcast(builder, builder.trunc(value, _I16), _I16, 32)

        rows = builder.zext(_load(builder, left, _BYTES, 1), _HALVES)
        columns = builder.zext(_load(builder, right, _BYTES, 1), _HALVES)
        both = builder.and_(
            _load(builder, left_present, _BYTES, 1), _load(builder, right_present, _BYTES, 1)
        )
        present = builder.icmp_unsigned("!=", both, ir.Constant(_BYTES, None))
        compress = _function(
            builder, "llvm.x86.avx512.mask.compress.v32i16", _HALVES,
            [_HALVES, _HALVES, ir.VectorType(_I1, 32)],
        )  # fmt: skip
        rows = builder.shl(builder.lshr(rows, spread(shift)), spread(side))
        cell = builder.or_(rows, builder.lshr(columns, spread(shift)))
        number = builder.add(spread(local), ir.Constant(_HALVES, list(range(32))))
        nothing = ir.Constant(_HALVES, None)
        _store(builder, builder.call(compress, [number, nothing, present]), events, 2)
        _store(builder, builder.call(compress, [cell, nothing, present]), cells, 2)
        return builder.zext(_count(builder, builder.bitcast(present, _I32)), _I64)

    return types.int64(*([types.int64] * 9)), generate


@instruction
def fetch(context: Any, address: Any) -> Any:
    """Ask for the memory at an address, ahead of its use. Every machine has this one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], _I8.as_pointer())
        ask = _function(
            builder, "llvm.prefetch.p0", ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32]
        )
        builder.call(ask, [pointer, _constant(0), _constant(3), _constant(1)])
        return ir.Constant(_I64, 0)

    return types.int64(types.int64), generate


@instruction
def lowest_bit(context: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set. Every machine has this one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        count = _function(builder, "llvm.cttz.i32", _I32, [_I32, _I1])
        return builder.call(count, [arguments[0], ir.Constant(_I1, 1)])

    return types.uint32(types.uint32), generate
