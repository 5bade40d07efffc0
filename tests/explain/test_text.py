"""Explanations as text, word for word; the ones made here are shown as JSON and SVG by the others.

Proved by breaking, each caught: control characters and piled marks printed as they came, quotes not
escaped; local names for two IRIs that share one; no subject where it is not home; alternatives in
the order of the subscription; no folding; a derivation told to its end, or without brackets; the
value told twice in a miss; no value beside an open remedy.
"""

from dataclasses import replace

import pytest

from sensewire.explain.explanation import (
    Alternative,
    Evidence,
    Explanation,
    Link,
    Miss,
    Outcome,
    Part,
    Source,
    Step,
)
from sensewire.explain.text import as_text
from sensewire.explain.wording import Wording, columns
from sensewire.knowledge.content import as_attribute, in_scheme
from sensewire.model.event import Fact
from sensewire.model.terms import (
    HOME,
    Term,
    blank,
    iri,
    language_string,
    quantity,
    string,
    term_of,
    untyped,
)

YES, NO, UNDECIDED = Outcome.YES, Outcome.NO, Outcome.UNDECIDED


def said(attribute: str, value: object) -> Source:
    """A fact of a record, as it was sent."""
    return Source(Fact(HOME, string(attribute), term_of(value)))


def way(sent: Term, *steps: tuple[Link, Term]) -> tuple[Step, ...]:
    return (Step(Link.SENT, sent), *(Step(*step) for step in steps))


def conjunction(*parts: Part, note: str | None = None) -> Alternative:
    outcomes = [part.outcome for part in parts]
    outcome = NO if NO in outcomes or note else UNDECIDED if UNDECIDED in outcomes else YES
    return Alternative(outcome, parts, note)


def explained(event: str, *alternatives: Alternative, text: str = "") -> Explanation:
    outcomes = [each.outcome for each in alternatives]
    outcome = next(each for each in (YES, UNDECIDED, NO) if each in outcomes)
    asked = " or ".join(" and ".join(p.text for p in each.parts) for each in alternatives)
    return Explanation("anna", text or asked, event, outcome, alternatives)


def name(text: str) -> Term:
    return in_scheme(text, "shop")


def attribute(text: str) -> Term:
    return as_attribute(name(text))


COMPUTER = Part(
    "product = computer",
    YES,
    (
        Evidence(
            said("product", "laptop"),
            value=way(string("laptop"), (Link.NARROWER, name("computer"))),
        ),
    ),
)
CHEAP = Part(
    "price <= 1600",
    YES,
    (
        Evidence(
            said("value", 900),
            attribute=way(string("value"), (Link.MEANS, attribute("price"))),
            compared="900 <= 1600",
        ),
    ),
)
DEAR = Part(
    "price <= 1600",
    NO,
    miss=Miss(
        "1700 is 100 too much",
        said("value", 1700),
        "price of at most 1600 would match",
        term_of(1600),
    ),
)
EXPERIENCED = Part(
    "professional_experience > 4",
    YES,
    (
        Evidence(
            Source(
                Fact(HOME, string("professional_experience"), term_of(36)),
                "experience",
                (said("graduation_date", 1990),),
            ),
            compared="36 > 4",
        ),
    ),
)
NEWS = "http://example.org/news#"
GRAPH = explained(
    "https://example.org/events/2005/17",
    conjunction(
        Part(
            "(?page, project, G-ToPSS)",
            YES,
            (
                Evidence(
                    Source(Fact(iri(NEWS + "page"), iri(NEWS + "project"), iri(NEWS + "G-ToPSS")))
                ),
            ),
            notes=("?page is page",),
        ),
        Part(
            "(G-ToPSS, year, ?y)",
            YES,
            (
                Evidence(
                    Source(Fact(iri(NEWS + "G-ToPSS"), iri(NEWS + "published"), untyped("2005"))),
                    attribute=way(
                        iri(NEWS + "published"), (Link.NARROWER, iri("http://example.org/t#year"))
                    ),
                ),
            ),
            notes=("?y is '2005'",),
        ),
        Part("?y > 2003", YES, notes=("2005 > 2003",)),
        Part(
            "?page is a Academia",
            YES,
            (
                Evidence(
                    Source(Fact(iri(NEWS + "page"), iri(NEWS + "type"), iri(NEWS + "HomePage"))),
                    value=way(
                        iri(NEWS + "page"),
                        (Link.CLASS, iri(NEWS + "HomePage")),
                        (Link.NARROWER, iri("http://other.org/ResearchPage")),
                        (Link.NARROWER, iri("http://other.org/UniversityPage")),
                        (Link.NARROWER, iri("http://other.org/Academia")),
                    ),
                ),
            ),
        ),
    ),
    text="select ?page, ?y where (?page, project, G-ToPSS) and (G-ToPSS, year, ?y) and ?y > 2003",
)
LONG = "x" * 50 + " wide 東京 " + "y" * 3000
HOSTILE = "\x1b[31m</svg><script>alert('1')</script>\u202e\"&quot;\\"


