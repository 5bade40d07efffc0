"""Subscriptions to texts of our language, such that `parse(unparse(s)) == s`.

Atoms come before constraints, brackets only where the grammar needs them. `not` before one atom, or
before a conjunction that binds a variable of its own, reads back as one `Not`; every other `Not` is
written `not all (…)`. Cost: linear in the subscription.
"""

from typing import assert_never

from sensewire.language import spell
from sensewire.language.comparisons import TAGS
from sensewire.language.disjunction import depth_of
from sensewire.language.expressions import constraint
from sensewire.language.limits import DEEPEST, LONGEST, MOST_CONJUNCTIONS
from sensewire.language.spell import Spelling, is_name, unsayable
from sensewire.model.conditions import Equal, Variable, meaning
from sensewire.model.errors import SensewireError
from sensewire.model.expressions import Or, variables_in
from sensewire.model.subscription import (
    Atom,
    Bind,
    Conjunction,
    Home,
    Not,
    OperatorCall,
    Predicate,
    Subscription,
    TriplePattern,
    Vertex,
    bound_by,
)

_TAGS = meaning(TAGS)
_DEEPER = ("(", "not ", "exactly ", "+", "-", "*", "/")


def unparse(subscription: Subscription, language: str = "sensewire") -> str:
    """A subscription in our language; a strict one in "sparql" too.

    >>> from sensewire.language.parse import parse
    >>> unparse(parse("(product=computer)and not(refurbished = true) or 'two words'"))
    'product = computer and not refurbished = true or "two words"'
    """
    if language == "sparql":
        from sensewire.language.unparse_sparql import unparse_sparql

        return unparse_sparql(subscription)
    if language != "sensewire":
        known = "sensewire, sparql"
        raise SensewireError(f"no subscription is written in {language!r}; known: {known}")
    conjunctions = subscription.conjunctions
    if len(conjunctions) > MOST_CONJUNCTIONS:
        raise unsayable(f"a disjunction of {len(conjunctions):,} conjunctions")
    spelling = Spelling(subscription.strict)
    parts = []
    if subscription.select is not None:
        parts += ["select", ", ".join([spell.variable(v) for v in subscription.select]), "where"]
    parts.append(" or ".join([_conjunction(c, frozenset(), spelling) for c in conjunctions]))
    if subscription.tolerance is not None:
        parts.append(f"within {_number(subscription.tolerance)}")
    if subscription.injective:
        parts.append("injective")
    if subscription.strict:
        parts.append("strict")
    text = " ".join([part for part in parts if part])
    _check(text)
    return text


def unparse_parts(conjunction: Conjunction, *, strict: bool = False) -> tuple[str, ...]:
    """The atoms and constraints of a conjunction, each in our language.

    >>> from sensewire.language.parse import parse
    >>> unparse_parts(parse("price = ?x and ?x > 5 and not used = true").conjunctions[0])
    ('price = ?x', 'not used = true', '?x > 5')
    """
    spelling = Spelling(strict)
    bound = frozenset(bound_by(conjunction))
    atoms = [_atom(atom, bound, spelling) for atom in conjunction.atoms]
    return (*atoms, *(constraint(found, spelling) for found in conjunction.constraints))


def _conjunction(conjunction: Conjunction, outside: frozenset[Variable], spelling: Spelling) -> str:
    bound = outside.union(bound_by(conjunction))
    texts = []
    for atom in conjunction.atoms:
        texts.append(_atom(atom, bound, spelling))
    for found in conjunction.constraints:
        if not any(True for _ in variables_in(found)):
            raise unsayable("a constraint without a variable")
        if depth_of(found) > DEEPEST:
            raise unsayable(f"a constraint nested deeper than {DEEPEST}")
        text = constraint(found, spelling)
        single = len(conjunction.constraints) == 1 and not conjunction.atoms
        texts.append(f"({text})" if isinstance(found, Or) and not single else text)
    return " and ".join(texts) or "everything"


def _atom(atom: Atom, bound: frozenset[Variable], spelling: Spelling) -> str:
    match atom:
        case Predicate(attribute, Equal(constant)) if attribute == _TAGS and is_name(constant):
            return spelling.constant(constant)
        case Predicate():
            return f"{spelling.attribute(atom.attribute)} {spelling.condition(atom.condition)}"
        case TriplePattern():
            parts = [_vertex(part, spelling) for part in (atom.subject, atom.property, atom.object)]
            return f"({', '.join(parts)})"
        case OperatorCall():
            arguments = [_vertex(part, spelling) for part in atom.arguments]
            return f"{spell.name(atom.operator)}({', '.join(arguments)})"
        case Bind():
            return f"bind {spell.variable(atom.variable)} = {spelling.term(atom.term)}"
        case Not():
            return _refusal(atom.body, bound, spelling)
        case _:
            assert_never(atom)


def _refusal(body: Conjunction, bound: frozenset[Variable], spelling: Spelling) -> str:
    text = _conjunction(body, bound, spelling)
    parts = len(body.atoms) + len(body.constraints)
    if not parts or (parts == 1 and body.atoms and not isinstance(body.atoms[0], Not)):
        return f"not {text}"
    if parts > 1 and not bound.issuperset(bound_by(body)):
        return f"not ({text})"
    return f"not all ({text})"


def _vertex(vertex: Vertex, spelling: Spelling) -> str:
    match vertex:
        case Home():
            return "home"
        case Variable():
            return spell.variable(vertex)
        case _:
            return spelling.constant(vertex)


def _check(text: str) -> None:
    """Refuse a text that is too long or too deep to be read back."""
    if len(text) > LONGEST:
        raise unsayable(f"a subscription of more than {LONGEST:,} characters")
    if sum(map(text.count, _DEEPER)) > DEEPEST:
        from sensewire.language.tree import tree_of  # rare, and lark is slow to import

        tree_of(text)


def _number(number: float) -> str:
    return repr(float(number)).removesuffix(".0")
