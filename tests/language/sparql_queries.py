"""Queries written as texts, drawn, and graphs to ask them of.

A query is made so that Sensewire takes it: a filter names variables that its own group may bind
(or, right inside EXISTS, the group around), and what is selected is bound whatever branch holds.
What is written is kept with what it binds:

    { ?x :p ?y }                                 surely x y     perhaps x y
    { ?x :p ?y } UNION { ?x :q ?z }              surely x       perhaps x y z
    VALUES (?x ?y) { (1 UNDEF) (2 3) }           surely x       perhaps x y
    MINUS { … }, FILTER …                        nothing

At the end white space, remarks and the case of keywords are varied.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tests.language.sparql_words import (
    CONSTANTS,
    LITERALS,
    NODES,
    PROPERTIES,
    VARIABLES,
    Pen,
    constraint,
    path,
)

PROLOGUE = "PREFIX : <x:> PREFIX x: <x:>"
PREFIXES = "@prefix : <x:> . @prefix x: <x:> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
DEPTH = 2
MOST_WAYS = 64
MOST_TRIPLES = 5
NONE: frozenset[str] = frozenset()

BUSY = f"""{PREFIXES}
:a :p :b, :c, 1, "a" ; :q :b ; a :c .
:b :p :a, 2, "a"@en ; :q :b ; a :a .
:c :p "1"^^xsd:decimal ; :q :a, _:m .
_:m :p :a ; :q "b" .
"""
"""A graph in which many patterns are met."""


CELLS = (*NODES, *NODES, "1", "2", "'a'", *CONSTANTS)
"""What VALUES says: mostly what the busy graph has."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a group: its text, what it binds, its alternatives and their triples at most."""

    text: str
    surely: frozenset[str] = NONE
    perhaps: frozenset[str] = NONE
    ways: int = 1
    triples: int = 0

    def inside(self, opening: str) -> "Part":
        """The piece in braces, behind a word or none."""
        return replace(self, text=f"{opening}{{ {self.text} }}")

    def asked(self, opening: str) -> "Part":
        """The piece in braces, behind a word that lets nothing of it be bound outside."""
        return replace(self.inside(opening), surely=NONE, perhaps=NONE)


def joined(parts: Iterable[Part]) -> Part:
    whole = Part("")
    for part in parts:
        whole = Part(
            f"{whole.text} {part.text}".strip(),
            whole.surely | part.surely,
            whole.perhaps | part.perhaps,
            whole.ways * part.ways,
            whole.triples + part.triples,
        )
    return whole


def _binding(text: str, ways: int = 1, triples: int = 0) -> Part:
    names = frozenset(re.findall(r"[?$](\w+)", text))
    return Part(text, names, names, ways, triples)


def _object(pen: Pen, label: str) -> str:
    match pen.one(range(16)):
        case 8:
            return pen.one(CONSTANTS)
        case 9:
            return f"[ {pen.one(PROPERTIES)} {pen.one((pen.variable(), *NODES))} ]"
        case 10:
            items = pen.some(1, 2, lambda: pen.one((pen.variable(), *CONSTANTS)))
            return pen.one(("()", f"( {' '.join(items)} )"))
        case 11:
            return pen.one(("[]", label))
        case _:
            return pen.variable()


def _property(pen: Pen) -> tuple[str, int]:
    match pen.one(range(10)):
        case 6:
            return pen.variable(), 1
        case 7:
            return "a", 1
        case 8 | 9:
            return path(pen)
        case _:
            return pen.one(PROPERTIES), 1


