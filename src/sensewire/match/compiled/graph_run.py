"""Running a program in an event of up to 64 vertices.

Every step is one AND of two words. Depth first; a step that binds no variable leaves no choice
behind. A search that takes too many steps is given up, and said to be.
"""

from sensewire.match.compiled.graph_bits import first_of
from sensewire.match.compiled.graph_build import FLAT_OBJECT_FREE, FLAT_SUBJECT_FREE, FLAT_USES_HOME
from sensewire.match.compiled.graph_expressions import held
from sensewire.match.compiled.graph_filters import MAYBE, NO, OVER, YES, passed
from sensewire.match.compiled.graph_layout import (
    FILTER,
    HOME,
    INJECTIVE,
    NEGATED,
    PLACED,
    SLOT_MASK,
    SLOTS,
    USES_HOME,
    WHAT_SHIFT,
)
from sensewire.match.compiled.jit import Array, Number, inlined, int64, uint64

MOST_KEYS = 16_384
MOST_LISTED = 8_192
FRAMES = MOST_KEYS + 2 * MOST_LISTED
"""Where the frames begin in the scratch of words: choices left and vertices used of each step."""
SEEN_FROM = 64
"""Steps of one search from which on they count for the pattern's budget."""
FROM_START = -1


@inlined
def filtered(
    x: Number, m: Number, slot: Number, place: Array, members: Array, ints: Array, row_of: Array,
    rows: Array, numbers: Array, filters: Array, bounds: Array, floats: Array,
) -> Number:  # fmt: skip
    """Whether the vertices of a step that is a filter pass it."""
    if slot == uint64(FILTER):
        return passed(m, place[uint64(x)], ints, row_of, rows, numbers, filters, bounds, members)
    return held(m, x, place, ints, row_of, rows, numbers, filters, bounds, floats)


@inlined
def around(program: Array, base: Number, inside: Number, steps: Number) -> tuple[Number, Number]:
    """The `not` that a `not` stands in, or −1; and where what is tried there ends."""
    at = base + uint64(3) * uint64(inside)
    behind = int64(program[at + uint64(1)])
    if behind == 0:
        return int64(-1), uint64(steps)
    outer = inside - behind
    return outer, uint64(outer + 1 + program[base + uint64(3) * uint64(outer)])


@inlined
def run(
    program: Array, first: Number, steps: Number, used: Number, limit: Number, resumed: Number,
    place: Array, members: Array, rows_of: Array, adjacent: Array, literals: Number,
    ints: Array, row_of: Array, rows: Array, numbers: Array, filters: Array, bounds: Array,
    longs: Array, floats: Array,
) -> tuple[Number, Number, Number]:  # fmt: skip
    """Whether steps have a solution, whether that is doubtful, and how many were taken.

    `resumed` is FROM_START, or how many steps of the last solution shall be left as they are but
    for the last of them, which goes on to its next choice.
    """
    one, nothing = uint64(1), uint64(0)
    frames = uint64(FRAMES)
    depth, end = uint64(0), uint64(steps)
    inside = int64(-1)  # the innermost `not` that is tried; all of it ends at `end`
    taken = 0
    doubtful = False
    outcome = YES if steps == 0 else NO
    base = uint64(first)
    goes_back = resumed >= 0
    if goes_back:
        depth = uint64(resumed)
    while outcome == NO and steps:
        slot, what, domain = nothing, nothing, nothing
        if not goes_back:
            at = base + uint64(3) * depth
            what = uint64(program[at + uint64(2)])
            slot = what & uint64(SLOT_MASK)
            taken += 1
            if slot - uint64(FILTER) <= uint64(NEGATED - FILTER):
                if slot == uint64(NEGATED):
                    longs[frames + uint64(2) * depth] = nothing
                    longs[frames + uint64(2) * depth + one] = used
                    inside = int64(depth)
                    depth += one
                    end = depth + uint64(program[at])
                    continue
                verdict = filtered(
                    program[at], program[at + one], slot, place, members, ints, row_of, rows,
                    numbers, filters, bounds, floats,
                )  # fmt: skip
                domain = uint64(verdict)
                doubtful = doubtful or verdict == MAYBE
            else:
                row = uint64(rows_of[what >> uint64(WHAT_SHIFT)]) + uint64(
                    place[uint64(program[at])]
                )
                domain = adjacent[row] & members[uint64(program[at + one])]
                if what & uint64(PLACED):
                    domain &= ~used
        goes_back = False
        if domain != nothing and depth + one == end:
            if inside < 0:
                outcome = YES
                break
            if not doubtful:  # what must not be is: the `not` fails; else it holds, perhaps
                depth = uint64(inside)
                inside, end = around(program, base, inside, steps)
            domain = nothing
        if domain == nothing:
            floor = uint64(inside + 1)
            while depth > floor:
                depth -= one
                domain = longs[frames + uint64(2) * depth]
                if domain != nothing:
                    break
            if domain == nothing:
                if inside < 0:
                    break
                # Nothing is inside: the `not` holds. Its steps are none to go back to.
                used = longs[frames + uint64(2) * uint64(inside) + one]
                for step in range(inside + 1, int64(end)):
                    longs[frames + uint64(2) * uint64(step)] = nothing
                depth = end
                inside, end = around(program, base, inside, steps)
                if depth == end:
                    if inside < 0:
                        outcome = YES
                        break
                    if not doubtful:
                        depth = uint64(inside)
                        inside, end = around(program, base, inside, steps)
                    goes_back = True
                if taken > limit:
                    outcome = OVER
                continue
            used = longs[frames + uint64(2) * depth + one]
            what = uint64(program[base + uint64(3) * depth + uint64(2)])
            slot = what & uint64(SLOT_MASK)
        if taken > limit:
            outcome = OVER
            break
        low = domain & (~domain + one)
        longs[frames + uint64(2) * depth] = domain ^ low if slot < uint64(FILTER) else nothing
        longs[frames + uint64(2) * depth + one] = used
        place[slot] = first_of(low)
        members[slot] = low
        if what & uint64(PLACED):
            used |= low & ~literals
        depth += one
    return outcome, doubtful, taken


