"""The YAML form: what each section states, and what is refused with its file, line and remedy.

Proved by breaking: pairs turned round or stated elsewhere, kinds swapped, lines counted from 0, the
scheme left unread, prefixes and other schemes forgotten, Thing and datatypes made entities,
attributes put into the scheme, two roots and circles let through, RDF's pairs checked too, circles
sought in quadratic time, and each refusal (aliases, tags, depth, size, shapes, empty names, keys
that are repeated, a second document, bad UTF-8, half a character) left out.
"""

import contextlib
import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sensewire.knowledge import yaml_nodes
from sensewire.knowledge.content import Content, Draft, EntityKind, Place, in_scheme
from sensewire.knowledge.yaml_file import check_synonyms, read_yaml
from sensewire.model import datatypes
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import Term, iri, string

BRICK = "https://brickschema.org/schema/Brick#"
PAPER = """\
scheme: shop
synonyms:
  price: [value, cost]
hierarchy:
  laptop: computer
  encyclopedia: [book, work of reference]
properties: {cellPhoneNumber: telephoneNumber}
instances:
  HomePage325: [UofT, PubSub]
scope: {topic: [news, shop], <http://x.org/topic>: news}
statements:
  - [Selling, target, Product]
  - [Product, price, xsd:decimal]
  - [Thing, seeAlso, Thing]
mappings:
  - name: experience
    inputs: [graduation_date]
    outputs:
      professional_experience: "event.time.getFullYear() - graduation_date"
  - name: area
    inputs: [{w: "room width"}, {h: "<http://x.org/height>"}]
    outputs: {floor area: w * h}
"""


def draft_of(
    folder: Path, text: str | bytes, draft: Draft | None = None, name: str = "a.yaml"
) -> Draft:
    """Write and read one file, after what the draft already has."""
    draft = Draft() if draft is None else draft
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    read_yaml([path], draft)
    return draft


def content_of(folder: Path, text: str) -> Content:
    return draft_of(folder, text).content()


def shop(name: str) -> Term:
    return in_scheme(name, "shop")


def kinds(content: Content) -> dict[Term, set[EntityKind]]:
    return {entity.term: set(entity.kinds) for entity in content.entities}


def refusal(folder: Path, text: str | bytes, draft: Draft | None = None) -> str:
    """The message for a file that is refused, the folder left out of it."""
    with pytest.raises(KnowledgeError) as raised:
        check_synonyms(draft_of(folder, text, draft))
    return str(raised.value).replace(f"{folder}/", "")


def test_pairs_are_stated_once_each_with_its_place(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, PAPER)
    file = str(tmp_path / "a.yaml")
    assert draft.same == {
        (shop("price"), shop("value")): Place(file, 3),
        (shop("price"), shop("cost")): Place(file, 3),
    }
    assert draft.broader == {
        (shop("laptop"), shop("computer")): Place(file, 5),
        (shop("encyclopedia"), shop("book")): Place(file, 6),
        (shop("encyclopedia"), shop("work of reference")): Place(file, 6),
    }
    assert draft.subproperties == {
        (shop("cellPhoneNumber"), shop("telephoneNumber")): Place(file, 7)
    }
    assert draft.instances == {
        (shop("HomePage325"), shop("UofT")): Place(file, 9),
        (shop("HomePage325"), shop("PubSub")): Place(file, 9),
    }


def test_statements_name_concepts_properties_and_datatypes(tmp_path: Path) -> None:
    content = content_of(tmp_path, PAPER)
    thing = string("Thing")
    assert set(content.statements) == {
        (shop("Selling"), shop("target"), shop("Product")),
        (shop("Product"), shop("price"), iri(datatypes.DECIMAL)),
        (thing, shop("seeAlso"), thing),
    }
    found = kinds(content)
    assert thing not in found
    assert iri(datatypes.DECIMAL) not in found
    assert found[shop("Selling")] == {EntityKind.CONCEPT}
    assert found[shop("target")] == {EntityKind.PROPERTY}
    assert found[shop("price")] == {EntityKind.CONCEPT, EntityKind.PROPERTY}


