"""Clauses in canonical form: equal up to the order of atoms and the names of variables is equal.

A clause is one conjunction with what its subscription asks of all of them: the unit that matchers
index. Variables are named by colour refinement with individualisation, as tools for canonical
graphs do: a variable's colour is what the parts that mention it look like, refined until nothing
changes; where colours still tie, each of the tied is tried and the least text wins. Tied variables
that can all be exchanged (swapping two changes nothing) need one try only.

Cost: one pass over the clause where it has no variables; else a few passes, and more only for
clauses with hundreds of variables or as symmetric as regular graphs. Past `MOST_WORK` variables are
named in the order in which they stand: such a clause may then be indexed twice, which costs room
and changes no answer.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeVar

from sensewire.model.conditions import Constant, OneOf, Variable
from sensewire.model.expressions import And, Expression, Or
from sensewire.model.subscription import (
    Atom,
    Conjunction,
    Not,
    Subscription,
    bound_by,
)
from sensewire.model.terms import Term

MOST_WORK = 100_000
"""Texts of parts that are made for one clause."""
Naming = Mapping[Variable, object]
Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class Clause:
    """One conjunction, and what its subscription asks of every one."""

    conjunction: Conjunction
    select: tuple[Variable, ...] | None = None
    injective: bool = False
    strict: bool = False
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class CanonicalClause:
    """A clause in canonical form, and what its subscriber called the variables that it selects."""

    clause: Clause
    names: tuple[tuple[str, Variable], ...]


def canonical_clauses(subscription: Subscription) -> tuple[CanonicalClause, ...]:
    """The clauses of a subscription, each in canonical form, equal ones once."""
    made = (canonical_clause(clause) for clause in clauses_of(subscription))
    return tuple(dict.fromkeys(made))


def canonical(subscription: Subscription) -> Subscription:
    """The subscription in canonical form: selected variables keep their names, others are numbered.

    >>> from sensewire.model.conditions import Binds, meaning
    >>> from sensewire.model.subscription import Predicate
    >>> def asked(name): return Conjunction((Predicate(meaning("a"), Binds(Variable(name))),))
    >>> canonical(Subscription((asked("x"),))) == canonical(Subscription((asked("y"),)))
    True
    """
    selected = {variable.name for variable in subscription.select or ()}
    conjunctions = []
    for made in canonical_clauses(subscription):
        names = {variable: Variable(name) for name, variable in made.names}
        found = dict.fromkeys(_variables(made.clause.conjunction))
        others = (Variable(str(n)) for n in count() if str(n) not in selected)
        naming = {v: names[v] if v in names else next(others) for v in found}
        conjunctions.append(_sorted(made.clause.conjunction, naming))
    in_order = sorted(conjunctions, key=lambda conjunction: text_of(conjunction, {}))
    return replace(subscription, conjunctions=tuple(in_order))


def clauses_of(subscription: Subscription) -> Iterator[Clause]:
    """The clauses of a subscription as they were written."""
    for conjunction in subscription.conjunctions:
        yield Clause(
            conjunction,
            subscription.select,
            subscription.injective,
            subscription.strict,
            subscription.tolerance,
        )


def canonical_clause(clause: Clause) -> CanonicalClause:
    """A clause in canonical form."""
    conjunction = _apart(clause.conjunction, frozenset(), iter(range(1_000_000)))
    variables = list(dict.fromkeys(_variables(conjunction)))
    naming: dict[Variable, Variable] = {}
    if variables:
        selected = frozenset(clause.select or ())
        colours = _Colouring(conjunction, selected).best(variables)
        naming = {
            variable: Variable(str(colours[variable]), variable.as_written().name)
            for variable in variables
        }
    select = None
    if clause.select is not None:
        select = tuple(sorted({naming[v] for v in clause.select}, key=lambda v: int(v.name)))
    names = tuple((variable.name, naming[variable]) for variable in clause.select or ())
    return CanonicalClause(
        replace(clause, conjunction=_sorted(conjunction, naming), select=select),
        tuple(dict.fromkeys(names)),
    )


class _TooMuchWorkError(Exception):
    """A clause too large and too symmetric to be named canonically in reasonable time."""


class _Colouring:
    """Colours the variables of one conjunction; equal structures get equal colours."""

    def __init__(self, conjunction: Conjunction, selected: frozenset[Variable]) -> None:
        self._selected = selected
        self._conjunction = conjunction
        self._parts = [
            (part, tuple(dict.fromkeys(_variables(part))))
            for part in (*conjunction.atoms, *conjunction.constraints)
        ]
        self._mentioning: dict[Variable, list[object]] = {}
        for part, variables in self._parts:
            for variable in variables:
                self._mentioning.setdefault(variable, []).append(part)
        self._work = MOST_WORK

    def best(self, variables: list[Variable]) -> dict[Variable, int]:
        start = {variable: int(variable in self._selected) for variable in variables}
        try:
            return self._search(self._refined(start))[1]
        except _TooMuchWorkError:
            return self._in_order()

    def _search(self, colours: dict[Variable, int]) -> tuple[str, dict[Variable, int]]:
        tied = self._tied(colours)
        if not tied:
            self._pay(len(self._parts))
            return text_of(self._conjunction, colours), colours
        kinds = self._representatives(tied)
        if len(kinds) == 1:  # all can be exchanged: any order of theirs is as good as another
            apart = {v: colour * len(tied) for v, colour in colours.items()}
            apart.update({v: apart[v] + place for place, v in enumerate(tied)})
            return self._search(self._refined(apart))
        tries = (self._search(self._refined({**colours, variable: -1})) for variable in kinds)
        return min(tries, key=lambda found: found[0])

    def _tied(self, colours: dict[Variable, int]) -> list[Variable]:
        counts = Counter(colours.values())
        shared = [colour for colour, count in counts.items() if count > 1]
        least = min(shared, default=None)
        return [variable for variable, colour in colours.items() if colour == least]

    def _representatives(self, tied: list[Variable]) -> list[Variable]:
        """One of each set of tied variables that can be exchanged for each other."""
        kept: list[Variable] = []
        for variable in tied:
            if not any(self._exchangeable(variable, other) for other in kept):
                kept.append(variable)
        return kept

    def _exchangeable(self, a: Variable, b: Variable) -> bool:
        """Whether the parts that mention either are the same parts with the two swapped."""
        parts = list(dict.fromkeys((*self._mentioning[a], *self._mentioning[b])))
        self._pay(2 * len(parts))
        swapped = {a: b.name, b: a.name}
        return sorted(text_of(p, {}) for p in parts) == sorted(text_of(p, swapped) for p in parts)

    def _refined(self, colours: dict[Variable, int]) -> dict[Variable, int]:
        while True:
            signatures: dict[Variable, list[str]] = {variable: [] for variable in colours}
            for part, variables in self._parts:
                self._pay(len(variables))
                for variable in variables:
                    marked: dict[Variable, object] = {v: colours[v] for v in variables}
                    signatures[variable].append(text_of(part, {**marked, variable: "*"}))
            looks = {v: (colours[v], *sorted(signatures[v])) for v in colours}
            ranks = {look: rank for rank, look in enumerate(sorted(set(looks.values())))}
            refined = {variable: ranks[looks[variable]] for variable in colours}
            if len(ranks) == len(set(colours.values())):
                return refined
            colours = refined

    def _in_order(self) -> dict[Variable, int]:
        """The variables in the order in which they stand, the parts sorted by all else."""
        nameless: dict[Variable, object] = dict.fromkeys(self._mentioning, "")
        by_text = sorted(self._parts, key=lambda part: text_of(part[0], nameless))
        found = dict.fromkeys(variable for _, variables in by_text for variable in variables)
        return {variable: place for place, variable in enumerate(found)}

    def _pay(self, texts: int) -> None:
        self._work -= texts
        if self._work < 0:
            raise _TooMuchWorkError


def text_of(node: object, naming: Naming) -> str:
    """A text of any part of a subscription, the same for parts that differ in order alone."""
    match node:
        case Variable():
            return f"?{naming.get(node, node.name)}"
        case Constant():
            return f"{node.reading.value}:{text_of(node.value, naming)}"
        case Term():
            return f"{node.kind.value} {node.datatype} {node.language} {node.text!r}"
        case Conjunction() | And() | Or() | OneOf():
            parts = sorted(text_of(part, naming) for part in _unordered(node))
            return f"{type(node).__name__}{{{', '.join(parts)}}}"
        case tuple():
            return f"({', '.join(text_of(part, naming) for part in node)})"
        case str():
            return repr(str(node))
        case _:
            parts = [text_of(getattr(node, name), naming) for name in _parts_of(node)]
            return f"{type(node).__name__}({', '.join(parts)})"


def _parts_of(node: object) -> tuple[str, ...]:
    """The names of a node's fields, as every dataclass lists them."""
    return getattr(node, "__match_args__", ())


