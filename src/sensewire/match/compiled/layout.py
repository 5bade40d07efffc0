"""The index in memory: which tables it has, and how tests are packed into 64-bit words.

An event becomes a row of 64 codes of 16 bits, one for each *hot* slot (the slots that tests use
most) and a last one that is always 1. The code of a rank is the rank itself, or, on slots with more
than 65,534 ranks, its bucket: then the test is met again by its full ranks. 0 stands for absent.

A *word* is a test on one column of the row:

    bits    0 … 15   16 … 31   32 … 37   38, 39   48 … 63
            low      high      column    type     forbidden
    RANGE     low <= code <= high and code != forbidden     (low 0: negated, absent is welcome)
    OUTSIDE   not (low <= code <= high)                     (negated)
    TRIPLE    code is low, high or forbidden
    SEXTET    the same with the six values of this word and the next

A *posting* is one conjunction in one list: two words and a target. Beside an ordinary list both
words are tests; in a list of the grid, which belongs to two columns, the first word is two ranges:

    first     word │ low high low high        Whoever passes both words is a match where the target
    second    word │ word                     has its highest bit set (`DIRECT`): the rest of it is
    target    DIRECT + conjunction │ body     the number of the conjunction. Else it is the place of
                                              the body with the other tests:
    body:
    header          conjunction (32 bits), then three masks of 8 bits with a bit for each of the
                    words 1 … 7: `ranges`, `sets`, `pairs` (both `ranges` and `sets`: OUTSIDE), then
                    the place of the tail after the header, 0 without one
    [tail count]    only with a tail
    words           at most up to place 7, so that one vector of 512 bits holds header and words
    tail            two words for each test on full ranks: slot | NEGATED | MANY; then low and high,
                    or, for MANY intervals, their place and number in the table `intervals`

Lists are numbered; list i is the postings list_start[i] … list_start[i + 1] − 1. Where an event
finds its lists is told by the *units*, the slots that some conjunction is posted under (`UNIT_*`),
and by the pairs of columns that have a grid.
"""

import numpy as np

from sensewire.match.compiled.jit import Array, Number, inlined, uint64

COLUMNS = 64
CONSTANT_COLUMN = 63
HOT_SLOTS = 63
HIGHEST_CODE = 65_534
BITS = 1024
"""Words of 64 bits in a column's bitmap."""

RANGE, TRIPLE, SEXTET, OUTSIDE = 0, 1, 2, 3
NEUTRAL = (65_535 << 16) | (CONSTANT_COLUMN << 32)
"""The word that holds for every row."""

DIRECT = 0x8000_0000
NEGATED, MANY = 1 << 32, 1 << 33
PADDING = 64
"""Elements behind the postings and the bodies, since vectors are read whole."""

BUCKETS = 256
LEVELS = 9
"""A slot's 256 quantile buckets, the 128 pairs of them, and so on to the one cell of all."""

# The columns of the table `slots`.
SLOT_RANKS, SLOT_UNIT, SLOT_COLUMN, SLOT_SHIFT = 0, 1, 2, 3
SLOT_FIELDS = 4
NO_COLUMN = 255

# The columns of the table `units`; −1 where a unit has nothing of the kind.
UNIT_SLOT = 0
UNIT_EQUAL = 1  # the first list by rank
UNIT_EQUAL_CELLS = 2
UNIT_EQUAL_SHIFT = 3  # the lists are by rank >> shift
UNIT_DYADIC = 4  # the first of the dyadic lists
UNIT_LEVELS = 5  # a bit for each level that has postings
UNIT_BUCKETS = 6  # where its codes' quantile buckets begin in `buckets`
UNIT_CLASSES = 7  # where its ranks begin in `class_offsets`
UNIT_REPEATS = 8  # 1: some conjunction stands in several of its lists
UNIT_FIELDS = 9

# The columns of the table `pairs`: two columns of the row and the first lists of their grids.
PAIR_LEFT, PAIR_RIGHT, PAIR_FINE, PAIR_COARSE = 0, 1, 2, 3
PAIR_FIELDS = 4

# The scalars, in the table `sizes`.
SIZE_CONJUNCTIONS, SIZE_WITHOUT_PIVOT, SIZE_EVERY, SIZE_FINE, SIZE_COARSE = 0, 1, 2, 3, 4
SIZES = 5

NAMES = (
    "sizes", "slots", "units", "buckets", "class_offsets", "class_lists", "pairs",
    "list_start", "first", "second", "target", "body", "intervals",
)  # fmt: skip
"""The tables of an index, in the order in which every kernel takes them."""


@inlined
def packed(low: Number, high: Number, column: Number, kind: Number, forbidden: Number) -> Number:
    """A word."""
    return (
        uint64(low)
        | (uint64(high) << uint64(16))
        | (uint64(column) << uint64(32))
        | (uint64(kind) << uint64(38))
        | (uint64(forbidden) << uint64(48))
    )


@inlined
def code_of(rank: Number, shift: Number) -> Number:
    """The 16-bit code of a rank; monotone, so that ranges of ranks become ranges of codes."""
    return ((rank - 1) >> shift) + 1


@inlined
def dyadic_offset(level: Number) -> Number:
    """Where the cells of a level begin among a slot's dyadic cells."""
    return 512 - (512 >> level)


def code_shifts(ranks: Array) -> Array:
    """For each slot, by how much ranks are shifted so that codes stay within 16 bits."""
    highest = np.maximum(ranks.astype(np.int64) - 1, 0)
    shift = np.zeros(len(ranks), np.int64)
    while np.any(over := (highest >> shift) + 1 > HIGHEST_CODE):
        shift += over
    return shift