EXAMPLES: dict[str, Explanation] = {
    "match": explained("e1", conjunction(COMPUTER, CHEAP, EXPERIENCED)),
    "miss": explained("e2", conjunction(COMPUTER, DEAR)),
    "undecided": explained(
        "e3",
        conjunction(
            COMPUTER,
            Part(
                "mobPattern(?people)",
                UNDECIDED,
                notes=("operator mobPattern failed: KeyError: 'people'",),
            ),
            Part(
                "professional_experience > 4",
                UNDECIDED,
                miss=Miss(
                    "the event has no professional_experience, but professional_experience_gap",
                    said("professional_experience_gap", "none"),
                    "professional_experience of more than 4 would match",
                    term_of(5),
                ),
                notes=("experience failed: graduation_date 'soon' is no number",),
            ),
        ),
    ),
    "either": explained(
        "e4",
        conjunction(COMPUTER, DEAR),
        conjunction(Part("brand = IBM", YES, (Evidence(said("brand", "IBM")),)), CHEAP),
    ),
    "graph": replace(GRAPH, rows=((("page", iri(NEWS + "page")), ("y", untyped("2005"))),)),
    "near": Explanation(
        "anna",
        "price <= 100 and product = computer within 1.5",
        "e6",
        YES,
        (
            Alternative(
                YES,
                (
                    Part(
                        "price <= 100",
                        YES,
                        (Evidence(said("price", 150), compared="150 is 50 too much"),),
                        notes=("near enough: 0.5 away",),
                        distance=0.5,
                    ),
                    COMPUTER,
                ),
                distance=0.5,
            ),
        ),
        distance=0.5,
        tolerance=1.5,
    ),
    "hostile": explained(
        HOSTILE,
        conjunction(
            Part(
                f'title contains "{HOSTILE}"',
                YES,
                (
                    Evidence(
                        said(HOSTILE, HOSTILE),
                        way(string(HOSTILE), (Link.MEANS, attribute("title"))),
                        compared=HOSTILE,
                    ),
                ),
                notes=(HOSTILE, "a\nb\x00\x07\u2028\ufffe\ud800"),
            ),
            Part(
                'name prefix "Zü"',
                NO,
                miss=Miss(
                    "'東京タワー' does not begin with 'Zü'",
                    said("name", "東京タワー"),
                    "name prefix 'Zü' would match",
                    string("Zü"),
                ),
            ),
            Part("note exists", YES, (Evidence(said("z" + "\u0301" * 40, "a\u0301" * 10)),)),
        ),
    ),
    "long": explained(
        "e8",
        conjunction(
            Part(
                f'summary = "{LONG}" and so on',
                NO,
                miss=Miss(
                    f"{LONG} is not {LONG}",
                    said("summary" * 20, LONG),
                    f"summary = {LONG} would match",
                ),
            ),
            Part(
                "animal is a entity",
                YES,
                (
                    Evidence(
                        said("animal", "pussycat"),
                        value=way(
                            string("pussycat"),
                            (Link.MEANS, name("cat")),
                            *(
                                (Link.NARROWER, name(above))
                                for above in (
                                    "feline, felid",
                                    "carnivore",
                                    "placental mammal of every size",
                                    "mammal",
                                    "vertebrate",
                                    "chordate",
                                    "animal",
                                    "organism",
                                    "entity",
                                )
                            ),
                        ),
                    ),
                ),
            ),
            Part("speed > 30 km/h", YES, (Evidence(said("speed", quantity("50 km/h"))),)),
        ),
    ),
    "functions": explained(
        "e9",
        conjunction(
            Part(
                "total <= 100",
                NO,
                miss=Miss(
                    "121 is 21 too much",
                    Source(
                        Fact(HOME, attribute("total"), term_of(121)),
                        "total of all costs, taxes and deliveries",
                        (
                            said("net", 100),
                            Source(
                                Fact(HOME, attribute("tax"), term_of(21)),
                                "tax",
                                (said("net", 100), said("country", "NL")),
                            ),
                            said("delivery", 0),
                        ),
                    ),
                    "total of at most 100 would match",
                    term_of(100),
                ),
            ),
            Part(
                "age > 4",
                YES,
                (
                    Evidence(
                        Source(
                            Fact(HOME, attribute("years"), term_of(36)),
                            "years",
                            (said("born", 1990),),
                        ),
                        way(string("years"), (Link.MEANS, attribute("age"))),
                        compared="36 > 4",
                    ),
                ),
            ),
            Part("colour = red", NO, miss=Miss("the event has no colour; it has net, country")),
            Part("not brand = IBM", YES),
        ),
    ),
    "together": explained(
        "e10",
        conjunction(
            Part("price = ?p", YES, (Evidence(said("price", 5)),), notes=("?p is 5",)),
            Part(
                "<http://a.org/bank> = ?b",
                YES,
                (
                    Evidence(
                        Source(
                            Fact(
                                blank("b0"),
                                iri("http://a.org/bank"),
                                language_string("rouge", "fr"),
                            )
                        ),
                        way(iri("http://a.org/bank"), (Link.NARROWER, iri("urn:b:bank"))),
                    ),
                ),
            ),
            note="each holds by itself, but not for the same values together",
        ),
    ),
}