def _unordered(node: Conjunction | And | Or | OneOf) -> tuple[object, ...]:
    match node:
        case Conjunction():
            return (*node.atoms, *node.constraints)
        case OneOf():
            return node.constants
        case _:
            return node.parts


def _sorted(conjunction: Conjunction, naming: Mapping[Variable, Variable]) -> Conjunction:
    def by_text(parts: tuple[Node, ...]) -> tuple[Node, ...]:
        made = [renamed(part, naming) for part in parts]
        return tuple(sorted(made, key=lambda part: text_of(part, {})))

    return Conjunction(by_text(conjunction.atoms), by_text(conjunction.constraints))


def renamed(node: Node, naming: Mapping[Variable, Variable]) -> Node:
    """A part of a subscription with its variables renamed, and what has no order sorted."""
    made: object
    match node:
        case Variable():
            made = naming.get(node, node)
        case Constant():
            made = node
        case Conjunction():
            made = _sorted(node, naming)
        case OneOf():
            made = OneOf(tuple(sorted(node.constants, key=lambda part: text_of(part, {}))))
        case And() | Or():
            inner = (renamed(part, naming) for part in node.parts)
            made = type(node)(tuple(sorted(inner, key=lambda part: text_of(part, {}))))
        case tuple():
            parts = tuple(renamed(part, naming) for part in node)
            made = parts if any(a is not b for a, b in zip(parts, node, strict=True)) else node
        case _:
            changes = {}
            for name in _parts_of(node):
                part = getattr(node, name)
                other = renamed(part, naming)
                if other is not part:
                    changes[name] = other
            made = replace(node, **changes) if changes else node  # type: ignore[type-var]  # a node
    return made  # type: ignore[return-value]  # every case keeps the type of its node