def test_entities_are_of_the_sections_kinds(tmp_path: Path) -> None:
    content = content_of(tmp_path, PAPER)
    found = kinds(content)
    assert found[shop("HomePage325")] == {EntityKind.INDIVIDUAL}
    assert found[shop("UofT")] == {EntityKind.CONCEPT}
    assert found[shop("cellPhoneNumber")] == {EntityKind.PROPERTY}
    assert found[shop("laptop")] == {EntityKind.CONCEPT}
    assert all(entity.schemes == {"shop"} for entity in content.entities)
    assert not [term for term in found if "experience" in term.text or "width" in term.text]


def test_scopes_and_mappings_name_words_that_are_looked_up_later(tmp_path: Path) -> None:
    content = content_of(tmp_path, PAPER)
    assert dict(content.scopes) == {
        string("topic"): ("news", "shop"),
        iri("http://x.org/topic"): ("news",),
    }
    area, experience = content.mappings
    assert experience.inputs == (("graduation_date", string("graduation_date")),)
    assert experience.outputs == (
        (string("professional_experience"), "event.time.getFullYear() - graduation_date"),
    )
    assert area.inputs == (("w", string("room width")), ("h", iri("http://x.org/height")))
    assert area.outputs == ((string("floor area"), "w * h"),)


def test_the_scheme_is_the_files_stem_unless_given(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "hierarchy: {laptop: computer}", name="school.v2.yaml")
    assert list(draft.broader) == [
        (in_scheme("laptop", "school.v2"), in_scheme("computer", "school.v2"))
    ]
    draft = draft_of(tmp_path, "hierarchy: {laptop: computer}\nscheme: shop")  # in any order
    assert list(draft.broader) == [(shop("laptop"), shop("computer"))]


def test_names_are_the_text_as_written(tmp_path: Path) -> None:
    text = "scheme: shop\nsynonyms: {no: [1, 1.0, yes, ~, null, 0x1F, 2024-01-01, 'it''s', =]}"
    others = [other.text for _, other in draft_of(tmp_path, text).same]
    assert others == ["1", "1.0", "yes", "~", "null", "0x1F", "2024-01-01", "it's", "="]


def test_a_name_may_be_an_iri_or_have_a_prefix(tmp_path: Path) -> None:
    draft = Draft(prefixes={"brick": BRICK})
    (tmp_path / "school.yaml").write_text("hierarchy: {laptop: computer}")
    text = """\
        hierarchy:
          thermometer: brick:Sensor
          notebook: school:laptop
          pad: shop:notebook
          thing: <http://x.org/a#b>
          ratio 3:4: unknown:prefix
        """
    (tmp_path / "shop.yaml").write_text(text)
    read_yaml([tmp_path / "shop.yaml", tmp_path / "school.yaml"], draft)
    assert list(draft.broader)[:-1] == [
        (shop("thermometer"), iri(BRICK + "Sensor")),
        (shop("notebook"), in_scheme("laptop", "school")),
        (shop("pad"), shop("notebook")),
        (shop("thing"), iri("http://x.org/a#b")),
        (shop("ratio 3:4"), shop("unknown:prefix")),
    ]
    schemes = {entity.term: entity.schemes for entity in draft.content().entities}
    assert schemes[in_scheme("laptop", "school")] == {"school"}
    assert schemes[iri(BRICK + "Sensor")] == {"shop"}


def test_attributes_take_prefixes_of_rdf_and_stay_words_otherwise(tmp_path: Path) -> None:
    draft = Draft(prefixes={"brick": BRICK})
    text = """\
        scope: {brick:kind: brick}
        mappings: [{name: m, inputs: [{a: "brick:a"}], outputs: {shop:b: a}}]
        """
    draft_of(tmp_path, text, draft)
    ((function, _),) = draft.mappings.values()
    assert list(draft.scopes) == [iri(BRICK + "kind")]
    assert function.inputs == (("a", iri(BRICK + "a")),)
    assert function.outputs == ((string("shop:b"), "a"),)
    assert draft.content().entities == ()


def test_sections_may_be_empty(tmp_path: Path) -> None:
    text = "synonyms:\nhierarchy: {}\n# laptop: computer\nstatements:\nmappings: []\nscope:\n"
    assert content_of(tmp_path, text) == Content()