def _triples(pen: Pen, label: str = "[]") -> Part:
    """One subject with its properties and objects."""
    subject = pen.one((*([pen.variable()] * 6), *NODES, "[]", label))
    ways, triples, lines = 1, 0, []
    for _ in range(pen.one((1, 1, 1, 2))):
        step, more = _property(pen)
        objects = pen.some(1, pen.one((1, 1, 2)) if more == 1 else 1, lambda: _object(pen, label))
        lines.append(f"{step} {pen.one((',', ' , ')).join(objects)}")
        ways *= more
        triples += len(objects) + step.count("/") + sum([text.count(" ") // 2 for text in objects])
    text = f"{subject} {pen.one((' ; ', ';', ' ;; ')).join(lines)}"
    return _binding(text + pen.one((" .", ".", " ; .")), ways, triples)


def _values(pen: Pen) -> Part:
    names = pen.one((("x",), ("y",), ("z",), ("x", "y"), ("y", "z")))
    rows = [[pen.one(CELLS) for _ in names]]
    rows += pen.some(0, 2, lambda: [pen.one((pen.one(CELLS), "UNDEF")) for _ in names])
    unsure = {
        name for row in rows for name, cell in zip(names, row, strict=True) if cell == "UNDEF"
    }
    if len(names) == 1 and pen.once_in(2):
        text = f"?{names[0]} {{ {' '.join([cell for (cell,) in rows])} }}"
    else:
        bracketed = " ".join([f"({' '.join(row)})" for row in rows])
        text = f"({' '.join([f'?{name}' for name in names])}) {{ {bracketed} }}"
    return Part(f"VALUES {text}", frozenset(names) - unsure, frozenset(names), len(rows))


def _union(pen: Pen, depth: int, taken: frozenset[str]) -> Part:
    branches = pen.some(2, pen.one((2, 3)), lambda: group(pen, depth - 1, taken=taken))
    return Part(
        " UNION ".join([branch.inside("").text for branch in branches]),
        frozenset.intersection(*[branch.surely for branch in branches]),
        frozenset.union(*[branch.perhaps for branch in branches]),
        sum([branch.ways for branch in branches]),
        max([branch.triples for branch in branches]),
    )


def _element(pen: Pen, depth: int, taken: frozenset[str]) -> Part:
    match pen.one(range(9 if depth else 5)):
        case 3 | 4:
            return _values(pen)
        case 5:
            return group(pen, depth - 1, taken=taken).inside("")
        case 6 | 7 | 8:
            return _union(pen, depth, taken)
        case _:
            return _triples(pen)


def _bind(pen: Pen, before: Part, taken: frozenset[str]) -> Part:
    """A BIND of a variable that nothing before it and around it has, where there is one."""
    named = taken.union(re.findall(r"[?$](\w+)", before.text))
    free = [name for name in VARIABLES if name not in named]
    if not free:
        return Part("")
    return _binding(f"BIND({pen.one(CONSTANTS)} AS ?{pen.one(free)})")


def _minus(pen: Pen, depth: int, before: Part, taken: frozenset[str]) -> Part:
    """A MINUS; inside EXISTS one that shares a variable with what stands before it, and that names
    none of the group around EXISTS that does not stand there.

    Departure from the recommendation, by pyoxigraph: inside EXISTS, both sides of a MINUS share
    what the group around EXISTS binds, named or not.
    """
    body = group(pen, depth - 1, taken=taken)
    named = frozenset(re.findall(r"[?$](\w+)", body.text))
    is_told_apart = before.surely & body.surely and named & taken <= before.surely
    return body.asked("MINUS ") if is_told_apart or not taken else Part("")


def group(
    pen: Pen, depth: int = DEPTH, outside: frozenset[str] = NONE, taken: frozenset[str] = NONE
) -> Part:
    """What stands between the braces of a group.

    Its filters may name what is `outside`; it binds no constant to what is `taken`.
    """
    # A label is of one basic graph pattern, and so of the first triples of the outermost group.
    parts = [] if pen.once_in(8) else [_triples(pen, "_:b" if depth == DEPTH else "[]")]
    parts += pen.some(0, 2, lambda: _element(pen, depth, taken))
    if pen.once_in(6):
        place = pen.one(range(len(parts) + 1))
        parts.insert(place, _bind(pen, joined(parts[:place]), taken))
    if depth and pen.once_in(4):
        place = pen.one(range(len(parts) + 1))
        parts.insert(place, _minus(pen, depth, joined(parts[:place]), taken))
    bound = joined(parts).perhaps
    around = taken | bound
    for _ in range(pen.one((0, 0, 0, 1, 1, 2))):
        parts.insert(pen.one(range(len(parts) + 1)), _filter(pen, depth, bound | outside, around))
    return joined(parts)


def _filter(pen: Pen, depth: int, bound: frozenset[str], taken: frozenset[str]) -> Part:
    names = sorted(bound)
    if not depth or not pen.once_in(3):
        return Part(f"FILTER {constraint(pen, names)}" if names else "")
    word = pen.one(("NOT EXISTS ", "NOT EXISTS ", "EXISTS "))
    # Blank nodes of the group around count too, and have no name.
    body = group(pen, depth - 1, bound, taken | {"_"}).asked(word)
    if names and pen.once_in(3):
        return replace(body, text=f"FILTER ({constraint(pen, names)} && {body.text})")
    opening, closing = pen.one((("", ""), ("(", ")"), ("(!", ")"), ("(!(", "))")))
    return replace(body, text=f"FILTER {opening}{body.text}{closing}")


def query(pen: Pen) -> str:
    """A query that Sensewire takes."""
    whole = group(pen)
    while whole.ways > MOST_WAYS or not 0 < whole.triples <= MOST_TRIPLES:
        whole = group(pen)
    head = "ASK"
    if whole.surely and not pen.once_in(12):
        head = pen.one(("SELECT ", "SELECT ", "SELECT DISTINCT ", "SELECT REDUCED "))
        names = [name for name in sorted(whole.surely) if not pen.once_in(4)]
        if names and (whole.surely != whole.perhaps or pen.once_in(2)):
            head += " ".join([f"?{name}" for name in names])
        else:
            head += "*" if whole.surely == whole.perhaps else f"?{min(whole.surely)}"
    return _spelled(pen, f"{PROLOGUE} {head}{pen.one((' WHERE', ''))} {{ {whole.text} }}")


_KEYWORD = re.compile(
    r"\b(?:PREFIX|SELECT|DISTINCT|REDUCED|WHERE|ASK|FILTER|NOT|EXISTS|UNION|MINUS|VALUES|BIND|AS"
    r"|UNDEF|IN)\b"
)


def _spelled(pen: Pen, text: str) -> str:
    """The text with its keywords in some case, and some of its spaces wider."""
    case = pen.one((str.upper, str.lower, str.title))
    gap, every = pen.one((" ", "  ", "\n", "\t ", " # } ' <\n", "\r\n")), pen.one(range(1, 8))
    first, *words = _KEYWORD.sub(lambda found: case(found[0]), text).split(" ")
    gaps = [gap if number % every == 0 else " " for number in range(len(words))]
    return first + "".join([gap + word for gap, word in zip(gaps, words, strict=True)])


def graph(pen: Pen) -> str:
    """Turtle of a few facts: cycles, loops, parallel edges, blank nodes, literals of every kind.

    Every other graph has no blank node, so that its rows can be compared term by term.
    """
    vertices = (*NODES, *pen.one((("_:m", "_:n"), (":m", ":n"))))
    objects = (*vertices, *vertices, *vertices, *vertices, ":p", *LITERALS)
    steps = (*PROPERTIES, *PROPERTIES, "a")
    facts = pen.some(0, 12, lambda: f"{pen.one(vertices)} {pen.one(steps)} {pen.one(objects)} .\n")
    return PREFIXES + "".join(facts)
