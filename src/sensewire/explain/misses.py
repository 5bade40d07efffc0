"""The nearest miss of a predicate: what the event says instead, and what would have done."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from fractions import Fraction

from sensewire.explain.explanation import Miss, Source
from sensewire.explain.ways import own_name_of
from sensewire.knowledge.content import own_name
from sensewire.match.oracle_distance import distance_of
from sensewire.match.oracle_values import Reader, spelled
from sensewire.model import comparison, datatypes
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    OneOf,
    Order,
    Reading,
    Relation,
    Text,
    TextRelation,
)
from sensewire.model.event import Fact
from sensewire.model.subscription import Predicate
from sensewire.model.terms import FALSE, TRUE, Kind, Term, literal, number_of, string, term_of
from sensewire.model.terms import quantity as quantity_term

_MOST_NAMED = 5
_LONGEST = 60  # characters of a value in a sentence
_LARGE = 10**15  # beyond it, one more or less may be the same double


def missed(
    predicate: Predicate, at_home: Sequence[Fact], reader: Reader, source: Callable[[Fact], Source]
) -> Miss:
    """Why no fact of the home vertex meets a predicate."""
    named = [fact for fact in at_home if reader.names(fact.property, predicate.attribute)]
    instead = _instead(predicate, reader)
    remedy = _remedy(predicate, reader)
    if not named:
        return Miss(*_absent(predicate, at_home, reader, source), remedy, instead)
    nearest = min(named, key=lambda fact: _distance(predicate, fact, reader))
    return Miss(_difference(predicate, nearest, reader), source(nearest), remedy, instead)


def _distance(predicate: Predicate, fact: Fact, reader: Reader) -> tuple[float, int]:
    """Nearest first: by the distance of `within`, then by common ground in the hierarchy."""
    far = distance_of(predicate, [(fact.property, fact.object)], reader)
    shared = 0
    for constant in _concepts(predicate.condition):
        scopes = reader.scopes(fact.property, predicate.attribute)
        above = reader.knowledge.above
        value = above(reader.knowledge.value_root(fact.object, scopes.value))
        asked = above(reader.knowledge.value_root(spelled(constant), scopes.constant))
        shared = max(shared, len(value & asked))
    return far, -shared


def _concepts(condition: Condition) -> tuple[Constant, ...]:
    match condition:
        case Equal() | IsA() | IsDirectlyA():
            return (condition.constant,)
        case OneOf():
            return condition.constants
    return ()


def _absent(
    predicate: Predicate,
    at_home: Sequence[Fact],
    reader: Reader,
    source: Callable[[Fact], Source],
) -> tuple[str, Source | None]:
    """What there is where the attribute is not."""
    asked = own_name(spelled(predicate.attribute))
    if not at_home:
        return f"the event has no attributes, and so no {asked}", None
    for fact in at_home:
        steps = reader.knowledge.attribute_steps_up(spelled(predicate.attribute), fact.property)
        if steps and predicate.attribute.reading is Reading.MEANING:
            general = f"{own_name(fact.property)} is more general than {asked}"
            return f"{general}, and may be something else", source(fact)
    names = list(dict.fromkeys(own_name(fact.property) for fact in at_home))
    near = get_close_matches(asked, names, n=1)
    if near:
        found = next(fact for fact in at_home if own_name(fact.property) == near[0])
        return f"the event has no {asked}, but {near[0]}", source(found)
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"the event has no {asked}; it has {', '.join(names[:_MOST_NAMED])}{more}", None


def _difference(predicate: Predicate, fact: Fact, reader: Reader) -> str:
    """Asked against actual."""
    value, condition = fact.object, predicate.condition
    found = shown(value)
    match condition:
        case Order(_, bound):
            return _overshoot(value, bound)
        case Between(low, high):
            below = comparison.order(value, low)
            return _overshoot(value, low if below is not None and below < 0 else high)
        case Equal() | OneOf() | IsA() | IsDirectlyA():
            return _unlike(predicate, fact, reader)
        case Different(constant):
            return f"{found} is {shown(spelled(constant))}"
        case Text(relation, text):
            if value.kind not in (Kind.STRING, Kind.UNTYPED, Kind.LANGUAGE, Kind.IRI):
                return f"{found} is no text"
            wanted = {"prefix": "begin with", "suffix": "end with"}.get(relation, "contain")
            verb = "match" if relation is TextRelation.MATCHES else wanted
            return f"{found} does not {verb} {shown(string(text))}"
        case IsAbove(constant):
            return f"{found} is not above {shown(spelled(constant))}"
        case Exists() | Binds():
            return f"{found} is there"
    return f"{found} does not do"


def _overshoot(value: Term, bound: Term) -> str:
    if comparison.comparable(value, bound) is None:
        kinds = f"a {_kind(value)} does not compare with a {_kind(bound)}"
        return f"{shown(value)} does not compare with {shown(bound)}: {kinds}"
    found, asked = comparison.numeric(value), comparison.numeric(bound)
    order = comparison.order(value, bound)
    side = "too much" if order == 1 else "too little" if order == -1 else "not beyond the bound"
    if found is None or asked is None or order == 0:
        return f"{shown(value)} is {side}"
    try:
        gap = abs(Fraction(found) - Fraction(asked))
    except (ValueError, OverflowError):  # NaN and infinities
        return f"{shown(value)} is {side}"
    return f"{shown(value)} is {_rounded(gap)} {side}"


def _rounded(gap: Fraction) -> str:
    if gap >= 10**15:
        return "far"
    return str(gap.numerator) if gap.denominator == 1 else f"{float(gap):.6g}"


def _kind(term: Term) -> str:
    return "text" if term.kind in (Kind.STRING, Kind.UNTYPED) else term.kind.value


def _unlike(predicate: Predicate, fact: Fact, reader: Reader) -> str:
    """How a value and the concepts that were asked for are related, if at all."""
    knowledge = reader.knowledge
    scopes = reader.scopes(fact.property, predicate.attribute)
    value = knowledge.value_root(fact.object, scopes.value)
    said = shown(fact.object)
    if knowledge.is_ambiguous(fact.object, scopes.value):
        meanings = knowledge.value_meanings(fact.object, scopes.value)
        return f"{said} has {len(meanings)} meanings, and so stays a plain word"
    constants = _concepts(predicate.condition)
    for constant in constants:
        asked = knowledge.value_root(spelled(constant), scopes.constant)
        steps = knowledge.steps_up(asked, value)
        if steps and constant.reading is Reading.MEANING:
            return f"{said} is more general than {shown(spelled(constant))}, by {_steps(steps)}"
    for constant in constants:
        asked = knowledge.value_root(spelled(constant), scopes.constant)
        if asked in knowledge.above(value):
            direct = isinstance(predicate.condition, IsDirectlyA)
            how = "directly" if direct else "exactly"
            return f"{said} is a kind of {shown(spelled(constant))}, but not {how}"
    common = [
        ancestor
        for constant in constants
        for ancestor in knowledge.above(value)
        & knowledge.above(knowledge.value_root(spelled(constant), scopes.constant))
        if knowledge.steps_up(value, ancestor) and ancestor.text != "Thing"
    ]
    asked_for = " or ".join(shown(spelled(constant)) for constant in constants[:_MOST_NAMED])
    if common:
        nearest = min(common, key=lambda each: (knowledge.steps_up(value, each), each.text))
        return f"{said} is no {asked_for}, though both are {own_name_of(nearest)}"
    if fact.object.kind is Kind.LANGUAGE:
        return f"{said} is a text in a language, and only that text itself, not {asked_for}"
    if any(spelled(constant).kind is Kind.LANGUAGE for constant in constants):
        return f"{said} is no text in a language, as {asked_for} is"
    near = get_close_matches(own_name_of(fact.object), [spelled(c).text for c in constants], n=1)
    alike = f"; it is spelled much like {near[0]!r}" if near else ""
    exactly = " exactly" if any(c.reading is Reading.EXACT for c in constants) else ""
    return f"{said} is not {asked_for}{exactly}{alike}"


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _remedy(predicate: Predicate, reader: Reader) -> str | None:
    """What would have made the predicate hold, in words."""
    attribute = own_name(spelled(predicate.attribute))
    match predicate.condition:
        case Order(relation, bound):
            words = {
                Relation.LESS: "less than",
                Relation.AT_MOST: "at most",
                Relation.MORE: "more than",
                Relation.AT_LEAST: "at least",
            }
            return f"{attribute} of {words[relation]} {shown(bound)} would match"
        case Between(low, high):
            return f"{attribute} from {shown(low)} to {shown(high)} would match"
        case Equal() | OneOf() | IsA():
            return f"{attribute} = {_wanted(predicate, reader)} would match"
        case Different(constant):
            return f"another {attribute} than {shown(spelled(constant))} would match"
        case Text(relation, text):
            return f"{attribute} {relation.value} {shown(string(text))} would match"
        case Exists() | Binds():
            return f"any {attribute} would match"
        case IsDirectlyA(constant):
            return f"{attribute} declared as {shown(spelled(constant))} would match"
        case IsAbove(constant):
            return f"{attribute} more general than {shown(spelled(constant))} would match"
    return None


def _wanted(predicate: Predicate, reader: Reader) -> str:
    constants = _concepts(predicate.condition)
    wanted = " or ".join(shown(spelled(constant)) for constant in constants[:_MOST_NAMED])
    knowledge = reader.knowledge
    scope = knowledge.scope_of(spelled(predicate.attribute))
    narrower = sorted(
        own_name_of(each)
        for constant in constants
        if constant.reading is Reading.MEANING
        and (root := knowledge.value_root(spelled(constant), scope))
        for each in knowledge.children(root)
        if knowledge.value_root(string(own_name_of(each)), scope) == each
    )
    if not narrower:
        return wanted
    more = ", …" if len(narrower) > 3 else ""
    return f"{wanted} or narrower ({', '.join(narrower[:3])}{more})"


def _instead(predicate: Predicate, reader: Reader) -> Term | None:
    """A value of the attribute with which the predicate holds, where one can be named."""
    candidates = _candidates(predicate.condition)
    attribute = spelled(predicate.attribute)
    scopes = reader.scopes(attribute, predicate.attribute)
    if not reader.names(attribute, predicate.attribute):
        return None
    return next((c for c in candidates if reader.meets(c, predicate.condition, scopes)), None)


def _candidates(condition: Condition) -> list[Term]:
    match condition:
        case Equal(constant) | IsA(constant):
            return [spelled(constant)]
        case OneOf(constants):
            return [spelled(constant) for constant in constants]
        case Order(_, bound):
            return [bound, *_beside(bound)]
        case Between(low, high):
            return [low, high]
        case Different():
            return [string("something else"), TRUE, FALSE]
        case Text(_, text):
            return [string(text)]
        case Exists() | Binds():
            return [string("anything")]
        case IsDirectlyA() | IsAbove():
            return []


def _beside(bound: Term) -> list[Term]:
    """Values a little less and a little more than a bound."""
    match bound.kind:
        case Kind.NUMBER:
            number = number_of(bound)
            if not -_LARGE < number < _LARGE:
                return []
            return [term_of(number - 1), term_of(number + 1)]
        case Kind.DATE:
            value = bound.value
            assert isinstance(value, datetime)
            try:
                around = [value - timedelta(days=2), value + timedelta(days=2)]
            except OverflowError:
                return []
            return [literal(each.isoformat(), datatypes.DATE_TIME) for each in around]
        case Kind.QUANTITY:
            size, _, unit = bound.text.partition(" ")
            if not -_LARGE < Fraction(size) < _LARGE:
                return []
            around_it = [Fraction(size) - 1, Fraction(size) + 1]
            made = (quantity_term(f"{float(each)!r} {unit}") for each in around_it)
            return [each for each in made if each is not None]
        case _:
            return [string(""), string(bound.text + "a")]


def shown(term: Term) -> str:
    """A term in a sentence: texts in quotes, names and numbers bare."""
    text = own_name_of(term)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    if term.kind is Kind.LANGUAGE:
        return f"{text!r}@{term.language}"
    quoted = term.kind in (Kind.STRING, Kind.UNTYPED) and not text.isidentifier()
    return f"{text!r}" if quoted else text
