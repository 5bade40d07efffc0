"""Documents of N-Triples: scanned, they are the events that pyoxigraph reads.

Proved by breaking, each caught: facts that are not distinct, a last line without an end left out,
an odd line passed over, the home vertex sought among kept facts only, and facts that nobody wants
kept.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events import ntriples, rdf
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Rejected
from sensewire.events.files import held_slice
from sensewire.events.kinds import Kind
from tests.events.nquads_texts import any_lines, usual_triples

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))
ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b"\n# a remark\n"])
lines = st.lists(usual_triples, max_size=6) | st.lists(usual_triples | any_lines, max_size=4)
documents = st.builds(
    lambda found, end, last: end.join(found) + last,
    lines,
    ends,
    st.sampled_from([b"", b"\n", b"\r\n"]),
)


@given(raw=documents, time_field=st.sampled_from([None, "p"]))
def test_a_document_is_read_as_pyoxigraph_reads_it(raw: bytes, time_field: str | None) -> None:
    decoding = replace(PLAIN, time_field=time_field)
    expected = rdf.document(raw, "nt", "e.nt", "e.nt", decoding)
    assert ntriples.document(raw, "e.nt", "e.nt", decoding) == expected


@pytest.mark.parametrize(
    ("raw", "facts"),
    [
        (b"", 0),
        (b"# nothing\n", 0),
        (b"<a:s> <a:p> <a:o> .", 1),
        (b"<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> .\n", 1),
        (b'\xef\xbb\xbf<a:s> <a:p> "\\u0041" .\n', 1),
    ],
)
def test_how_many_facts(raw: bytes, facts: int) -> None:
    (found,) = decode(held_slice(raw, Kind.DOCUMENT, "e.nt"), PLAIN)
    assert isinstance(found, Decoded)
    assert len(found.event.facts) == facts
    assert found == rdf.document(raw, "nt", "e.nt", "e.nt", PLAIN)


def test_a_broken_document_is_rejected_with_its_line() -> None:
    raw = b"<a:s> <a:p> <a:o> .\n<a:s> <a:p> .\n"
    (found,) = decode(held_slice(raw, Kind.DOCUMENT, "e.nt"), PLAIN)
    assert isinstance(found, Rejected)
    assert found.place == "e.nt:2"
    assert "broken N-Triples" in found.reason


def test_what_nobody_wants_is_left_out_and_the_home_vertex_stays() -> None:
    raw = b"<a:h> <a:p> <a:o> .\n<a:h> <a:q> <a:r> .\n<a:o> <a:q> <a:x> .\n"
    part = held_slice(raw, Kind.DOCUMENT, "e.nt")
    (found,) = decode(part, PLAIN, kept={"a:q"}.__contains__)
    assert isinstance(found, Decoded)
    assert str(found.event.home) == "<a:h>"
    assert [fact.object.text for fact in found.event.facts] == ["a:r", "a:x"]
