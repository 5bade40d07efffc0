"""CEL expressions: what is refused when they are loaded, what they come to, and that they end.

The evaluator itself is the foreign judge: what needs no mixing of numbers comes to the same with
and without our rewriting.

Proved by breaking: sums without overflow, division that floors, doubles divided by zero, a boolean
taken for an integer, a sign or a bracket lost in the rewriting, `-` read from the right, a macro
counted as a sum, a choice, an index or `dyn` counted as one value, macros inside macros, a variable
that outlives its macro, a depth of 500, no bound on texts or patterns, a function that is missing,
`in` found in `ink`, timestamps left in their own zone.
"""

import math
import threading
import time
from datetime import UTC, datetime, timedelta

import cel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.knowledge.cel import DEEPEST, LONGEST, compiled
from sensewire.knowledge.cel_functions import LONGEST_TEXT, EvaluationError
from sensewire.knowledge.cel_names import CALLS, FUNCTIONS, MACROS, METHODS, RESERVED, TYPES
from sensewire.model.errors import KnowledgeError

MOMENT = datetime(2024, 5, 6, 7, 8, 9, 123_000, tzinfo=UTC)
VALUES: dict[str, object] = {
    "i": 7,
    "f": 2.5,
    "zero": 0,
    "s": "héllo",
    "yes": True,
    "nothing": None,
    "t": MOMENT,
    "d": timedelta(hours=1, milliseconds=5),
    "event": {"time": MOMENT, "id": "e1"},
}
NAMES = [name for name in VALUES if name != "event"]


