"""What GQL and statement patterns share: bounds with names, and errors with places, whatever comes.

Proved by breaking, each caught: an empty name let through; brackets not bounded, and what nests
without so many of them; patterns not counted; groups counted by patterns, and never joined; the
length not bounded; half of a surrogate pair let through; `and` looked for by an expression that
takes the spaces before it again and again.
"""

import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.language.limits import MOST_PATTERNS, MOST_UNJOINED
from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.model.canonical import canonical
from sensewire.model.errors import ParseError, UnsupportedError
from sensewire.model.subscription import Subscription

GQL = partial(parse, language="gql")
STATEMENTS = partial(parse, language="statements")
TEXTS = {
    "gql": """PREFIX ex: <http://x.org/> SELECT ?x, ?y
WHERE (Home Page #325, ex:p, G-ToPSS), (?x, Supervisor, 'Arno'@en), (?x, ?p, "5"^^xsd:integer)
  and (_:H, <http://x.org/q>, http://x.org/r) (?y, year, 2005)
SUCHTHAT (?x > 2000), (?y descendantOf Research Lab) and (?y ≤ ex:C), (?x, =, ?y),
  (?x < 5 km and not (?x = "a\\"b" or ?x != 2004-01-01))""",
    "statements": """PREFIX u: <http://x.org/u#> SELECT ?1 WHERE
(_:H, ?1, (Selling, target, Computer)), (_:H, ?2, (Selling, price, daml:Thing))
(?2, u:dollar, (MoneyValue, currency, "Currency Unit")) and
(?2, ?3, (MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00 or not (?3 matches "^4" and ?3 = 'x'))
(?1, IBM, (<http://x.org/P>, maker, Company), )""",
}
SIGNS = st.sampled_from(
    [*"()?,.:;<>=!~\"'`_^@ \n\t*#|&≤“é\x00\ud800", "and", "not (", "select", "_:b"]
)


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """A text that someone cut, or changed at a few places."""
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    if draw(st.booleans()):
        text = text[:start] + text[end:] if draw(st.booleans()) else text[start:end]
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(SIGNS) + text[place + draw(st.integers(0, 2)) :]
    return text


def outcome(text: str, language: str) -> Subscription | ParseError | UnsupportedError:
    try:
        return parse(text, language)
    except (ParseError, UnsupportedError) as error:
        return error


def check(text: str, language: str) -> None:
    """A text is read, and can be written and read again; or the error has a place in it."""
    found = outcome(text, language)
    if isinstance(found, Subscription):
        assert parse(unparse(found)) == found
        assert parse(unparse(canonical(found)))
    else:
        assert 0 <= found.position <= len(text)
        assert str(found)


@given(st.data(), st.sampled_from(sorted(TEXTS)))
def test_whatever_is_typed_is_read_or_refused_with_its_place(
    data: st.DataObject, language: str
) -> None:
    check(data.draw(mutated(TEXTS[language])), language)


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_every_text_that_ends_too_early(language: str) -> None:
    text = TEXTS[language]
    for end in range(len(text)):
        check(text[:end], language)


@pytest.mark.parametrize("language", sorted(TEXTS))
@given(text=st.text(max_size=60))
def test_any_text_at_all(language: str, text: str) -> None:
    check(text, language)


def test_half_of_a_surrogate_pair() -> None:
    for text, read in (("where (?x, p, a\ud800)", GQL), ("(_:H, a\ud800, (A, p, B))", STATEMENTS)):
        with pytest.raises(ParseError) as error:
            read(text)
        assert error.value.position == text.index("\ud800")


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_a_text_of_a_megabyte(language: str) -> None:
    with pytest.raises(UnsupportedError, match=r"1,000,000 characters; at most 262,144"):
        parse("x" * 1_000_000, language)


def star(count: int) -> str:
    return "where " + ", ".join(f"(?x, p{number}, v)" for number in range(count))


def test_many_patterns() -> None:
    assert len(GQL(star(MOST_PATTERNS)).conjunctions[0].atoms) == MOST_PATTERNS
    with pytest.raises(UnsupportedError, match="10,000 triple patterns; at most 1,000") as error:
        GQL(star(10_000))
    assert star(10_000)[error.value.position :].startswith("(?x, p1000,")
    statements = " ".join(f"(_:H, ?1, (A, p{number}, B))" for number in range(MOST_PATTERNS + 1))
    with pytest.raises(UnsupportedError, match="1,001 triple patterns; at most 1,000"):
        STATEMENTS(statements)


def test_patterns_that_share_nothing() -> None:
    def apart(count: int) -> str:
        return "where " + " ".join(f"(?a{number}, p, ?b{number})" for number in range(count))

    assert GQL(apart(MOST_UNJOINED))
    with pytest.raises(UnsupportedError, match=r"17 groups of patterns that share no .*at most 16"):
        GQL(apart(MOST_UNJOINED + 1))
    chain = "where " + " ".join(f"(?a{number}, p, ?a{number + 1})" for number in range(999))
    assert GQL(chain)
    assert GQL(apart(100) + "".join(f"(?a{number}, q, ?b{number - 1})" for number in range(1, 100)))
    assert GQL("where " + " ".join(f"(a{number}, p, b)" for number in range(100)))
    assert STATEMENTS(" ".join(f"(_:H, ?{number}, (A, p, B))" for number in range(100)))


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_deep_nesting(language: str) -> None:
    around = {"gql": "where (?x, p, o) suchthat {}", "statements": "(_:H, ?x, (A, p, B), {})"}
    brackets = around[language].format("(" * 100_000 + "?x > 1")
    with pytest.raises(UnsupportedError, match="nested deeper than 200"):
        parse(brackets, language)
    refused_twice = around[language].format("not " * 50_000 + "(?x > 1)")
    assert parse(refused_twice, language) == parse(around[language].format("?x > 1"), language)


def test_as_deep_as_is_allowed() -> None:
    deep = "(not " * 90 + "(?x > 1 or ?x < 0)" + ")" * 90
    found = GQL(f"where (?x, p, o) suchthat {deep}")
    assert parse(unparse(found)) == found
    alternating = "(?x > 1 and (?x < 5 or " * 60 + "?x > 2" + "))" * 60
    with pytest.raises(UnsupportedError, match="nested deeper than 200"):
        GQL(f"where (?x, p, o) suchthat {alternating}")


@pytest.mark.parametrize("filling", [" ", "a and\n", "1", "\\", "?x > 1 and "])
def test_long_texts_take_time_in_proportion(filling: str) -> None:
    """Long texts of anything take hundredths of a second; squared, it would be many seconds."""
    long = filling * (20_000 // len(filling))
    for text in (
        f"where (?x, p, a{long})",
        f'where (?x, p, "{long})',
        f"where (?x, p, o) suchthat (?x > a{long})",
        f"where (?x, p, o) suchthat (?x > 1 and {long})",
        f"where {f'(?x, p, {filling}) ' * (20_000 // (12 + len(filling)))}",
    ):
        start = time.process_time()
        found = outcome(text, "gql")
        assert time.process_time() - start < 2
        assert isinstance(found, Subscription) or len(str(found)) < 1_000
