"""The values of GQL and of statement patterns.

A bare name runs to the next comma or bracket: `Arno Jacobsen` and `Home Page #325` need no quotes,
and white space inside it, line breaks too, is one space. Read exactly, it stands for an IRI's local
name or a literal's text, also where it looks like a number; by meaning it is what our own language
makes of it. Names of IRIs are `<iri>`, `prefix:name` with a declared prefix, and bare addresses
such as `http://example.org/a`; `_:H` is the home vertex. Cost: linear in the text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sensewire.language.dialect_text import IRI, Cursor
from sensewire.language.values import Values, date_term, number_term
from sensewire.language.words import DATE, NUMBER, WORD, is_absolute
from sensewire.model import terms
from sensewire.model.conditions import Constant, Name, Reading
from sensewire.model.subscription import Home, Vertex
from sensewire.model.terms import FALSE, HOME, TRUE, Kind, Term

VERTEX = "a variable, a name or a value"
Said = Term | Name

_STRING = re.compile(r'"[^"\\\n\r]*(?:\\.[^"\\\n\r]*)*"|' r"'[^'\\\n\r]*(?:\\.[^'\\\n\r]*)*'")
_LANGUAGE = re.compile(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--(?:ltr|rtl))?")
_DATATYPE = re.compile(rf"<[^<>\s]*>|{WORD}|:{WORD}")
_BARE = re.compile(r'[^,()"<>]*')
_NEVER_FIRST = re.compile(r"[“”„‘’«»=!~&|≤≥≠`]")
_JOINED = re.compile(r"(?i:\s(?:and|or)\s*+(?=[?(]|not\s*+[?(]))")
_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:)\S+")
_DATE = re.compile(DATE)
_NUMBER = re.compile(f"-?{NUMBER}")
_BOOLEANS = {"true": TRUE, "false": FALSE}


@dataclass(frozen=True, slots=True)
class Dialect:
    """Reads the values of one text; `reading` is None for what the language itself does."""

    cursor: Cursor
    prefixes: Mapping[str, str]
    reading: Reading | None

    def vertex(self, *, is_subject: bool = False) -> Vertex:
        """A variable, a constant or the home vertex."""
        variable = self.cursor.variable()
        if variable is not None:
            return variable
        place = self.cursor.place
        said = self.said(VERTEX)
        if said is HOME:
            return Home()
        if is_subject:
            said = _as_name(said)  # a literal is the subject of nothing
        if self.reading is not Reading.MEANING:
            return Constant(said, Reading.EXACT, place)
        return Constant(_by_meaning(said), Reading.MEANING, place)

    def property(self, unless_given: Reading, expected: str) -> Constant:
        """A property, by its name."""
        place = self.cursor.place
        return self._named(_as_name(self.said(expected)), place, unless_given, expected)

    def class_constant(self, said: Said, place: int, expected: str = "a class") -> Constant:
        """A class, by its name; read by meaning, unless everything is read exactly."""
        return self._named(_as_name(said), place, Reading.MEANING, expected)

    def _named(self, said: Said, place: int, unless_given: Reading, expected: str) -> Constant:
        if isinstance(said, Term) and said.kind is not Kind.IRI:
            raise self.cursor.wrong(f"{expected}, by its name or IRI", place)
        reading = self.reading or unless_given
        if reading is Reading.MEANING and isinstance(said, Name):
            return Constant(terms.string(said.text), reading, place)
        return Constant(said, reading, place)

    def said(self, expected: str, *, in_constraint: bool = False) -> Said:
        """Take what stands here and is no variable: a bare name, or a term."""
        cursor = self.cursor
        place = cursor.place
        if cursor.at('"') or cursor.at("'"):
            return self._quoted(place)
        if cursor.at("<"):
            return self._address(place)
        found = _BARE.match(cursor.text, place)
        assert found is not None
        end = found.end()
        if in_constraint:
            joined = _JOINED.search(cursor.text, place, end + 1)
            end = end if joined is None else joined.start()
        name = " ".join(cursor.text[place:end].split())
        if not name:
            raise cursor.wrong(expected)
        if _NEVER_FIRST.match(name):
            raise cursor.wrong(f"{expected}; other texts stand in straight quotes, \"…\" or '…'")
        if name.startswith("?"):
            raise cursor.wrong(f"{expected}, and no variable")
        cursor.move(end)
        return self._bare(name, place) if ":" in name else Name(name)

    def _quoted(self, place: int) -> Term:
        cursor = self.cursor
        values = Values(cursor.text, self.prefixes, Reading.EXACT, strict=False)
        found = _STRING.match(cursor.text, place)
        if found is None:
            raise cursor.wrong("a quote at the end of the text, on the same line", place)
        end = found.end()
        language = _LANGUAGE.match(cursor.text, end)
        if language is not None:
            value = values.language(found[0], place, language[0])
            end = language.end()
        elif cursor.text.startswith("^^", end):
            datatype = _DATATYPE.match(cursor.text, end + 2)
            if datatype is None:
                expected = "a datatype: <iri>, or a name with a declared prefix"
                raise cursor.wrong(expected, end + 2)
            value = values.typed(found[0], place, datatype[0], end + 2)
            end = datatype.end()
        else:
            value = values.string(found[0], place)
        cursor.move(end)
        return value.term

    def _address(self, place: int) -> Term:
        found = IRI.match(self.cursor.text, place)
        if found is None or not is_absolute(found[1]):
            raise self.cursor.wrong("an absolute IRI such as <http://example.org/name>", place)
        self.cursor.move(found.end())
        return terms.iri(found[1])

    def _bare(self, name: str, place: int) -> Said:
        """A name with a colon: the home vertex, an IRI, or a name like any other."""
        prefix, _, local = name.partition(":")
        if name == "_:H":
            return HOME
        if prefix == "_":
            expected = "a variable such as ?x: a blank node has no name to ask for"
            raise self.cursor.wrong(f"{expected}, but _:H, the home vertex", place)
        if prefix in self.prefixes and " " not in name:
            address = self.prefixes[prefix] + local
        elif _ADDRESS.fullmatch(name):
            address = name
        else:
            return Name(name)
        if not is_absolute(address):
            raise self.cursor.wrong("an IRI, which has none of { } | ^ ` \\", place)
        return terms.iri(address)


def literal_of(name: str) -> Term | None:
    """The boolean, number, date or quantity that a bare name writes; None where it writes none.

    >>> print(literal_of("-1.50"), literal_of("5 km"), literal_of("5 apples"))
    "-1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> "5 km"^^<https://w3id.org/cdt/ucum> None
    """
    if name in _BOOLEANS:
        return _BOOLEANS[name]
    if name[0] not in "-.0123456789":
        return None
    if _DATE.fullmatch(name):
        return date_term(name)
    return number_term(name) if _NUMBER.fullmatch(name) else terms.quantity(name)


def _as_name(said: Said) -> Said:
    """Quotes around a name, where no literal can stand, are quotes and no more."""
    if isinstance(said, Term) and said.kind is Kind.STRING:
        return Name(said.text)
    return said


def _by_meaning(said: Said) -> Term:
    if isinstance(said, Term):
        return said
    return literal_of(said.text) or terms.string(said.text)
