"""Records, RDF documents, home vertices, ids and times."""

import time
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact
from sensewire.model.rdf import FORMATS
from sensewire.model.terms import HOME, Kind, blank, iri, string, term_of, untyped


def attributes(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(fact.property.text, fact.object.text) for fact in Event.record(data).facts]


def test_a_record_is_a_star_around_its_home() -> None:
    event = Event.record({"a": 1}, id="e1")
    assert event.facts == (Fact(HOME, string("a"), term_of(1)),)
    assert (event.id, event.home, str(event.home)) == ("e1", HOME, "_:H")


def test_nested_objects_become_dotted_paths_and_lists_many_values() -> None:
    data = {"a": {"b": {"c": 1}, "d": [1, 2, [3]]}, "e": [{"f": 1, "g": 2}, {"f": 3}]}
    expected = [("a.b.c", "1"), ("a.d", "1"), ("a.d", "2"), ("a.d", "3")]
    assert attributes(data) == [*expected, ("e.f", "1"), ("e.g", "2"), ("e.f", "3")]


def test_null_and_empty_are_absent_and_repeats_are_one() -> None:
    assert attributes({"a": None, "b": [], "c": {}, "d": [None], "e": [1, 1]}) == [("e", "1")]


def test_python_values_have_kinds() -> None:
    data = {
        "boolean": True,
        "integer": 1,
        "double": 1.0,
        "decimal": Decimal("1.50"),
        "date": datetime(2024, 3, 1, tzinfo=UTC),
        "string": "x",
        "term": untyped("x"),
    }
    kinds = [fact.object.kind.value for fact in Event.record(data).facts]
    assert kinds == ["boolean", "number", "number", "number", "date", "string", "untyped"]


def test_depth_is_no_matter() -> None:
    data: dict[str, Any] = {"leaf": 1}
    for _ in range(5_000):
        data = {"a": data}
    assert len(attributes(data)) == 1


def test_few_bytes_cannot_ask_for_endless_names() -> None:
    data: dict[str, Any] = {str(number): 1 for number in range(10_000)}
    for _ in range(10):
        data = {"k" * 1_000: data}
    with pytest.raises(EventError, match="nested so that its attributes' names come to over"):
        Event.record(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1], "a record is an object with named attributes, not a list"),
        ({"a": {"b": {1}}}, "attribute 'a.b': a value of type set is no term"),
        ({"a": {1: 2}}, "the attribute name 1 under 'a' is no string"),
        ({"a": 10**1_500}, "attribute 'a': a number of more than 1,000 characters"),
        ({"a": Decimal("1E+2000")}, "attribute 'a': a number of more than 1,000 characters"),
        ({"a": "\ud800"}, "attribute 'a': the text holds half of a character"),
        ({"\ud800": 1}, "the text holds half of a character"),
    ],
)
def test_a_bad_record_says_where(data: Any, message: str) -> None:
    with pytest.raises(EventError, match=message):
        Event.record(data)


def test_the_id_of_a_record() -> None:
    assert Event.record({"id": "x"}).id == "x"
    assert Event.record({"id": 7}).id == "7"
    assert Event.record({"id": "x"}, id="given").id == "given"
    assert Event.record({}, id=5).id == "5"  # type: ignore[arg-type]  # ids are strings
    assert Event.record({"id": True}).id != Event.record({"id": True}).id
    assert ("id", "x") in attributes({"id": "x"})


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("2024-03-01", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024-03-01+02:00", datetime(2024, 2, 29, 22, tzinfo=UTC)),
        ("2024-03-01T10:30", datetime(2024, 3, 1, 10, 30, tzinfo=UTC)),
        ("2024-03-01T10:30Z", datetime(2024, 3, 1, 10, 30, tzinfo=UTC)),
        ("2024-03-01T10:30:15.5+02:00", datetime(2024, 3, 1, 8, 30, 15, 500_000, tzinfo=UTC)),
        (
            datetime(2024, 3, 1, tzinfo=timezone(timedelta(hours=2))),
            datetime(2024, 2, 29, 22, tzinfo=UTC),
        ),
    ],
)
def test_the_time_of_an_event(sent: datetime | str, expected: datetime) -> None:
    assert Event.record({}, time=sent).time == expected


@pytest.mark.parametrize(
    "sent",
    [
        *("yesterday", "2024-02-30", "2024-03-01T", "2024-03-01T10", "T" * 20),
        f"2024-03-01T00:00:00.{'1' * 5_000}",
        datetime(2024, 3, 1),
    ],
)
def test_a_bad_time_is_refused(sent: datetime | str) -> None:
    with pytest.raises(EventError, match="time"):
        Event.record({}, time=sent)