def test_a_byte_order_mark_and_foreign_words_are_read(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "\ufeffscheme: shop\r\nhierarchy:\r\n  ноутбук: 电脑\r\n")
    ((pair, place),) = draft.broader.items()
    assert pair == (shop("ноутбук"), shop("电脑"))
    assert place.line == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.yaml is empty; expected keys such as `hierarchy:`"),
        ("# nothing\n", "a.yaml is empty"),
        ("---\n", "a.yaml is empty"),
        ("laptop", "a.yaml:1: expected keys such as `hierarchy:`, found the text 'laptop'"),
        ("- laptop", "a.yaml:1: expected keys such as `hierarchy:`, found a list of 1"),
        ("\nsynonym: {a: b}", "a.yaml:2: there is no key 'synonym'; did you mean 'synonyms'?"),
        ("classes: {a: b}", "a.yaml:1: there is no key 'classes'; did you mean"),
        ("scheme: [shop]", "a.yaml:1: 'scheme' holds one name: `scheme: shop`; found a list of 1"),
        ("scheme:", "a.yaml:1: an empty name; 'scheme' holds one name"),
        ("hierarchy: [laptop, computer]", "a.yaml:1: 'hierarchy' holds a narrower name"),
        ("hierarchy: laptop", "found the text 'laptop'"),
        ("hierarchy:\n  laptop:\n", "a.yaml:2: an empty name; 'hierarchy' holds"),
        ("hierarchy:\n  laptop: []\n", "a.yaml:2: 'hierarchy' holds"),
        ("hierarchy:\n  laptop:\n  - a\n  - ' '\n", "a.yaml:4: an empty name"),
        ("hierarchy:\n  '': computer\n", "a.yaml:2: an empty name"),
        ("hierarchy:\n  laptop: {computer: x}\n", "a.yaml:2: 'hierarchy' holds a narrower name"),
        ("hierarchy:\n  laptop: [[computer]]\n", "found a list of 1"),
        ("hierarchy:\n  ? [a, b]\n  : c\n", "a.yaml:2: a key is one name; found a list of 2"),
        ("synonyms: {price: {a: b}}", "found a mapping with 1 keys, the first is 'a'"),
        ("hierarchy: {a: <no iri>}", "a.yaml:1: '<no iri>' is no IRI; expected one such as <http:"),
        ("hierarchy: {a: <>}", "'<>' is no IRI"),
        ("hierarchy: {a: 'xsd:no iri'}", "'xsd:no iri' is no IRI"),
        ("scope: {topic: {a: b}}", "'scope' holds an attribute and a scheme"),
        ("scope:\n  topic: a\n  b: a\n  topic : b", "the key 'topic' stands at line 2"),
        ("statements: {a: b}", "'statements' holds a list of three names each"),
        ("statements:\n- [a, b, c]\n- [a, b]", "a.yaml:3: 'statements' holds"),
        ("statements: [[a, b, [c]]]", "found a list of 1"),
        ("mappings: {name: m}", "'mappings' holds a list of functions"),
        ("mappings: [m]", "found the text 'm'"),
        ("mappings:\n- {name: m, input: [a]}", "a.yaml:2: there is no key 'input'; did you mean"),
        ("mappings:\n- {name: m, inputs: [a]}", "a.yaml:2: a mapping without 'outputs'"),
        ("mappings: [{name: m, inputs: a b, outputs: {c: d}}]", "give it an alias: {alias: 'a b'}"),
        ("mappings: [{name: m, inputs: [[a]], outputs: {c: d}}]", "'mappings' holds"),
        ("mappings: [{name: m, inputs: [a], outputs: [c]}]", "'mappings' holds"),
        ("mappings: [{name: [m], inputs: [a], outputs: {c: a}}]", "'mappings' holds"),
        ("mappings: [{name: m, inputs: [a], outputs: {}}]", "a.yaml:1: mapping m has no output"),
        ("mappings: [{name: m, inputs: [a], outputs: }]", "a.yaml:1: mapping m has no output"),
        ("mappings: [{name: m, inputs: [], outputs: {c: '1'}}]", "mapping m has no input"),
        ("mappings: [{name: m, inputs: [{}], outputs: {c: '1'}}]", "mapping m has no input"),
        ("mappings: [{name: m, inputs: [if], outputs: {c: d}}]", "give it an alias: {alias: 'if'}"),
        ("mappings:\n- {name: m, inputs: a, outputs: {c: a + d}}", "a.yaml:2: mapping m, output c"),
        ("mappings: [{name: m, inputs: {a: b}, outputs: {c: a}}]", "'mappings' holds"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(tmp_path, text)


def test_a_mapping_is_stated_once(tmp_path: Path) -> None:
    function = "- {name: m, inputs: [a], outputs: {c: a}}"
    draft_of(tmp_path, f"mappings:\n{function}\n{function}")
    message = refusal(tmp_path, f"mappings:\n{function}\n{function.replace('c: a', 'd: a')}")
    assert message == "a.yaml:3: the mapping 'm' is another one at a.yaml:2; rename one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hierarchy:\n  a: b\n  c: d\n  a: e", "a.yaml:4: the key 'a' stands at line 2 too"),
        ("hierarchy: {a: b}\nhierarchy: {c: d}", "a.yaml:2: the key 'hierarchy' stands at line 1"),
        ("hierarchy:\n  a: &x b\n  c: *x", "a.yaml:2: & and * (anchors, aliases) are not read"),
        ("hierarchy:\n  a: b\n  c: *x", "a.yaml:3: & and * (anchors, aliases) are not read"),
        ("hierarchy: &x {a: b}", "a.yaml:1: & and *"),
        ("hierarchy:\n  a: !!str b", "a.yaml:2: tags such as 'tag:yaml.org,2002:str' are not read"),
        ("hierarchy: !!python/object:os.system {a: b}", "a.yaml:1: tags such as"),
        ("hierarchy: {a: ! b}", "a.yaml:1: tags such as '!'"),
        ("scheme: a\n---\nscheme: b", "a.yaml:2: a second document begins; one file holds one"),
        ("scheme: a\n...\n---\n", "a.yaml:3: a second document begins"),
        ("hierarchy:\n  a: [b\nc: d", "a.yaml:3: bad YAML while parsing a flow sequence: "),
        ("hierarchy:\n  a: b: c", "a.yaml:2: bad YAML: mapping values are not allowed"),
        ("hierarchy:\n  a: 'b", "bad YAML while scanning a quoted scalar"),
        ("hierarchy:\n  a: b\x01", "a.yaml:2: "),
        (b"hierarchy:\n  a: b\xff\n", "a.yaml:2: not UTF-8, at byte 17"),
        ("hierarchy: {a: b}".encode("utf-16"), "a.yaml:1: not UTF-8, at byte 0"),
        ("hierarchy: " + "[" * 17 + "]" * 17, "a.yaml:1: nested more than 16 deep"),
    ],
)  # fmt: skip
def test_what_is_no_such_yaml_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in refusal(tmp_path, text)