@inlined
def run_plainly(
    program: Array, first: Number, steps: Number, limit: Number, place: Array, members: Array,
    rows_of: Array, adjacent: Array, longs: Array,
) -> tuple[Number, Number]:  # fmt: skip
    """The same for steps that are all ANDs of two words: whether there is a solution, and how many
    steps were taken. Most patterns are no more than that, and it takes half the instructions."""
    one, three, nothing = uint64(1), uint64(3), uint64(0)
    at, frame, end = uint64(first), uint64(FRAMES), uint64(first) + three * uint64(steps)
    taken = 0
    outcome = YES
    while at != end:
        what = uint64(program[at + uint64(2)])
        row = uint64(rows_of[what >> uint64(WHAT_SHIFT)]) + uint64(place[uint64(program[at])])
        domain = adjacent[row] & members[uint64(program[at + one])]
        taken += 1
        if domain == nothing:
            while domain == nothing and frame != uint64(FRAMES):
                frame -= one
                at -= three
                domain = longs[frame]
            if domain == nothing or taken > limit:
                outcome = NO if domain == nothing else OVER
                break
            what = uint64(program[at + uint64(2)])
        slot = what & uint64(SLOT_MASK)
        low = domain & (~domain + one)
        longs[frame] = domain ^ low if slot < uint64(FILTER) else nothing
        place[slot] = first_of(low)
        members[slot] = low
        frame += one
        at += three
    return outcome, taken


@inlined
def left_of(place: Number, spent: Array, now: Number, budget: Number) -> Number:
    """The steps that a pattern may still take for an event."""
    known = spent[place]
    return budget - (known & int64(0xFFFFFFFF)) if known >> 32 == now else budget


@inlined
def spend(place: Number, taken: Number, spent: Array, now: Number) -> None:
    if taken > SEEN_FROM:
        known = spent[place]
        before = known & int64(0xFFFFFFFF) if known >> 32 == now else int64(0)
        spent[place] = (int64(now) << 32) | min(before + taken, int64(0x7FFFFFFF))


@inlined
def bound(x: Number, y: Number, variables: Number, place: Array, members: Array) -> None:
    """The trigger's variables stand for the vertices of a fact."""
    one = uint64(1)
    slot = uint64(0)
    if variables & 1:
        place[slot] = x
        members[slot] = one << uint64(x)
        slot = one
    if variables & 2:
        place[slot] = y
        members[slot] = one << uint64(y)


@inlined
def used_by_trigger(
    x: Number, y: Number, variables: Number, flags: Number, members: Array, literals: Number
) -> tuple[Number, Number]:
    """The vertices that an injective pattern's trigger takes, and whether it may."""
    one = uint64(1)
    used = uint64(0)
    is_free = True
    if not flags & FLAT_SUBJECT_FREE:
        used = (one << uint64(x)) & ~literals
    if variables & 2 and not flags & FLAT_OBJECT_FREE:
        taken = (one << uint64(y)) & ~literals
        is_free = used & taken == uint64(0)
        used |= taken
    if flags & FLAT_USES_HOME:
        taken = members[SLOTS + HOME] & ~literals
        is_free = is_free and used & taken == uint64(0)
        used |= taken
    return used, is_free


@inlined
def used_at_first(flags: Number, members: Array, literals: Number) -> Number:
    """The vertices that a whole program may not bind."""
    if flags & INJECTIVE and flags & USES_HOME:
        return members[SLOTS + HOME] & ~literals
    return uint64(0)
