"""Our own language: from a text to a subscription.

    text → tree (the grammar) → formula (what each comparison is) → conjunctions → subscription

Cost: linear in the text and in the disjunction that it spreads to.
"""

from lark import Token, Tree

from sensewire.language.build import formula_of
from sensewire.language.comparisons import Comparisons
from sensewire.language.disjunction import conjunctions_of
from sensewire.language.tree import tree_of
from sensewire.language.values import Values
from sensewire.language.words import PREDECLARED, is_absolute
from sensewire.model.conditions import Reading, Variable
from sensewire.model.errors import ParseError
from sensewire.model.subscription import InvalidSubscriptionError, Problem, Subscription

Parts = list[Tree[Token]]


def read(text: str, reading: Reading) -> Subscription:
    """The subscription that a text of our language says.

    >>> read("price <= 5", Reading.MEANING).conjunctions[0].atoms[0].condition.bound.text
    '5'
    """
    parts = [part for part in tree_of(text).children if isinstance(part, Tree)]
    around: dict[str, Parts] = {"declaration": [], "selection": [], "closing": []}
    (body,) = [part for part in parts if part.data not in around]
    for part in parts:
        if part is not body:
            around[part.data].append(part)
    closings = _closings(text, around["closing"])
    strict = "strict" in closings
    used = Reading.EXACT if strict else reading
    values = Values(text, _prefixes(text, around["declaration"]), used, strict)
    comparisons = Comparisons(values)
    formula = formula_of(body, comparisons)
    selected = _selected(around["selection"])
    try:
        return Subscription(
            conjunctions_of(formula, text),
            None if selected is None else tuple([variable for variable, _ in selected]),
            "injective" in closings,
            strict,
            _tolerance(text, closings.get("within")),
        )
    except InvalidSubscriptionError as error:
        places = {**comparisons.places, **dict(reversed(selected or []))}
        raise _wrong(text, error.problem, places, formula.position) from None


def _closings(text: str, parts: Parts) -> dict[str, Tree[Token]]:
    found: dict[str, Tree[Token]] = {}
    for part in parts:
        word = _token(part, 0)
        if word in found:
            raise ParseError(text, word.start_pos or 0, f"{str(word)!r} once")
        found[str(word)] = part
    return found


def _tolerance(text: str, part: Tree[Token] | None) -> float | None:
    if part is None:
        return None
    number = _token(part, 1)
    tolerance = float(number)
    if not 0 < tolerance < float("inf"):
        raise ParseError(text, number.start_pos or 0, "a number above 0")
    return tolerance


def _prefixes(text: str, parts: Parts) -> dict[str, str]:
    declared: dict[str, str] = {}
    for part in parts:
        name, address = _token(part, 1), _token(part, 2)
        if name[:-1] in declared:
            raise ParseError(text, name.start_pos or 0, f"the prefix {name} to be declared once")
        if not is_absolute(address[1:-1]):
            expected = "an absolute IRI such as <http://example.org/>"
            raise ParseError(text, address.start_pos or 0, expected)
        declared[name[:-1]] = address[1:-1]
    return {**PREDECLARED, **declared}


def _selected(parts: Parts) -> list[tuple[Variable, int]] | None:
    if not parts:
        return None
    tokens = [token for token in parts[0].children if isinstance(token, Token)]
    return [(Variable(str(token[1:])), token.start_pos or 0) for token in tokens]


def _token(part: Tree[Token], number: int) -> Token:
    token = part.children[number]
    assert isinstance(token, Token)
    return token


def _wrong(text: str, problem: Problem, places: dict[Variable, int], start: int) -> ParseError:
    place = start if problem.variable is None else places.get(problem.variable, start)
    return ParseError(text, place, f"a bound variable; {problem.message}")