@pytest.mark.parametrize(
    "text", ["hierarchy: [b", "hierarchy:\n  - \x01", 'hierarchy: {a: "\\ud800"}']
)
def test_pyyaml_without_its_c_library_serves_as_well(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = content_of(tmp_path, PAPER)
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert content_of(tmp_path, PAPER) == expected
    assert re.match(r"a\.yaml:[12]: ", refusal(tmp_path, text))


@pytest.mark.parametrize("opening", ["[", "{", "{a: ", "- ", "? ", "[? "])
def test_deep_nesting_ends_early(tmp_path: Path, opening: str) -> None:
    started = time.perf_counter()
    assert "nested more than 16 deep" in refusal(tmp_path, "hierarchy:\n  " + opening * 200_000)
    assert time.perf_counter() - started < 5


def test_a_billion_laughs_are_not_laughed(tmp_path: Path) -> None:
    lines = ["l0: &l0 [ha]"] + [
        f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)
    ]
    assert "a.yaml:1: & and *" in refusal(tmp_path, "\n".join(lines))


PIECES = [*"&*!|>[]{},:?-'\"%@#\n \t\\\ufeff\x01\x85", "  ", ": ", "- ", "\n  ", "---\n", "<", "a"]
KEYS = ["scheme", "synonyms", "hierarchy", "scope", "statements", "mappings", "name", "inputs"]


@given(pieces=st.lists(st.sampled_from([*PIECES, *KEYS, "\\ud800", "<http://x.org/a>"])))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_read_or_refused(tmp_path: Path, pieces: list[str]) -> None:
    for start in ("", "hierarchy:\n  a: b\n", "synonyms: {"):
        with contextlib.suppress(KnowledgeError):
            check_synonyms(draft_of(tmp_path, start + "".join(pieces)))


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert yaml_nodes.LARGEST == 64 * 1024 * 1024
    monkeypatch.setattr(yaml_nodes, "LARGEST", 30)
    draft_of(tmp_path, f"{'scheme: shop':<30}")
    assert "a.yaml is larger than 30 bytes" in refusal(tmp_path, f"{'scheme: shop':<31}")