TEXTS = {
    "match": """
yes: e1 matches anna
  ✓ product = computer           product: "laptop"; laptop is a kind of computer
  ✓ price <= 1600                value: 900; value means price; 900 <= 1600
  ✓ professional_experience > 4  36, by experience from graduation_date: 1990; 36 > 4
""",
    "miss": """
no: e2 does not match anna
  ✓ product = computer  product: "laptop"; laptop is a kind of computer
  ✗ price <= 1600       value: 1700 is 100 too much; price of at most 1600 would match
""",
    "undecided": """
undecided: e3 may match anna
  ✓ product = computer           product: "laptop"; laptop is a kind of computer
  ? mobPattern(?people)          operator mobPattern failed: KeyError: 'people'
  ? professional_experience > 4  professional_experience_gap: "none";
                                 the event has no professional_experience, but
                                   professional_experience_gap;
                                 professional_experience of more than 4 would match, such as 5;
                                 experience failed: graduation_date 'soon' is no number
""",
    "either": """
yes: e4 matches anna
  ✓ brand = IBM         brand: "IBM"
  ✓ price <= 1600       value: 900; value means price; 900 <= 1600
  or
  ✓ product = computer  product: "laptop"; laptop is a kind of computer
  ✗ price <= 1600       value: 1700 is 100 too much; price of at most 1600 would match
""",
    "graph": """
yes: https://example.org/events/2005/17 matches anna
  ✓ (?page, project, G-ToPSS)  (page, project, G-ToPSS); ?page is page
  ✓ (G-ToPSS, year, ?y)        (G-ToPSS, published, "2005"); published is a kind of year;
                               ?y is '2005'
  ✓ ?y > 2003                  2005 > 2003
  ✓ ?page is a Academia        (page, type, HomePage);
                               page is a HomePage, which is a kind of ResearchPage → UniversityPage
                                 → Academia
  → ?page = page, ?y = "2005"
""",
    "near": """
yes: e6 matches anna, at a distance of 0.5 (within 1.5)
  ✓ price <= 100        price: 150; 150 is 50 too much; near enough: 0.5 away
  ✓ product = computer  product: "laptop"; laptop is a kind of computer
""",
    "hostile": r"""
no: \u001b[31m</svg><script>alert('1')</script>\u202e"&quot;\ does not match anna
  ✓ title contains "\u001b[31m</svg><script>alert('1')</script>\u202e"&quot;\"
                      \u001b[31m</svg><scr…ript>\u202e"&quot;\:
                        "\u001b[31m</svg><sc…t>\u202e\"&quot;\\";
                      \u001b[31m</svg><scr…ript>\u202e"&quot;\ means title;
                      \u001b[31m</svg><script>alert('1')</script>\u202e"&quot;\;
                      a\nb\u0000\u0007\u2028\ufffe\ud800
  ✗ name prefix "Zü"  name: '東京タワー' does not begin with 'Zü'; name prefix 'Zü' would match
  ✓ note exists       ź́́\u0301\u0301\u0301\…1\u0301\u0301\u0301: "áááááááááá"
""",
    "functions": """
no: e9 does not match anna
  ✗ total <= 100     total: 121, by total of all costs, taxes and deliveries from net: 100 and
                       (tax: 21, by tax from net: 100 and country: "NL") and delivery: 0;
                     121 is 21 too much; total of at most 100 would match
  ✓ age > 4          years: 36, by years from born: 1990; years means age; 36 > 4
  ✗ colour = red     the event has no colour; it has net, country
  ✓ not brand = IBM
""",
    "together": """
no: e10 does not match anna
  ✓ price = ?p                price: 5; ?p is 5
  ✓ <http://a.org/bank> = ?b  (_:b0, <http://a.org/bank>, "rouge"@fr);
                              <http://a.org/bank> is a kind of <urn:b:bank>
  ✗ together                  each holds by itself, but not for the same values together
""",
}


