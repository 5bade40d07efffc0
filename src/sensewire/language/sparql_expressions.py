"""FILTER's expressions as constraints of the model.

Operators are read by their strength, each level of brackets or operators one deeper. A variable
compared with a constant is a `Test`, as in our language; everything else is a `Comparison`. EXISTS
is no expression of the model: while a filter is read, a variable that no query can name stands for
it, and it may only be a conjunct.
"""

from collections.abc import Callable, Iterator

from sensewire.language.comparisons import FLIPPED
from sensewire.language.disjunction import depth_of
from sensewire.language.limits import DEEPEST
from sensewire.language.sparql_cursor import Cursor
from sensewire.language.sparql_tokens import IRI, NAME, SIGN, VARIABLE, WORD
from sensewire.language.sparql_tree import Condition, Exists, Group
from sensewire.language.values import UNBOUND_KINDS
from sensewire.model.conditions import Condition as ModelCondition
from sensewire.model.conditions import (
    Constant,
    Different,
    Equal,
    OneOf,
    Order,
    Reading,
    Relation,
    Variable,
)
from sensewire.model.errors import UnsupportedError
from sensewire.model.expressions import (
    ARITIES,
    FUNCTIONS,
    And,
    Arithmetic,
    Call,
    Comparison,
    Equality,
    Expression,
    Minus,
    Negation,
    Or,
    Sign,
    Test,
    variables_in,
)
from sensewire.model.patterns import problem_with
from sensewire.model.terms import FALSE, Term, term_of

_STRENGTHS = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "IN", "NOT"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/"), 5),
}
_OR, _AND, _RELATION = 1, 2, 3
FUNCTION_NAMES = {**{name.upper(): name for name in FUNCTIONS}, "ISURI": "isIRI"}
_AGGREGATES = frozenset(["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"])
_OTHER_FUNCTIONS = """
    IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN ENCODE_FOR_URI YEAR MONTH DAY HOURS
    MINUTES SECONDS TIMEZONE TZ NOW UUID STRUUID MD5 SHA1 SHA256 SHA384 SHA512 COALESCE IF STRLANG
    STRDT ISNUMERIC SUBSTR REPLACE STRBEFORE STRAFTER TRIPLE SUBJECT PREDICATE OBJECT ISTRIPLE
    LANGDIR HASLANG HASLANGDIR STRLANGDIR ADJUST
"""
_OTHERS = frozenset(_OTHER_FUNCTIONS.split())
_OPERAND = "a variable, a constant or a function"