def value_of(text: str) -> object:
    return compiled(text, NAMES).evaluate(VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # integers and doubles mix, two integers stay integers
        ("i + f", 9.5),
        ("3 * 0.5", 1.5),
        ("1990.0 - 3", 1987.0),
        ("i / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("i / 2.0", 3.5),
        ("7.5 % 2", 1.5),
        ("-7.5 % 2", -1.5),
        ("1 + 2 * 3 - 4 / 2", 5),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("-i", -7),
        ("--i", 7),
        ("-f", -2.5),
        ("1 - -1", 2),
        ("-9223372036854775808", -(2**63)),
        ("0x1F + 1u", 32),
        (".5 + 1e3", 1000.5),
        # what else adds and subtracts
        ("s + '!'", "héllo!"),
        ("[i] + [f, s]", [7, 2.5, "héllo"]),
        ("b'a' + b'\\xff'", b"a\xff"),
        ("t + duration('1h')", MOMENT + timedelta(hours=1)),
        ("duration('1h') + t", MOMENT + timedelta(hours=1)),
        ("t - d", MOMENT - timedelta(hours=1, milliseconds=5)),
        ("t - t", timedelta(0)),
        ("d + d - duration('1s')", timedelta(seconds=7199, milliseconds=10)),
        # what the evaluator does by itself
        ("i > 5 ? 'old' : 'new'", "old"),
        ("yes ? 1 : 1 / zero", 1),
        ("1 / zero == 1 || yes", True),
        ("1 / zero == 1 && !yes", False),
        ("i < f || i >= 7.0 && s != 'x'", True),
        ("2.5 in [1, f]", True),
        ("!yes", False),
        ("null", None),
        ("nothing == null", True),
        ("{'a': 1, 'b': [2, 3],}['b'][1]", 3),
        ("{'if': 1}.if", 1),
        ("[1, 2,].map(x, x * 1.5)", [1.5, 3.0]),
        ("[1, 2, 3].filter(x, x > 1).map(x, x + i)", [9, 10]),
        ("[1, 2].map(x, x > 1, -x)", [-2]),
        ("i // a comment\n + 1", 8),
        ("type(i) == int", True),
        # texts in all forms
        ("'a\\n\\x41\\101\\u00e9\\U0001F600\\'\\`'", "a\nAAé😀'`"),
        ("r'\\n' + R\"\\\"", "\\n\\"),
        ("'''a'b\n''' + \"\"\"c\"d\"\"\" + '' + \"\"", "a'b\nc\"d"),
        ("r'''\\'''", "\\"),
        ("br'\\x' + B'''é'''", b"\\x\xc3\xa9"),
        # the event, and what is ours
        ("event.time.getFullYear() - 1990", 34),
        ("event.id + '!'", "e1!"),
        ("size(s) + s.size()", 10),  # characters, where the evaluator alone would count bytes
        ("s.matches('l+o$')", True),
        ("s.matches('^l')", False),
        ("convert('5 km', 'm')", 5000),
        ("convert('1500m', 'km')", 1.5),
        ("convert(string(i) + ' h', 'min')", 420),
        ("date('2024-05-06')", datetime(2024, 5, 6, tzinfo=UTC)),
        ("date('2024-05-06T07:08+01:00')", datetime(2024, 5, 6, 6, 8, tzinfo=UTC)),
        ("date(t) == t", True),
        ("timestamp('2024-01-01T00:30:00+02:00').getFullYear()", 2023),  # UTC's, as CEL has it
    ],
)
def test_an_expression_comes_to(text: str, expected: object) -> None:
    found = value_of(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i / zero", "division by zero"),
        ("f / zero", "division by zero"),
        ("1 / 0.0", "division by zero"),
        ("i % zero", "modulo by zero"),
        ("f % 0.0", "modulo by zero"),
        ("s - 1", "no such overload: string - int"),
        ("yes + 1", "no such overload: bool + int"),
        ("i * yes", "no such overload: int * bool"),
        ("s / s", "no such overload: string / string"),
        ("nothing % 2", "no such overload: null % int"),
        ("-s", "no such overload: -string"),
        ("-yes", "no such overload: -bool"),
        ("d - t", "no such overload: duration - timestamp"),
        ("9223372036854775807 + 1", "integer overflow: more than 64 bits"),
        ("-(-9223372036854775808)", "integer overflow: more than 64 bits"),
        ("-9223372036854775808 / -1", "integer overflow: more than 64 bits"),
        ("-9223372036854775808 % -1", "integer overflow: more than 64 bits"),
        ("date('9999-12-31') + duration('48h')", "a time outside the years 1 to 9999"),
        ("timestamp('0001-01-01T00:00:00+14:00')", "a time outside the years 1 to 9999"),
        ("timestamp('x')", "timestamp: premature end of input"),
        ("size(i)", "no such overload: size(int)"),
        ("t.matches('a')", "no such overload: timestamp.matches(string)"),
        ("convert(s, 'm')", "'héllo' is no quantity"),
        ("convert('5 km', 's')", "'5 km' cannot be converted to s"),
        ("convert('5 km', s)", "no such unit: 'héllo'"),
        ("convert(i, 'm')", "7 has no unit; expected a text such as '7 m'"),
        ("date(s)", "'héllo' is no date; expected YYYY-MM-DD[Thh:mm[:ss]][zone]"),
        ("date(i)", "no such overload: date(int)"),
        ("{'a': 1}['b']", "no such key: b"),
        ("[1][4]", "index out of bounds: 4"),
        ("i ? 1 : 2", "no such overload"),
        ("string(yes)", "no such overload: string"),
        ("s.getHours()", "no such overload: getHours"),
        ("int('x')", "int: string parse error: invalid digit found in string"),
        ("int(1e30)", "int: integer overflow"),
    ],
)
def test_what_goes_wrong_has_a_reason(text: str, reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        value_of(text)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("text", "caret"),
    [
        ("", "^ expected a value"),
        ("(i + ", "     ^ expected a value"),
        ("(i", "  ^ expected an operator or )"),
        ("[i", "  ^ expected an operator or ]"),
        ("{i", "  ^ expected an operator or :"),
        ("i.", "  ^ expected a name"),
        ("i 5", "  ^ expected an operator"),
        ("i ink", "  ^ expected an operator"),
        ("i = 1", "  ^ unexpected =; CEL writes =="),
        ("i and yes", "  ^ unexpected and; CEL writes &&"),
        ("i @ 1", "  ^ unexpected @"),
        ("'abc", "^ a text that does not end, or has an unknown escape"),
        ("i + 'a\\q'", "    ^ a text that does not end, or has an unknown escape"),
        ("i + '\\ud800'", "    ^ an escape that stands for no character"),
        ("i + if", "    ^ if is a reserved word; expected a value"),
        ("s.in", "  ^ in is a reserved word; expected a field"),
        (
            "i + hello",
            "    ^ unknown name hello; known are d, event, f, i, nothing, s, t, yes, zero",
        ),
        ("i + nothin", "    ^ unknown name nothin; did you mean nothing?"),
        ("evnt.time", "^ unknown name evnt; did you mean event?"),
        ("[1].map(item, itm)", "              ^ unknown name itm; did you mean item?"),
        ("[1].map(x, 1) + [x]", "                 ^ unknown name x; known are"),
        ("sise(s)", "^ unknown function sise; did you mean size?"),
        ("s.startWith('h')", "  ^ unknown function startWith; did you mean startsWith?"),
        ("s.q()", "  ^ unknown function q; known are all, "),
        ("_add(1, 2)", "^ unknown function _add; "),
        ("contains(s, 'a')", "^ expected value.contains(…)"),
        ("map(s, 1)", "^ expected list.map(…)"),
        ("s.string()", "  ^ expected string(…)"),
        ("s.contains()", "  ^ contains takes 1 value, not 0"),
        ("convert(s)", "^ convert takes 2 values, not 1"),
        ("event", "^ expected event.time or event.id"),
        ("event['time']", "^ expected event.time or event.id"),
        ("event.source", "      ^ event has no source; expected time or id"),
        ("has(event.time)", "    ^ expected a field of a map"),
        ("has(i)", "    ^ expected a field of a map"),
        ("[1].map(x, [2].all(y, y > x))", "               ^ all stands inside another macro"),
        (
            "[1].exists(x, x in [1].filter(y, true))",
            "                       ^ filter stands inside another macro",
        ),
        ("[1].map(i, i)", "        ^ expected a new name"),
        ("[1].map(event, 1)", "        ^ expected a new name"),
        ("[1].map(_time, 1)", "        ^ expected a new name"),
        ("[1].map(1, 2)", "        ^ expected a new name"),
        ("[1].all(x)", "    ^ all takes 2 values, not 1"),
        ("i + 9223372036854775808", "    ^ a number of more than 64 bits"),
        ("-9223372036854775809", " ^ a number of more than 64 bits"),
        ("18446744073709551616u", "^ a number of more than 64 bits"),
        ("1e999", "^ a number of more than 64 bits"),
        ("s.matches(s)", "          ^ expected a regular expression in quotes"),
        ("s.matches('(')", "          ^ no regular expression: missing ): ("),
        ("s.matches('a{600}')", "          ^ too large a regular expression"),
        ("convert(s, 'kmm')", "           ^ no such unit: kmm"),
        ("i + \n foo", " ^ unknown name foo"),
    ],
)
def test_what_is_refused_when_it_is_loaded(text: str, caret: str) -> None:
    with pytest.raises(KnowledgeError) as caught:
        compiled(text, NAMES)
    assert f"\n{caret}" in str(caught.value)


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_the_evaluator_reserves_the_same_words(word: str) -> None:
    if word not in ("true", "false", "null"):
        with pytest.raises(ValueError, match=r"reserved identifier|Syntax error"):
            cel.compile(word)
        with pytest.raises(KnowledgeError, match="reserved word"):
            compiled(word, NAMES)


