"""RDF as events: runs of named graphs, and what a bad line or a broken document costs."""

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events import rdf
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.lines import Line, lines_in

NOW = datetime(2024, 3, 1, tzinfo=UTC)
PLAIN = Decoding(now=NOW)


def quad(subject: str, value: str, graph: str) -> str:
    return f"<http://x/{subject}> <http://x/p> {value} {graph} ."


def nquads(*lines: str, decoding: Decoding = PLAIN) -> list[Outcome]:
    raw = "\n".join(lines).encode()
    found = lines_in(io.BytesIO(raw), 0, len(raw), longest=decoding.longest)
    return list(rdf.nquads(found, "e.nq", decoding))


def ids(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.event.id for outcome in outcomes if isinstance(outcome, Decoded)]


def rejected(outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
    return [(o.place, o.reason) for o in outcomes if isinstance(o, Rejected)]


def test_each_unbroken_run_of_a_graph_is_an_event() -> None:
    found = nquads(
        "# a comment",
        quad("a", '"1"', "<http://x/g1>"),
        "",
        quad("a", '"2"', "<http://x/g1>"),
        quad("b", "_:n", "<http://x/g2>") + " # with a comment",
        quad("a", '"3"', "<http://x/g1>"),
    )
    assert ids(found) == ["http://x/g1", "http://x/g2", "http://x/g1"]
    assert [len(o.event.facts) for o in found if isinstance(o, Decoded)] == [2, 1, 1]
    assert [outcome.place for outcome in found] == ["e.nq:2", "e.nq:5", "e.nq:6"]


def test_the_home_vertex_is_the_graph_where_it_is_a_subject() -> None:
    (found,) = nquads(
        "<http://x/g> <http://x/p> <http://x/a> <http://x/g> .",
        "<http://x/b> <http://x/p> <http://x/a> <http://x/g> .",
    )
    assert isinstance(found, Decoded)
    assert str(found.event.home) == "<http://x/g>"


def test_a_blank_graph_has_the_place_as_its_id() -> None:
    assert ids(nquads("", quad("a", '"1"', "_:g"))) == ["e.nq:2"]


def test_the_default_graph_is_rejected_by_runs() -> None:
    found = nquads(
        quad("a", '"1"', ""),
        quad("a", '"2"', ""),
        quad("a", '"1"', "<http://x/g1>"),
        quad("a", '"3"', ""),
    )
    assert ids(found) == ["http://x/g1"]
    assert [place for place, _ in rejected(found)] == ["e.nq:1", "e.nq:4"]
    assert all("default graph" in reason for _, reason in rejected(found))


def test_a_bad_line_rejects_the_event_that_it_names_and_no_other() -> None:
    found = nquads(
        quad("a", '"1"', "<http://x/g1>"),
        quad("a b", '"2"', "<http://x/g2>"),
        quad("a", '"3"', "<http://x/g2>"),
        quad("a", '"4"', "<http://x/g3>"),
    )
    assert ids(found) == ["http://x/g1", "http://x/g3"]
    ((place, reason),) = rejected(found)
    assert place == "e.nq:2"
    assert "Invalid IRI" in reason
    assert "line 1" not in reason
    assert "all of the event <http://x/g2> is rejected with it" in reason
    (raw,) = (o.raw for o in found if isinstance(o, Rejected))
    assert raw.count(b"\n") == 2


def test_a_bad_line_without_a_graph_rejects_the_event_that_is_open() -> None:
    found = nquads(
        "at the start nothing is open",
        quad("a", '"1"', "<http://x/g1>"),
        "gibberish",
        quad("a", '"2"', "<http://x/g1>"),
        quad("a", '"3"', "<http://x/g2>"),
    )
    assert ids(found) == ["http://x/g2"]
    assert [place for place, _ in rejected(found)] == ["e.nq:1", "e.nq:3"]


def test_an_event_that_is_too_long_is_rejected_and_the_next_is_read() -> None:
    decoding = Decoding(now=NOW, longest=200)
    many = [quad("a", f'"{i}"', "<http://x/g1>") for i in range(20)]
    long = quad("a", '"' + "x" * 300 + '"', "<http://x/g3>")
    found = nquads(
        *many, quad("a", '"1"', "<http://x/g2>"), long, long.replace("g3", "g2"), decoding=decoding
    )
    assert ids(found) == ["http://x/g2"]
    assert [place for place, _ in rejected(found)] == ["e.nq:1", "e.nq:22", "e.nq:23"]
    assert all("longer than 200 bytes" in reason for _, reason in rejected(found))


def test_the_time_field_is_an_iri_or_a_local_name() -> None:
    line = '<http://x/g> <http://purl.org/dc/terms/date> "2023-01-02" <http://x/g> .'
    another = '<http://x/a> <http://purl.org/dc/terms/date> "2020-01-01" <http://x/g> .'
    for field in ("date", "http://purl.org/dc/terms/date"):
        (found,) = nquads(line, another, decoding=Decoding(now=NOW, time_field=field))
        assert isinstance(found, Decoded)
        assert found.event.time == datetime(2023, 1, 2, tzinfo=UTC)


TRIG = r"""@prefix x: <http://x/> .
x:g1 { x:a x:b "}", '''{''', <http://x/%7B> ; x:c "1" . } # }
x:g2 { x:a x:it\'s [ x:c "2" ] . } # it's
"""


def trig(text: str) -> list[Outcome]:
    return list(rdf.trig(text.encode(), "e.trig", PLAIN))


def test_trig_gives_an_event_for_each_graph() -> None:
    found = trig(TRIG)
    assert ids(found) == ["http://x/g1", "http://x/g2"]
    assert [len(o.event.facts) for o in found if isinstance(o, Decoded)] == [4, 2]


@pytest.mark.parametrize(
    ("rest", "kept", "places"),
    [
        ('x:g3 { x:a x:b "3" ; broken . }\nx:g4 { x:a x:b "4" }', 2, ["e.trig:4"]),
        ('x:g3 { x:a x:b "3" . x:a x:b ; }', 2, ["e.trig:4"]),
        ('x:g3 { x:a x:b "3" .', 2, ["e.trig:4"]),
        ('x:g3 { x:a x:b "3 .', 2, ["e.trig:4"]),
        ("}", 2, ["e.trig:4"]),
        ("gibberish", 2, ["e.trig:4"]),
        ('y:g3 { x:a x:b "3" }', 2, ["e.trig:4"]),
        # The event's first block is whole, its second is not.
        ('x:g2 { x:a x:b "3" ; broken . }', 1, ["e.trig:4", "e.trig:4"]),
        ("x:a x:b x:c .\nx:g3 { broken }", 2, ["e.trig:5"]),
    ],
)
def test_what_stands_whole_before_an_error_in_trig_stays(
    rest: str, kept: int, places: list[str]
) -> None:
    found = trig(TRIG + rest)
    assert ids(found) == ["http://x/g1", "http://x/g2"][:kept]
    assert [place for place, _ in rejected(found)] == places
    last = found[-1]
    assert isinstance(last, Rejected)
    assert rest.encode() in last.raw
    assert "what follows line 3 is not read" in last.reason


def test_trig_outside_of_every_graph_is_rejected() -> None:
    found = trig(TRIG + "x:a x:b x:c .")
    assert ids(found) == ["http://x/g1", "http://x/g2"]
    assert "default graph" in rejected(found)[0][1]


DOCUMENTS = {
    "nt": '<http://x/a> <http://x/p> "1" .',
    "ttl": '@prefix x: <http://x/> . x:a x:p "1" .',
    "n3": '@prefix x: <http://x/> . x:a x:p "1" .',
    "rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
    '<rdf:Description rdf:about="http://x/a"><x:p>1</x:p></rdf:Description></rdf:RDF>',
    "jsonld": '{"@id": "http://x/a", "http://x/p": "1"}',
}


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_document_of_any_syntax_is_one_event(format: str) -> None:
    raw = DOCUMENTS[format].encode()
    found = rdf.document(raw, format, "f/e", "e", PLAIN)
    assert isinstance(found, Decoded)
    assert found.event.id == "e"
    assert found.event.time == NOW
    assert [str(term) for term in found.event.facts[0]] == ["<http://x/a>", "<http://x/p>", '"1"']


@pytest.mark.parametrize(
    ("format", "text", "place", "reason"),
    [
        ("ttl", "@prefix x: <http://x/> .\nx:a x:p ; .", "f/e:2", "broken Turtle"),
        (
            "rdf",
            '<!DOCTYPE rdf:RDF [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + DOCUMENTS["rdf"],
            "f/e:1",
            "RDF/XML with a DTD is refused",
        ),
        ("jsonld", '{"@context": "http://127.0.0.1:9/c", "p": 1}', "f/e:1", "remote context"),
        ("nt", "\ufffe", "f/e:1", "broken N-Triples"),
    ],
)
def test_a_document_that_is_refused_says_why(
    format: str, text: str, place: str, reason: str
) -> None:
    found = rdf.document(text.encode(), format, "f/e", "e", PLAIN)
    assert isinstance(found, Rejected)
    assert found.place == place
    assert reason in found.reason
    assert found.raw == text.encode()


graphs = st.sampled_from(["<http://x/g1>", "<http://x/g2>", "_:g", ""])
objects = st.sampled_from(['"1"', '"# . <http://x/g9> ."', "_:b", "<http://x/o>", '"é"@fr'])
statements = st.lists(st.builds(quad, st.sampled_from("ab"), objects, graphs), max_size=30)


@given(statements)
def test_runs_are_those_that_another_reader_sees(lines: list[str]) -> None:
    parsed = pyoxigraph.parse("\n".join(lines), format=pyoxigraph.RdfFormat.N_QUADS)
    expected = []
    for name, quads in groupby(parsed, key=lambda quad: str(quad.graph_name)):
        if name != "DEFAULT":
            facts = dict.fromkeys(str(quad.triple) for quad in quads)
            expected.append((name.strip("<>"), list(facts)))
    found = [
        (
            o.event.id if o.event.id.startswith("http") else "_:g",
            [" ".join(map(str, fact)) for fact in o.event.facts],
        )
        for o in nquads(*lines)
        if isinstance(o, Decoded)
    ]
    assert found == expected


def test_two_statements_on_a_line_are_not_one() -> None:
    one = "<http://x.org/a> <http://x.org/p> 1 <http://x.org/g> ."
    two = one.replace(" 1 ", ' "1" ')
    (outcome,) = rdf.nquads([Line(1, f"{two} {two}".encode())], "f.nq", PLAIN)
    assert isinstance(outcome, Rejected)
    assert "in a line" in outcome.reason