@pytest.mark.parametrize(("name", "message"), [("none.yaml", "No such file"), (".", "no regular")])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(KnowledgeError, match=rf"{message}.*; expected a YAML file"):
        read_yaml([tmp_path / name], Draft())


def test_messages_do_not_repeat_a_long_text(tmp_path: Path) -> None:
    assert len(refusal(tmp_path, f"hierarchy: {'x' * 100_000}")) < 300
    assert len(refusal(tmp_path, f"? {'x' * 100_000}\n: a")) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "synonyms:\n  price: [value]\n  worth: [value]",
            "'value' is a synonym of 'price' at a.yaml:2 and of 'worth' at a.yaml:3; name one root",
        ),
        (
            "synonyms:\n  a: [b]\n  b: [a]",
            "synonyms in a circle: 'b' of 'a' of 'b' (a.yaml:2, a.yaml:3); name one root",
        ),
        (
            "synonyms:\n  x: [a]\n  a: [b]\n  b: c\n  c: [x, d]",
            "synonyms in a circle: 'a' of 'x' of 'c' of 'b' of 'a' "
            "(a.yaml:2, a.yaml:5, a.yaml:4, a.yaml:3); name one root",
        ),
        (
            "synonyms:\n  price: [value, price]",
            "a.yaml:2: 'price' is listed as a synonym of itself; remove it",
        ),
        (
            "synonyms: {a: a:b, b: a}",  # the file's own scheme as prefix
            "synonyms in a circle: 'b' of 'a' of 'b' (a.yaml:1, a.yaml:1); name one root",
        ),
    ],
)
def test_synonyms_that_disagree_are_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == message


@pytest.mark.parametrize("order", [("a.yaml", "b.yaml"), ("b.yaml", "a.yaml")])
def test_two_files_that_disagree_are_both_named(tmp_path: Path, order: tuple[str, str]) -> None:
    texts = {
        "a.yaml": "scheme: shop\nsynonyms:\n  price: [value]",
        "b.yaml": "scheme: shop\nsynonyms:\n\n  worth: [value]",
    }
    draft = Draft()
    for name in order:
        draft_of(tmp_path, texts[name], draft, name)
    with pytest.raises(KnowledgeError) as raised:
        check_synonyms(draft)
    assert str(raised.value).replace(f"{tmp_path}/", "") == (
        "'value' is a synonym of 'price' at a.yaml:3 and of 'worth' at b.yaml:4; name one root"
    )


def test_words_of_two_schemes_are_named_with_their_schemes(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text("synonyms: {price: value}")
    (tmp_path / "a.yaml").write_text("synonyms: {worth: shop:value}")
    draft = Draft()
    read_yaml([tmp_path / "shop.yaml", tmp_path / "a.yaml"], draft)
    with pytest.raises(KnowledgeError) as raised:
        check_synonyms(draft)
    assert str(raised.value).replace(f"{tmp_path}/", "") == (
        "'shop:value' is a synonym of 'a:worth' at a.yaml:1 and of 'shop:price' at shop.yaml:1; "
        "name one root"
    )


@pytest.mark.parametrize(
    "text",
    [
        "synonyms: {price: [value], value: [cost]}",
        "synonyms: {price: [value, value]}",
        "synonyms: {price: <http://x.org/v>, worth: <http://x.org/v>, <http://x.org/v>: price}",
    ],
)
def test_chains_repetitions_and_iris_are_no_disagreement(tmp_path: Path, text: str) -> None:
    check_synonyms(draft_of(tmp_path, text))


def test_the_same_word_in_two_schemes_has_two_roots(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "synonyms: {price: value}", name="shop.yaml")
    check_synonyms(draft_of(tmp_path, "synonyms: {worth: value}", draft, "school.yaml"))


def test_long_chains_take_linear_time(tmp_path: Path) -> None:
    draft = Draft()
    for n in range(50_000):
        draft.same[shop(f"w{n}"), shop(f"w{n + 1}")] = Place("a.yaml", n + 1)
    started = time.perf_counter()
    check_synonyms(draft)
    assert time.perf_counter() - started < 5
