"""Conditions that are tried on each value: found by the value's keys, by length, or one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.flags import Flags
from sensewire.match.views import View, view_of
from sensewire.model.conditions import Equal, Name, Text, TextRelation, exact
from sensewire.model.terms import Term, iri, string, term_of

KNOWN = Knowledge()
SUFFIX, CONTAINS, MATCHES = TextRelation.SUFFIX, TextRelation.CONTAINS, TextRelation.MATCHES
texts = st.text("ab\U0010ffff", max_size=5)


def seen(term: Term) -> View:
    return view_of(term, KNOWN.value_root(term, None), (), KNOWN)


@given(suffixes=st.lists(texts, unique=True), parts=st.lists(texts, unique=True), text=texts)
def test_texts_are_found_by_their_ends_and_parts(
    suffixes: list[str], parts: list[str], text: str
) -> None:
    flags = Flags(KNOWN)
    asked = [Text(SUFFIX, each) for each in suffixes] + [Text(CONTAINS, each) for each in parts]
    for slot, condition in enumerate(asked):
        flags.add(slot, condition, None)
    expected = {
        slot
        for slot, condition in enumerate(asked)
        if (text.endswith if condition.relation is SUFFIX else text.__contains__)(condition.text)
    }
    assert set(flags.held_by(seen(string(text)))) == expected


@pytest.mark.parametrize("count", [1, 3, 50])
def test_few_parts_and_many_are_found_alike(count: int) -> None:
    """Few are each looked for; of many, the value's own pieces are looked up."""
    flags = Flags(KNOWN)
    for slot in range(count):
        flags.add(slot, Text(CONTAINS, f"{slot:03}"), None)
    for text in ("x000x", "049", "00", "", "x" * 200 + "001"):
        expected = {slot for slot in range(count) if f"{slot:03}" in text}
        assert set(flags.held_by(seen(string(text)))) == expected


def test_numbers_and_booleans_have_no_text() -> None:
    flags = Flags(KNOWN)
    for slot, relation in enumerate((SUFFIX, CONTAINS, MATCHES)):
        flags.add(slot, Text(relation, "1" if relation is not MATCHES else "1$"), None)
    assert set(flags.held_by(seen(string("1")))) == {0, 1, 2}
    assert set(flags.held_by(seen(iri("http://x.org/1")))) == {0, 1, 2}
    assert not set(flags.held_by(seen(term_of(1))))
    assert not set(flags.held_by(seen(term_of(True))))


def test_a_name_is_found_by_its_key() -> None:
    flags = Flags(KNOWN)
    flags.add(7, Equal(exact(Name("red"))), None)
    assert set(flags.held_by(seen(string("red")))) == {7}
    assert set(flags.held_by(seen(iri("http://x.org/red")))) == {7}
    assert not set(flags.held_by(seen(string("green"))))