@pytest.mark.parametrize("example", TEXTS)
def test_reads_word_for_word(example: str) -> None:
    assert as_text(EXAMPLES[example]) == TEXTS[example].strip("\n")


def test_long_values_are_cut_in_the_middle_and_folded() -> None:
    lines = as_text(EXAMPLES["long"]).splitlines()
    assert max(map(columns, lines)) <= 100
    assert '"xxxxxxxxxxxxxxxxxxx…yyyyyyyyyyyyyyyyyy";' in lines[3]
    assert lines[-2].endswith("→ organism → entity")


def test_only_the_first_of_many_are_told() -> None:
    one = conjunction(Part("a = 1", NO))
    row = (("x", term_of(1)),)
    lines = as_text(replace(explained("e", *[one] * 30), rows=(row,) * 12)).splitlines()
    assert lines.count("  ✗ a = 1") == 8
    assert "  or … 22 more alternatives" in lines
    assert lines[-2:] == ["  → ?x = 1", "  → … 2 more rows"]


def test_a_long_derivation_ends() -> None:
    source = said("a", 0)
    for number in range(300):
        source = Source(Fact(HOME, string("a"), term_of(number)), "next", (source,))
    part = Part("a = 299", YES, (Evidence(source),))
    assert as_text(explained("e", conjunction(part))).endswith(" …)))")


def test_everything_asks_for_nothing() -> None:
    assert as_text(explained("e", conjunction())) == "yes: e matches anna\n  ✓ nothing is asked"


@pytest.mark.parametrize(
    ("term", "read"),
    [
        (iri("http://x.org/colour#red"), "red"),
        (iri("urn:isbn:1"), "<urn:isbn:1>"),
        (iri("http://x.org/"), "http://x.org/"),
        (string('say "a\\b"'), r'"say \"a\\b\""'),
        (language_string("rouge", "fr"), '"rouge"@fr'),
        (term_of(True), "true"),
        (name("laptop"), "laptop"),
        (blank("b0"), "_:b0"),
    ],
)
def test_terms_print_short(term: Term, read: str) -> None:
    assert Wording(frozenset()).value(term) == read


def test_two_schemes_with_one_name_are_told_apart() -> None:
    school = in_scheme("bank", "school")
    evidence = Evidence(said("a", "x"), value=(Step(Link.MEANS, name("bank")),))
    other = replace(evidence, value=(Step(Link.MEANS, school),))
    text = as_text(explained("e", conjunction(Part("a = bank", YES, (evidence, other)))))
    assert "x means bank (shop)" in text
    assert "x means bank (school)" in text


@pytest.mark.parametrize(
    ("miss", "told"),
    [
        (Miss("far"), "far"),
        (Miss("far", instead=term_of(5)), "far; 5 would match"),
        (Miss("far", None, "more than 4 would do", term_of(5)), "more than 4 would do, such as 5"),
        (Miss("far", None, "any a would match", string("anything")), "far; any a would match"),
    ],
)
def test_a_remedy_names_a_value(miss: Miss, told: str) -> None:
    text = as_text(explained("e", conjunction(Part("a > 4", NO, miss=miss))))
    assert text.endswith(told)
