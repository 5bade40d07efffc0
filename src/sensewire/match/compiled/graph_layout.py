"""How patterns of graphs are coded, and what stands where in the arrays of their index.

A pattern is one array of numbers, its *code*:

    variables, nots, selected, flags
    a block: what must hold
    variable a selected one, in the order of the rows
    a block a `not`: what must not hold; behind it those of the `not`s that stand in it

    block       edges, marks, joins, how long it is, the `not` that it stands in (from 1, or 0)
                (subject, property, object) an edge     a variable −(k + 1), a vertex test, or HOME
                (variable, mark) a mark                 2 · vertex test, or 2 · filter + 1
                (filter, four variables or 0) a join    a filter of several variables

A *program* is what is left to do for a pattern once a fact of an event fits its trigger edge: steps
of three words each, (x, m, what), and each step is

    D = adjacent[row(property and direction) + place[x]] & members[m]

`x` and `m` are operands: numbers below 256 are slots of variables and what is fixed, the others are
vertex tests. D is where the pattern's next vertex may be; a step that binds no variable asks only
whether D is empty. Three steps are none of this: a filter of the vertex in slot x; a filter of the
vertices in up to four slots, which x packs; and a `not`, whose x steps follow it, and which stands
m steps behind the `not` around it, or in none.

Where a variable stands for a property that is told, or is the same as another's, facts are vertices
too: `(s, ?p, o)` is (f, FACT_SUBJECT, s), (f, FACT_PROPERTY, ?p), (f, FACT_OBJECT, o).

The *whole* program of a pattern needs no trigger: it finds the rows of what is selected, and tries
what the index of records proposes.
"""

from sensewire.match.compiled.jit import Array, Number, inlined, uint64

# A code, and a block
CODE_VARIABLES, CODE_NOTS, CODE_SELECTED, CODE_FLAGS = range(4)
FIRST_BLOCK = 4
BLOCK_EDGES, BLOCK_MARKS, BLOCK_JOINS, BLOCK_LENGTH, BLOCK_INSIDE = range(5)
BLOCK = 5
EDGE, MARK, JOIN = 3, 2, 5
MOST_JOINED = 4
"""Variables of one constraint that a kernel looks at."""
INJECTIVE = 1
USES_HOME = 2
OF_FACTS = 4
"""Whether facts are vertices."""

# Vertex tests, properties and filters that everybody has
HOME = 0
ANY_PROPERTY, ITSELF, FACT_SUBJECT, FACT_PROPERTY, FACT_OBJECT = range(5)
"""Properties: any of a fact; the one that leads from each vertex to itself; those of facts."""
OWN_PROPERTIES = 5
"""How many of them there are."""
EXEMPT = 0
"""A filter that is none: its variable may stand for any vertex, though the pattern is injective."""

# Operands
SLOTS = 256
MOST_VARIABLES = 240
FILTER, FILTER_OF_MANY, NEGATED, ANY, NONE, ALL = 250, 251, 252, 253, 254, 255
"""What is fixed: steps that are a filter of one vertex or of many, or a `not`; every vertex; a step
that binds nothing; the row of all that has the property."""

# The third word of a step: property and direction, whether the vertex must be new, the slot
SLOT_MASK = 255
PLACED = 256
WHAT_SHIFT = 9

# Rows of adjacency: 64 vertices, an absent one, all, and unions for tests with several members
VERTICES = 64
ABSENT, EVERY, UNIONS = 64, 65, 66
MOST_UNIONS = 180
ROWS_OF_NOTHING = 256
ROWS_OF_ITSELF = 256
FIRST_ROWS = ROWS_OF_NOTHING + ROWS_OF_ITSELF

# The property of a trigger's key
LOOP = 1 << 28
DISTINCT = 1 << 29

# What a test is to an index: a constant or a class in keys, the end of an edge, anything at all
KEY_CONSTANT, KEY_CLASS, IS_END, IS_ASKED = 1, 2, 4, 8
# Forms of keys: 3 · the subject's + the object's, none, a constant or a class; and then whether the
# trigger's vertices are distinct, a loop, or both
FORMS = 9