CALLED = {
    "bytes": "bytes(s)",
    "double": "double(i)",
    "duration": "duration('1h')",
    "dyn": "dyn(i)",
    "has": "has({'a': 1}.a)",
    "int": "int(f)",
    "size": "size(s)",
    "string": "string(i)",
    "date": "date('2024-01-01')",
    "timestamp": "timestamp('2024-01-01T00:00:00Z')",
    "type": "type(i)",
    "uint": "uint(i)",
    "convert": "convert('1 m', 'cm')",
    "matches": "s.matches('h')",
    **{name: f"s.{name}('h')" for name in ("contains", "endsWith", "startsWith")},
    **{name: f"t.{name}()" for name in METHODS if name.startswith("get")},
    **{name: f"[1].{name}(x, x > 0)" for name in MACROS},
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_that_is_offered_runs(name: str) -> None:
    assert value_of(CALLED[name]) is not None


@pytest.mark.parametrize("name", sorted(FUNCTIONS & METHODS.keys() & CALLS.keys()))
def test_what_has_two_forms_has_both(name: str) -> None:
    assert value_of(f"{name}(s)") == value_of(f"s.{name}()")


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_type_that_is_offered_has_its_name(name: str) -> None:
    assert value_of(name) == name
    assert value_of(f"type({name}) == type") is True


def test_an_input_may_have_the_name_of_a_function_or_type() -> None:
    expression = compiled("date(date) - date(type)", ["date", "type"])
    values = {"date": "2024-01-02", "type": "2024-01-01"}
    assert expression.evaluate(values) == timedelta(days=1)


def test_an_expression_says_what_it_reads() -> None:
    assert compiled("[i].map(x, x + f)", NAMES).names == {"i", "f"}
    assert compiled("event.id + s", NAMES).names == {"event", "s"}
    assert compiled("1", NAMES).names == frozenset()
    assert compiled("i + 1", ["i"]) == compiled("i + 1", ["i", "f"])


# Numbers over CEL's rules: 64 bits, division towards zero, a double wherever one is met.
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
numbers = integers | st.floats(-1e9, 1e9)


def expressions(leaf: st.SearchStrategy[str], signs: str) -> st.SearchStrategy[str]:
    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        binary = st.tuples(inner, st.sampled_from(signs), inner)
        return binary.map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})") | inner.map(
            lambda part: f"(-{part})"
        )

    return st.recursive(leaf, larger, max_leaves=8)