def _variables(node: object) -> Iterator[Variable]:
    match node:
        case Variable():
            yield node
        case Constant():
            pass
        case tuple():
            for part in node:
                yield from _variables(part)
        case Term() | str():
            pass
        case _:
            for name in _parts_of(node):
                yield from _variables(getattr(node, name))


def _apart(
    conjunction: Conjunction, outside: frozenset[Variable], numbers: Iterator[int]
) -> Conjunction:
    """The conjunction with the variables that belong to one `Not` alone named apart."""
    bound = outside | frozenset(bound_by(conjunction))
    atoms: list[Atom] = []
    for atom in conjunction.atoms:
        if isinstance(atom, Not):
            own = [v for v in dict.fromkeys(bound_by(atom.body)) if v not in bound]
            names = {v: Variable(f"{v.name} {next(numbers)}", v.as_written().name) for v in own}
            body = _renamed_here(atom.body, names)
            atom = Not(_apart(body, bound, numbers))
        atoms.append(atom)
    return Conjunction(tuple(atoms), conjunction.constraints)


def _renamed_here(conjunction: Conjunction, names: Mapping[Variable, Variable]) -> Conjunction:
    """Renames without sorting; a variable of an inner `Not` is another one only if bound there."""
    constraints: tuple[Expression, ...] = tuple(renamed(c, names) for c in conjunction.constraints)
    atoms = tuple(
        Not(_renamed_here(atom.body, names)) if isinstance(atom, Not) else renamed(atom, names)
        for atom in conjunction.atoms
    )
    return Conjunction(atoms, constraints)