# A posting: subject, property, object, and HAS_TRIE with its variables and the count of its flat
# patterns; if it has a trie then the root of that, the first and the last of the trie's patterns
POSTING = 4
HAS_TRIE, COUNT_SHIFT = 4, 3
TRIE = 3
# A flat pattern: flags and steps, pattern; then the steps
FLAT = 2
STEPS_SHIFT = 8
# A whole program: steps, flags, how many steps there are until all that is selected is bound, how
# many are selected; then their slots, then the steps
WHOLE_STEPS, WHOLE_FLAGS, WHOLE_UNTIL, WHOLE_SELECTED = range(4)
WHOLE = 4

# What a pair says beside the pattern's number
DOUBTFUL = 1 << 30
OVER_BUDGET = 1 << 29
SELECTS = 1 << 28
PATTERN_MASK = (1 << 28) - 1

# Filters: what is asked of a vertex that tests cannot say
NOT_TEST, OF_NUMBER, OF_INSTANT, OF_MANY = 1, 2, 3, 4
LOW_OPEN, HIGH_OPEN, LOW_ROUNDED, HIGH_ROUNDED, STRICT = 1, 2, 4, 8, 16
# What is known of a term's number, and of its instant
ROUNDED, IS_NUMBER, IS_SINGLE, IS_DOUBLE, INSTANT_ROUNDED, IS_DATE = 1, 2, 4, 8, 16, 32
FILTER_WORDS = 3
# What a filter of many says comes after it, in as many filters as it says: an expression in postfix
# notation, (what, which of its variables). A constant is the lower bound of its own.
VARIABLE, CONSTANT_NUMBER, PLUS, MINUS, TIMES, OVER = range(16, 22)
LESS, AT_MOST, MORE, AT_LEAST, EQUAL, DIFFERENT, SAME, BOTH, EITHER, OPPOSITE = range(22, 32)
DEEPEST = 16
"""Values of an expression that wait for others."""

# A term's row: where its lists begin and end, what it is
ROW = 8
OWN, OWN_END, AS_CLASS, AS_CLASS_END, SERVES, SERVES_END, ROW_FLAGS, VALUE_FLAGS = range(ROW)
IS_TYPE, IS_LITERAL = 1, 2


@inlined
def key_of(subject: Number, property: Number, object: Number, seed: Number) -> Number:
    """A trigger's key: 64 bits, the upper ones well mixed."""
    key = (uint64(subject) + uint64(seed)) * uint64(0x9E3779B97F4A7C15)
    key ^= (uint64(property) + uint64(0x7F4A7C15)) * uint64(0xC2B2AE3D27D4EB4F)
    key ^= (uint64(object) + uint64(0x165667B1)) * uint64(0xD6E8FEB86659FD93)
    key ^= key >> uint64(29)
    key *= uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> uint64(32))


# Hints: of each test that stands in keys two words, for keys of which it is the subject and for
# those of which it is the object, with a bit set for each such key. A key stands in the word of its
# rarer end, so that of all tests that the ends of a fact meet nearly none is looked up in vain.
AS_SUBJECT, AS_OBJECT = range(2)


@inlined
def hints_of(test: Number, hints: Array) -> Number:
    """Where the words of a test stand; tests are numbers + 1, as in keys."""
    mixed = (uint64(test) * uint64(0x9E3779B97F4A7C15)) >> uint64(32)
    return uint64(2) * (mixed & uint64(len(hints) // 2 - 1))


@inlined
def hint_bit(number: Number) -> Number:
    """What a property, or the test of the other end, adds (by xor) to the bit of a key."""
    return (uint64(number) * uint64(0xD6E8FEB86659FD93)) >> uint64(58)


@inlined
def is_hint_of_object(of_subject: Number, of_object: Number) -> Number:
    """Whether a key stands in the word of its object; both ends as they are in keys, 0 for none."""
    return (
        of_object and of_subject != KEY_CONSTANT and (of_object == KEY_CONSTANT or not of_subject)
    )