class Expressions:
    """Reads the expressions of one query; `group` reads the group behind EXISTS."""

    def __init__(self, cursor: Cursor, group: Callable[[], Group]) -> None:
        self._of = cursor
        self._group = group
        self._exists: dict[Variable, Exists] = {}
        self._places: dict[Variable, int] = {}

    def filter(self) -> Iterator[Condition | Exists]:
        """The conjuncts of a FILTER, behind that word."""
        of, place = self._of, self._of.place
        start = of.at
        places = self._places = {}
        if of.is_sign("("):
            expression = self._bracketed()
        elif of.word() in ("EXISTS", "NOT"):
            expression = self._existence()
        elif of.kinds[of.at] in (WORD, IRI, NAME):
            expression = self._called()
        else:
            raise of.wrong("'(', a function or [NOT] EXISTS")
        for part in _conjuncts(expression):
            if of.at - start > DEEPEST and depth_of(part) > DEEPEST:
                raise UnsupportedError(f"a constraint nested deeper than {DEEPEST}", place)
            yield self._conjunct(part, place, places)

    def anything(self) -> None:
        """Read any expression."""
        self._binary(_OR)

    def _conjunct(
        self, part: Expression, place: int, places: dict[Variable, int]
    ) -> Condition | Exists:
        if not self._exists:
            return Condition(part, place, places)
        found, is_negated = part, False
        while isinstance(found, Negation) and isinstance(found.part, Negation | Variable):
            found, is_negated = found.part, not is_negated
        if isinstance(found, Variable) and found in self._exists:
            exists = self._exists[found]
            return Exists(exists.group, exists.negated != is_negated, exists.position)
        for variable in variables_in(part):
            if variable in self._exists:
                raise UnsupportedError(
                    "EXISTS inside `||` or an operation; it stands alone, or beside `&&`",
                    self._exists[variable].position,
                )
        return Condition(part, place, places)

    def _bracketed(self) -> Expression:
        self._of.must("(")
        expression = self._binary(_OR)
        self._of.must(")", "an operator or ")
        return expression

    def _binary(self, weakest: int) -> Expression:
        """An operand, and the operators behind it that are at least so strong."""
        of = self._of
        of.deeper(of.place)
        left = self._unary()
        strongest = 5
        while True:
            sign = self._operator()
            strength = _STRENGTHS.get(sign, 0)
            if not weakest <= strength <= strongest:
                break
            if strength in (_OR, _AND):
                left = self._joined(sign, left, strength)
            elif strength == _RELATION:
                left = self._related(sign, left)
                strongest = _AND  # a relation has two sides
            else:
                of.at += 1
                left = Arithmetic(Sign(sign), left, self._binary(strength + 1))
        of.shallower()
        return left

    def _operator(self) -> str:
        of = self._of
        kind = of.kinds[of.at]
        if kind == IRI:
            of.split_iri()
            kind = SIGN
        if kind == SIGN:
            return of.texts[of.at]
        return of.word() if kind == WORD else ""

    def _joined(self, sign: str, first: Expression, strength: int) -> Expression:
        parts = [first]
        while self._of.takes(sign):
            parts.append(self._binary(strength + 1))
        return Or(tuple(parts)) if strength == _OR else And(tuple(parts))

    def _related(self, sign: str, left: Expression) -> Expression:
        of, place = self._of, self._of.place
        of.at += 1
        if sign in ("IN", "NOT"):
            if sign == "NOT" and not of.takes_word("IN"):
                raise of.wrong("IN")
            found = self._one_of(left)
            if sign == "NOT" and isinstance(found, Constant):
                raise UnsupportedError("NOT IN of nothing, which engines disagree on", place)
            return Negation(found) if sign == "NOT" else found
        return compared(left, sign, self._binary(_RELATION + 1))

    def _one_of(self, left: Expression) -> Expression:
        items = self._arguments()
        if not items:
            return Constant(FALSE, Reading.EXACT)
        constants = [item for item in items if isinstance(item, Constant)]
        if isinstance(left, Variable) and len(constants) == len(items):
            return Test(left, OneOf(tuple(constants)))
        parts = tuple(compared(left, "=", item) for item in items)
        return Or(parts) if len(parts) > 1 else parts[0]

    def _unary(self) -> Expression:
        of = self._of
        kind, text = of.kinds[of.at], of.texts[of.at]
        if kind == VARIABLE:
            return self._variable()
        if kind == SIGN:
            if text == "(":
                return self._bracketed()
            if text in ("!", "-", "+"):
                return self._signed(text)
        if kind == WORD and text not in ("true", "false"):
            if of.word() in ("NOT", "EXISTS"):
                return self._existence()
            return self._called()
        if kind in (NAME, IRI) and of.texts[of.at + 1] == "(":
            return self._called()
        constant = of.constant()
        if constant is None:
            raise of.wrong(_OPERAND)
        return constant

    def _variable(self) -> Variable:
        place = self._of.place
        variable = self._of.variable()
        self._places.setdefault(variable, place)
        return variable

    def _signed(self, sign: str) -> Expression:
        of, place = self._of, self._of.place
        if sign != "!" and of.is_signed_number():
            constant = of.constant()
            assert constant is not None
            return constant
        of.at += 1
        is_number = of.is_signed_number()
        if sign != "!" and any(of.is_sign(each) for each in "!+-") and not is_number:
            raise of.wrong(_OPERAND)
        of.deeper(place)
        operand = self._unary()
        of.shallower()
        if sign == "!":
            return Negation(operand)
        if sign == "-":
            return Minus(operand)
        return Arithmetic(Sign.PLUS, Constant(term_of(0), Reading.EXACT), operand)

    def _existence(self) -> Variable:
        of, place = self._of, self._of.place
        is_negated = of.takes_word("NOT")
        if not of.takes_word("EXISTS"):
            raise of.wrong("EXISTS")
        standing = Variable(f"exists {len(self._exists)}")  # no name of a variable has a space
        self._exists[standing] = Exists(self._group(), is_negated, place)
        return standing

    def _called(self) -> Expression:
        of, place = self._of, self._of.place
        name = of.word()
        function = FUNCTION_NAMES.get(name)
        if function is None:
            raise self._no_function(name)
        of.at += 1
        if function == "bound":
            of.must("(")
            variable = self._variable()
            of.must(")")
            return Call(function, (variable,))
        arguments = self._arguments()
        if len(arguments) not in ARITIES[function]:
            counts = " or ".join(str(count) for count in ARITIES[function])
            what = "argument" if counts == "1" else "arguments"
            raise of.wrong(f"{counts} {what} for {name}, not {len(arguments)}", place)
        if function == "regex":
            self._check_regex(arguments)
        return Call(function, tuple(arguments))

    def _no_function(self, name: str) -> Exception:
        of = self._of
        is_call = of.texts[of.at + 1] == "("
        if name in _AGGREGATES and is_call:
            return UnsupportedError(f"{name}, an aggregate: events come one by one", of.place)
        if name in _OTHERS and is_call:
            return UnsupportedError(f"{name}, a function", of.place)
        if not name and is_call:
            return UnsupportedError(f"{of.texts[of.at]}, a function or cast", of.place)
        return of.wrong(_OPERAND)

    def _arguments(self) -> list[Expression]:
        of = self._of
        of.must("(")
        if of.takes(")"):
            return []
        found = [self._binary(_OR)]
        while of.takes(","):
            found.append(self._binary(_OR))
        of.must(")", "an operator, ',' or ")
        return found

    def _check_regex(self, arguments: list[Expression]) -> None:
        pattern, *flags = arguments[1:]
        if not isinstance(pattern, Constant) or not isinstance(pattern.value, Term):
            return
        letters = "".join(str(flag.value.text) for flag in flags if isinstance(flag, Constant))
        problem = problem_with(pattern.value.text) if not set(letters) & set("qx") else None
        if problem is not None:
            raise self._of.wrong(f"an RE2 expression ({problem})", pattern.position)


def compared(left: Expression, sign: str, right: Expression) -> Expression:
    """Two expressions compared; a variable and a constant make a condition on the variable."""
    if isinstance(left, Variable) and isinstance(right, Constant):
        condition = _condition(sign, right)
        if condition is not None:
            return Test(left, condition)
    if isinstance(left, Constant) and isinstance(right, Variable):
        condition = _condition(FLIPPED[sign], left)
        if condition is not None:
            return Test(right, condition)
    relation = Equality(sign) if sign in ("=", "!=") else Relation(sign)
    return Comparison(relation, left, right)


def _condition(sign: str, constant: Constant) -> ModelCondition | None:
    assert isinstance(constant.value, Term)
    if sign == "=":
        return Equal(constant)
    if sign == "!=":
        return Different(constant)
    if constant.value.kind in UNBOUND_KINDS:
        return None
    return Order(Relation(sign), constant.value)


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, And):
            waiting += reversed(part.parts)
        else:
            yield part
