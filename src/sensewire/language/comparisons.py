"""What a comparison is: a predicate, a test of a variable, or a comparison of expressions.

What stands on the left decides. A name is an attribute, and the comparison a predicate; a variable
against a constant is a `Test`, also with its sides exchanged; everything else is a `Comparison`.
Brackets around a constant or a variable make it an expression, and so tell `("a") = ?x`, a
comparison, from `"a" = ?x`, a predicate that binds.
"""

from dataclasses import dataclass, field

from sensewire.language.formula import Check, Formula, Leaf, leaf
from sensewire.language.parts import Group, Named, Part
from sensewire.language.values import (
    NAMES,
    UNBOUND_KINDS,
    WORDS,
    Form,
    Value,
    Values,
)
from sensewire.model.conditions import (
    Binds,
    Condition,
    Constant,
    Different,
    Equal,
    Name,
    Order,
    Reading,
    Relation,
    Text,
    TextRelation,
    Variable,
)
from sensewire.model.expressions import Comparison, Equality, Expression, Test
from sensewire.model.patterns import problem_with
from sensewire.model.subscription import Atom, OperatorCall, Predicate
from sensewire.model.terms import string

SPELLINGS = {"≤": "<=", "≥": ">=", "≠": "!="}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
TAGS = "tags"


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Reads the comparisons of one text; remembers where its constraints name variables."""

    values: Values
    places: dict[Variable, int] = field(default_factory=dict)

    def truth(self, part: Part) -> Formula:
        """A part where something true or false is asked for: a name alone is a tag."""
        match part:
            case Value() if part.form in NAMES:
                return self.atom(self._tag(part), part.position)
            case Value() | Named():
                return Check(self.expression(part), part.position)
            case Group():
                return self.truth(part.part)
            case _:
                return part

    def expression(self, part: Part) -> Expression:
        """A part where a value is asked for: a name alone is a constant."""
        match part:
            case Value():
                return self.values.constant(part)
            case Named():
                return self.variable(part)
            case Group():
                return self.expression(part.part)
            case Check():
                return part.expression
            case _:
                raise self.values.wrong(
                    part.position, "a variable, a constant or a function in a constraint"
                )

    def variable(self, named: Named) -> Variable:
        """A variable of a constraint."""
        self.places.setdefault(named.variable, named.position)
        return named.variable

    def atom(self, atom: Atom, position: int) -> Leaf:
        """An atom; a strict subscription refuses most."""
        if self.values.strict and isinstance(atom, Predicate | OperatorCall):
            raise self.values.wrong(
                position, "a pattern or a constraint, since the subscription is strict"
            )
        return leaf(atom, position)

    def constant(self, part: Part) -> Constant:
        """A constant and nothing else."""
        return self.values.constant(self.value(part))

    def value(self, part: Part, expected: str = "a value") -> Value:
        """A value and nothing else."""
        if isinstance(part, Value):
            return part
        raise self.values.wrong(part.position, expected)

    def conditioned(self, left: Part, condition: Condition) -> Formula:
        """A condition on an attribute or on a variable."""
        match left:
            case Value() if left.form in NAMES:
                predicate = Predicate(self.values.constant(left), condition)
                return self.atom(predicate, left.position)
            case Named():
                return Check(Test(self.variable(left), condition), left.position)
            case _:
                raise self.values.wrong(left.position, "an attribute or a variable")

    def compared(self, left: Part, sign: str, right: Part) -> Formula:
        """A comparison by one of = != < <= > >=."""
        if isinstance(left, Value) and left.form in NAMES:
            return self.conditioned(left, self._asked_of_attribute(left, sign, right))
        if isinstance(left, Named) and isinstance(right, Value) and _is_test(sign, right):
            return self.conditioned(left, self._condition(sign, right))
        if isinstance(left, Value) and isinstance(right, Named) and _is_test(sign, left):
            return self.conditioned(right, self._condition(FLIPPED[sign], left))
        relation = Equality(sign) if sign in ("=", "!=") else Relation(sign)
        compared = Comparison(relation, self.expression(left), self.expression(right))
        return Check(compared, left.position)

    def text(self, relation: str, part: Part) -> Text:
        """A condition on the text of a value."""
        value = self.value(part, "a text in quotes")
        if value.form not in WORDS and value.form is not Form.STRING:
            raise self.values.wrong(value.position, "a text in quotes")
        text = self.values.term(value, "a text").text
        if relation == TextRelation.MATCHES:
            problem = problem_with(text)
            if problem is not None:
                raise self.values.wrong(value.position, f"an RE2 expression ({problem})")
        return Text(TextRelation(relation), text)

    def _asked_of_attribute(self, left: Value, sign: str, right: Part) -> Condition:
        match right:
            case Named() if sign == "=":
                return Binds(right.variable)
            case Value():
                return self._condition(sign, right)
            case _:
                raise self.values.wrong(
                    right.position,
                    f"a value; bind a variable first for more: "
                    f"{left.term.text} = ?v and ?v {sign} …",
                )

    def _condition(self, sign: str, value: Value) -> Condition:
        if sign == "=":
            return Equal(self.values.constant(value))
        if sign == "!=":
            return Different(self.values.constant(value))
        return Order(Relation(sign), self.values.bound(value))

    def _tag(self, value: Value) -> Predicate:
        if self.values.reading is Reading.EXACT:
            tags = Constant(Name(TAGS), Reading.EXACT, value.position)
        else:
            tags = Constant(string(TAGS), Reading.MEANING, value.position)
        return Predicate(tags, Equal(self.values.constant(value)))


def _is_test(sign: str, value: Value) -> bool:
    """Whether a comparison of a variable with this value is a condition on the variable."""
    if sign in ("=", "!="):
        return True
    return not value.exactly and value.term.kind not in UNBOUND_KINDS
