"""Mapping functions: what is refused when they are made, what they make, and how they fail.

Proved by breaking: untyped numbers taken as texts, null in a list taken as a value, a time left in
its own zone, an input that nobody uses, infinite results, durations left as they are, a blank node
without its sign.
"""

import pickle
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.knowledge.mappings import MappingError, MappingFunction, mapping_function
from sensewire.model import datatypes
from sensewire.model.errors import KnowledgeError, SensewireError
from sensewire.model.terms import (
    FALSE,
    TRUE,
    Term,
    blank,
    iri,
    language_string,
    literal,
    quantity,
    string,
    term_of,
    untyped,
)

MOMENT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
EXPERIENCE = mapping_function(
    "experience",
    [("graduation", string("graduation date"))],
    [(string("experience"), "event.time.getFullYear() - graduation")],
)


def made(text: str, *values: Term) -> list[Term]:
    """What an expression over the inputs a, b, … makes."""
    aliases = [chr(ord("a") + number) for number in range(len(values))]
    used = f"[{', '.join(aliases)}].size() < 0 ? null : {text}" if aliases else text
    function = mapping_function(
        "f", [(alias, string(alias)) for alias in aliases], [(string("out"), used)]
    )
    pairs = function.apply(values, MOMENT, "e1")
    assert all(attribute == string("out") for attribute, _ in pairs)
    return [value for _, value in pairs]


def q(text: str) -> Term:
    found = quantity(text)
    assert found is not None
    return found


def test_the_papers_example() -> None:
    assert EXPERIENCE.apply([term_of(1990)], MOMENT, "e1") == ((string("experience"), term_of(34)),)
    assert EXPERIENCE.uses_event


def test_the_events_time_is_read_in_utc() -> None:
    function = mapping_function(
        "hour", [("a", string("a"))], [(string("hour"), "[event.time.getHours() + a, event.time]")]
    )
    there = MOMENT.astimezone(timezone(timedelta(hours=2)))
    for moment in (MOMENT.replace(tzinfo=None), MOMENT, there):
        hour, time = function.apply([term_of(0)], moment, "e1")
        assert (hour[1], time[1]) == (term_of(7), term_of(MOMENT))