def outcome(text: str, values: dict[str, object]) -> object:
    try:
        found = compiled(text, list(values)).evaluate(values)
    except EvaluationError:
        return "failed"
    return "nan" if isinstance(found, float) and math.isnan(found) else (type(found), found)


def judged(text: str, values: dict[str, object]) -> object:
    try:
        found = cel.evaluate(text, values)
    except (ZeroDivisionError, OverflowError):
        return "failed"
    return type(found), found


@settings(deadline=None)
@given(
    expressions(st.sampled_from(["a", "b", "3", "0", "9223372036854775807"]), "+-*/%"),
    integers,
    integers,
)
def test_integers_come_to_what_the_evaluator_says_by_itself(text: str, a: int, b: int) -> None:
    values: dict[str, object] = {"a": a, "b": b}
    # By itself it negates the least integer to itself, where CEL asks for an overflow.
    assert outcome(text, values) == judged(text.replace("(-", "(0 - "), values)


@settings(deadline=None)
@given(
    expressions(st.sampled_from(["a", "b", "0.5", "1e300"]), "+-*"),
    st.floats(allow_nan=False),
    st.floats(-1e9, 1e9),
)
def test_doubles_come_to_what_the_evaluator_says_by_itself(text: str, a: float, b: float) -> None:
    values: dict[str, object] = {"a": a, "b": b}
    found = cel.evaluate(text, values)
    assert outcome(text, values) == ("nan" if math.isnan(found) else (float, found))


@settings(deadline=None)
@given(numbers, st.sampled_from("+-*/%"), numbers)
def test_numbers_mix_by_pythons_arithmetic(a: float, sign: str, b: float) -> None:
    found = outcome(f"a {sign} b", {"a": a, "b": b})
    if sign in "/%" and b == 0:
        assert found == "failed"
    elif isinstance(a, int) and isinstance(b, int):
        towards_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
        whole = {"+": a + b, "-": a - b, "*": a * b, "/": towards_zero}
        expected = whole.get(sign, a - b * towards_zero)
        fits = -(2**63) <= (towards_zero if sign == "%" else expected) < 2**63
        assert found == ((int, expected) if fits else "failed")
    else:
        x, y = float(a), float(b)
        real = {"+": x + y, "-": x - y, "*": x * y}
        divided = x / y if sign == "/" else math.fmod(x, y) if y else 0.0
        assert found == (float, real.get(sign, divided))


logic = st.recursive(
    st.sampled_from(
        ["yes", "no", "true", "false", "1 < 2", "s == 'x'", "s in ['x', s]", "1 / 0 == 1"]
    ),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["||", "&&", "=="]), inner).map(
            lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
        )
        | inner.map(lambda part: f"!({part})")
        | st.tuples(inner, inner, inner).map(lambda parts: "({}) ? ({}) : ({})".format(*parts))
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(logic)
def test_logic_passes_through_unchanged(text: str) -> None:
    values: dict[str, object] = {"yes": True, "no": False, "s": "a"}
    assert outcome(text, values) == judged(text, values)


@settings(deadline=None)
@given(st.text("ab1.5+-*/%()[]{}:,?!=<>&|'\"\\rbu xin\n", max_size=30))
def test_whatever_is_taken_the_evaluator_takes_too(text: str) -> None:
    try:
        expression = compiled(text, ["a", "b"])
    except KnowledgeError:
        return
    cel.compile(text)  # no ValueError
    outcome(text, {"a": 1, "b": 2.5})
    assert expression.text == text


# Nothing hangs, and nothing brings the process down.
def nested(opening: str, closing: str, times: int) -> str:
    return opening * times + "1" + closing * times


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("[", "]"), ("{1: ", "}"), ("-", ""), ("!", ""), ("1 + (", ")"), ("size(", ")")],
)
def test_depth_is_bounded(opening: str, closing: str) -> None:
    with pytest.raises(KnowledgeError, match=f"nested deeper than {DEEPEST}"):
        compiled(nested(opening, closing, 300), [])
    compiled(nested(opening, closing, 24), [])