DOCUMENTS = {
    "nt": "<http://x.org/a> <http://x.org/p> <http://x.org/b> .",
    "nq": "<http://x.org/a> <http://x.org/p> <http://x.org/b> <http://x.org/g> .",
    "ttl": "@prefix x: <http://x.org/> . x:a x:p x:b .",
    "trig": "@prefix x: <http://x.org/> . x:g { x:a x:p x:b }",
    "n3": "@prefix x: <http://x.org/> . x:a x:p x:b .",
    "rdf": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/">'
        '<rdf:Description rdf:about="http://x.org/a"><x:p rdf:resource="http://x.org/b"/>'
        "</rdf:Description></rdf:RDF>"
    ),
    "jsonld": '{"@id": "http://x.org/a", "http://x.org/p": {"@id": "http://x.org/b"}}',
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("as_bytes", [True, False])
def test_every_syntax_gives_the_same_facts(format: str, as_bytes: bool) -> None:
    document = DOCUMENTS[format]
    event = Event.rdf(document.encode() if as_bytes else document, format)
    a, p, b = (iri(f"http://x.org/{name}") for name in "apb")
    assert event.facts == (Fact(a, p, b),)
    assert event.home == a
    assert format not in ("nq", "trig") or event.id == "http://x.org/g"


def test_literals_are_kept_as_written() -> None:
    event = Event.rdf('<http://a> <http://p> 01, 1.50, "x", "x"@EN, true .', "ttl")
    texts = [(fact.object.text, fact.object.kind) for fact in event.facts]
    assert texts == [
        ("01", Kind.NUMBER),
        ("1.50", Kind.NUMBER),
        ("x", Kind.UNTYPED),
        ("x", Kind.LANGUAGE),
        ("true", Kind.BOOLEAN),
    ]


def test_nodes_without_a_label_are_counted_so_that_reading_twice_gives_the_same() -> None:
    document = "[] <http://p> [ <http://q> _:b1 ] ."
    first, second = Event.rdf(document, "ttl"), Event.rdf(document, "ttl")
    assert first.facts == second.facts
    assert len({term for fact in first.facts for term in fact if term.kind is Kind.BLANK}) == 3


@pytest.mark.parametrize(
    ("document", "format", "message"),
    [
        ("<http://a> <http://p> .", "ttl", "broken Turtle: .* line 1"),
        ("{", "jsonld", "broken JSON-LD"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x/>', "rdf", "RDF/XML with a DTD is refused"),
        ('<!DocType x [<!ENTITY a "b">]><x/>', "rdf", "RDF/XML with a DTD is refused"),
        ('{"@context": "http://x.org/c", "@id": "http://a"}', "jsonld", "nothing is fetched"),
        ("<http://a> <http://p> <<( <http://a> <http://p> 1 )>> .", "ttl", "triple term"),
        ("", "csv", "there is no RDF format 'csv'; expected one of nt, nq"),
        (b"\xff\xfe", "nt", "not UTF-8"),
        (
            "<http://g> { <http://a> <http://p> 1 } <http://h> { <http://a> <http://p> 1 }",
            "trig",
            "one event is one graph, but this document holds <http://g>, <http://h>",
        ),
    ],
)
def test_bad_rdf_says_what_is_wrong(document: bytes | str, format: str, message: str) -> None:
    with pytest.raises(EventError, match=message):
        Event.rdf(document, format)


@pytest.mark.parametrize(
    ("document", "home"),
    [
        ("_:H <http://p> _:a . _:b <http://p> _:H .", HOME),
        ("<http://a> <http://p> <http://b> . <http://b> <http://p> 1 .", iri("http://a")),
        ("<http://a> <http://p> <http://a>, 1 .", iri("http://a")),
        ("<http://a> <http://p> 1 . <http://b> <http://p> 1 .", None),
        ("<http://a> <http://p> <http://b> . <http://b> <http://p> <http://a> .", None),
        ("<http://a> <http://p> <http://b> . <http://c> <http://p> <http://c> .", None),
        ("", None),
    ],
)
def test_the_home_vertex(document: str, home: object) -> None:
    assert Event.rdf(document, "ttl").home == home


def test_a_blank_graph_is_no_home_and_no_id() -> None:
    event = Event.rdf("_:g { _:g <http://p> 1 . _:h <http://p> 1 }", "trig")
    assert event.home is None
    assert event.id != "g"


def test_nodes_without_a_label_take_linear_time() -> None:
    document = "".join(f"<http://a> <http://p> [ <http://q> {i} ] . " for i in range(20_000))
    start = time.perf_counter()
    assert len(Event.rdf(document, "ttl").facts) == 40_000
    assert time.perf_counter() - start < 10


def test_the_graph_is_home_where_it_is_a_subject() -> None:
    document = "<http://g> { <http://a> <http://p> <http://g> . <http://g> <http://p> 1 }"
    assert Event.rdf(document, "trig").home == iri("http://g")


@pytest.mark.parametrize("home", ["http://b", "<http://b>", iri("http://b")])
def test_a_home_that_is_given(home: Any) -> None:
    event = Event.rdf("<http://a> <http://p> <http://b> .", home=home)
    assert event.home == iri("http://b")
    assert Event.rdf("_:x <http://p> 1 . _:y <http://p> 1 .", "ttl", home="_:y").home == blank("y")


def test_a_home_that_is_not_in_the_graph() -> None:
    with pytest.raises(EventError, match="the home vertex <http://c> is not in the graph"):
        Event.rdf("<http://a> <http://p> <http://b> .", home="http://c")