@pytest.mark.parametrize(
    ("value", "expression"),
    [
        (term_of(5), "a == 5 && type(a) == int"),
        (literal("007", datatypes.INTEGER), "a == 7 && type(a) == int"),
        (literal("1.5", datatypes.DECIMAL), "a == 1.5 && type(a) == double"),
        (term_of(2.5), "a == 2.5 && type(a) == double"),
        (TRUE, "a == true && type(a) == bool"),
        (literal("0", datatypes.BOOLEAN), "a == false"),
        (string("5"), "a == '5' && type(a) == string"),
        (language_string("Haus", "de"), "a == 'Haus'"),
        (untyped("5"), "a == 5 && type(a) == int"),
        (untyped("5.0"), "a == 5.0 && type(a) == double"),
        (untyped("5e0"), "a == 5.0 && type(a) == double"),
        (untyped("5 km"), "a == '5 km'"),
        (untyped(" 5"), "a == ' 5'"),
        (literal("2024-05-06", datatypes.DATE), "a == timestamp('2024-05-06T00:00:00Z')"),
        (
            literal("2024-05-06T07:08:09+01:00", datatypes.DATE_TIME),
            "a == timestamp('2024-05-06T06:08:09Z')",
        ),
        (q("5km"), "a == '5 km' && convert(a, 'm') == 5000"),
        (iri("http://x.org/a#b"), "a == 'http://x.org/a#b'"),
        (blank("H"), "a == '_:H'"),
    ],
)
def test_what_an_expression_sees_of_a_term(value: Term, expression: str) -> None:
    assert made(expression, value) == [TRUE]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true", [TRUE]),
        ("1 > 2", [FALSE]),
        ("1 + 1", [term_of(2)]),
        ("1 + 1.5", [term_of(2.5)]),
        ("'a' + 'b'", [string("ab")]),
        ("18446744073709551615u", [term_of(2**64 - 1)]),
        ("event.time", [term_of(MOMENT)]),
        ("event.id", [string("e1")]),
        ("duration('1h')", [q("3600 s")]),
        ("duration('-1500ms')", [q("-1.5 s")]),
        ("duration('0s')", [q("0 s")]),
        ("event.time - date('2024-05-06')", [q("25689 s")]),
        ("null", []),
        ("[]", []),
        ("[1, 'a', true]", [term_of(1), string("a"), TRUE]),
        ("[1, null, 1]", [term_of(1), term_of(1)]),
    ],
)
def test_what_becomes_of_a_result(expression: str, expected: Sequence[Term]) -> None:
    assert made(expression, term_of(0)) == expected


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1 / a", "division by zero"),
        ("1.0 / a", "division by zero"),
        ("1e308 * 10", "produced inf; expected a finite number"),
        ("-1e308 * 10", "produced -inf; expected a finite number"),
        ("[1.0, double('nan')]", "produced nan; expected a finite number"),
        ("b'a'", "produced a bytes; expected a text, number, boolean, timestamp or duration"),
        ("{'a': 1}", "produced a map; expected a text"),
        ("[1, [2]]", "produced a list; expected a text"),
        ("[{'a': 1}]", "produced a map; expected a text"),
    ],
)
def test_a_failure_names_the_function_and_the_reason(expression: str, reason: str) -> None:
    with pytest.raises(MappingError) as caught:
        made(expression, term_of(0))
    assert str(caught.value).startswith(f"mapping f failed: {reason}")
    assert isinstance(caught.value, SensewireError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("value", [term_of(2**63), untyped(str(-(2**63) - 1))])
def test_an_integer_beyond_64_bits_is_a_failure(value: Term) -> None:
    with pytest.raises(MappingError, match="mapping f failed: integer overflow"):
        made("a", value)


def test_one_failing_output_fails_the_function() -> None:
    function = mapping_function(
        "both", [("a", string("a"))], [(string("x"), "a + 1"), (string("y"), "1 / a")]
    )
    assert function.apply([term_of(1)], MOMENT, "e1") == (
        (string("x"), term_of(2)),
        (string("y"), term_of(1)),
    )
    with pytest.raises(MappingError):
        function.apply([term_of(0)], MOMENT, "e1")


def test_values_go_to_inputs_in_order() -> None:
    assert made("a - b", term_of(5), term_of(3)) == [term_of(2)]
    assert not mapping_function("f", [("a", string("a"))], [(string("b"), "a")]).uses_event


OUT = (string("out"), "a")


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([], [OUT], "mapping f has no input; expected at least one"),
        ([("a", string("a"))], [], "mapping f has no output; expected at least one"),
        ([("event", string("a"))], [OUT], "the input name 'event' is the event itself"),
        ([("if", string("a"))], [OUT], "the input name 'if' is a reserved word"),
        ([("in", string("a"))], [OUT], "the input name 'in' is a reserved word"),
        ([("a b", string("a"))], [OUT], "the input name 'a b' is no identifier"),
        ([("é", string("a"))], [OUT], "the input name 'é' is no identifier"),
        ([("", string("a"))], [OUT], "the input name '' is no identifier"),
        ([("_add", string("a"))], [OUT], "the input name '_add' begins with _"),
        ([("a", string("a")), ("a", string("b"))], [OUT], "two inputs of the name 'a'"),
        (
            [("a", string("a"))],
            [OUT, (iri("http://x.org/year"), "a + bb")],
            "mapping f, output year:\na + bb\n    ^ unknown name bb",
        ),
    ],
)
def test_what_is_refused_when_it_is_made(
    inputs: list[tuple[str, Term]], outputs: list[tuple[Term, str]], message: str
) -> None:
    with pytest.raises(KnowledgeError) as caught:
        mapping_function("f", inputs, outputs)
    assert message in str(caught.value)


def test_a_function_is_its_three_fields() -> None:
    copy: MappingFunction = pickle.loads(pickle.dumps(EXPERIENCE))
    same = MappingFunction(EXPERIENCE.name, EXPERIENCE.inputs, EXPERIENCE.outputs)
    assert copy == EXPERIENCE == same
    assert hash(copy) == hash(EXPERIENCE)
    assert copy.apply([term_of(2000)], MOMENT, "e1")[0][1] == term_of(24)


plain = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.datetimes(timezones=st.just(UTC)),
)


@settings(deadline=None)
@given(plain)
def test_a_value_that_passes_through_stays_the_same_term(value: object) -> None:
    assert made("a", term_of(value)) == [term_of(value)]