@pytest.mark.parametrize("link", [".a", "[0]", " + 1", " < 1", ".map(x, x)"])
def test_a_chain_is_as_deep_as_it_is_long(link: str) -> None:
    with pytest.raises(KnowledgeError, match="nested deeper than"):
        compiled("a" + link * 150, ["a"])


def test_what_is_not_too_deep_fits_a_small_stack() -> None:
    texts = [nested("[", "]", DEEPEST - 1), "1" + " + 1" * (DEEPEST - 1)]
    found: list[object] = []
    before = threading.stack_size(1024 * 1024)
    try:
        thread = threading.Thread(
            target=lambda: found.extend(compiled(text, []).evaluate({}) for text in texts)
        )
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found[1] == DEEPEST


def test_length_is_bounded() -> None:
    compiled("1" + " " * (LONGEST - 1), [])
    with pytest.raises(KnowledgeError, match="at most 2,000 characters"):
        compiled("1" + " " * LONGEST, [])
    with pytest.raises(KnowledgeError, match="half of a character"):
        compiled("'\ud800'", [])


@pytest.mark.parametrize(
    "text",
    [
        "[1]" + ".map(x, [x, x])" * 14,
        "[s]" + ".map(x, x + x)" * 14,
        "[[1, 1]]" + ".map(x, x + x)" * 13,
        "[1]" + ".map(x, {1: x, 2: x})" * 14,
        "[1]" + ".map(x, yes ? [x, x] : x)" * 14,
        "[1]" + ".map(x, [x, [x]][yes ? 1 : 0])" * 14,
        "[1]" + ".map(x, dyn([x, x]))" * 14,
        "[[1, 1]]" + ".map(x, x + x)" * 8 + f".all(x, size([{'x, ' * 40}x]) > 0)",
    ],
)
def test_what_doubles_at_every_step_is_refused(text: str) -> None:
    with pytest.raises(KnowledgeError, match="could make more than 10,000 values"):
        compiled(text, NAMES)


def test_texts_are_bounded_by_how_many_there_can_be() -> None:
    longest = {"s": "é" * LONGEST_TEXT}
    assert compiled("s.size()", ["s"]).evaluate(longest) == LONGEST_TEXT
    with pytest.raises(EvaluationError, match="more than 262,144 characters"):
        compiled("s + 'a'", ["s"]).evaluate(longest)
    with pytest.raises(EvaluationError, match="more than 262,144 characters"):
        compiled("s", ["s"]).evaluate({"s": "é" * (LONGEST_TEXT + 1)})
    for after in ("", ".all(x, true)", ".size()"):  # what was held on the way counts too
        with pytest.raises(EvaluationError, match="more than 5,242 characters"):
            compiled(f"[{', '.join(['s'] * 200)}]{after}", ["s"]).evaluate(longest)


@pytest.mark.parametrize("value", [2**63, [1], {"a": 1}, b"a", 1j])
def test_what_is_no_value_for_an_expression_is_refused(value: object) -> None:
    with pytest.raises(EvaluationError):
        compiled("a", ["a"]).evaluate({"a": value})


def test_a_text_with_half_a_character_is_a_failure() -> None:
    with pytest.raises(EvaluationError):
        compiled("a", ["a"]).evaluate({"a": "\ud800"})


@pytest.mark.parametrize(
    "text",
    [
        "s.matches('[ab]*a[ab]{200}d')",  # every state of it at every character
        "[s, s, s].exists(x, x.matches('[ab]*a[ab]{60}d') || x.contains(s + 'c'))",
        "[" + "s, " * 199 + "s].map(x, x.size() * 1 * 1 * 1 * 1 * 1 * 1)",
        "[[1], [1]]" + ".map(x, x + x)" * 11,
    ],
)
def test_the_worst_that_is_taken_ends_soon(text: str) -> None:
    expression = compiled(text, ["s"])
    began = time.monotonic()
    expression.evaluate({"s": "abaab" * 1_000})
    assert time.monotonic() - began < 5


def test_failures_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(EvaluationError):
        value_of("i / zero")
    assert not caplog.records


@pytest.mark.parametrize("text", ["duration('9000000h')", "duration('-2562048h')"])
def test_a_duration_is_not_cut(text: str) -> None:
    with pytest.raises(EvaluationError, match="more than 292 years"):
        compiled(text, ()).evaluate({})
