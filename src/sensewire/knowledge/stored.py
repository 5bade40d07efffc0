"""Knowledge as one JSON document: how it travels to other processes, and what its version hashes.

Terms stand once, in a table; everything else names them by number.
"""

import hashlib
from typing import Any

from sensewire.knowledge.content import Content, Entity, EntityKind
from sensewire.knowledge.mappings import MappingFunction
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import Kind, Term

FORMAT = 1


def to_json(content: Content) -> bytes:
    """The content as JSON; equal content gives equal bytes.

    >>> from_json(to_json(Content())) == Content()
    True
    """
    import orjson

    numbers: dict[Term, int] = {}

    def number(term: Term) -> int:
        return numbers.setdefault(term, len(numbers))

    written = {
        "format": FORMAT,
        "entities": [
            [
                number(each.term),
                sorted(each.kinds),
                sorted(each.schemes),
                each.names,
                each.labels,
                each.deprecated,
            ]
            for each in content.entities
        ],
        **{
            name: [[number(term) for term in group] for group in getattr(content, name)]
            for name in ("broader", "subproperties", "same", "instances", "statements", "disjoint")
        },
        "mappings": [
            [
                each.name,
                [[alias, number(attribute)] for alias, attribute in each.inputs],
                [[number(attribute), text] for attribute, text in each.outputs],
            ]
            for each in content.mappings
        ],
        "scopes": [[number(attribute), schemes] for attribute, schemes in content.scopes],
        "prefixes": content.prefixes,
    }
    written["terms"] = [[term.kind, term.text, term.datatype] for term in numbers]
    return orjson.dumps(written)


def from_json(data: bytes) -> Content:
    """The content that JSON of `to_json` holds."""
    import orjson

    try:
        stored = orjson.loads(data)
        if stored["format"] != FORMAT:
            raise KnowledgeError(
                f"stored knowledge of format {stored['format']}; this version reads {FORMAT}"
            )
        return _content(stored)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise KnowledgeError(f"this is no stored knowledge: {error}") from None


def _content(stored: dict[str, Any]) -> Content:
    terms = [Term(Kind(kind), text, datatype) for kind, text, datatype in stored["terms"]]

    def groups(name: str) -> tuple[Any, ...]:  # pairs, or triples
        return tuple(tuple(terms[number] for number in group) for group in stored[name])

    return Content(
        entities=tuple(
            Entity(
                terms[number],
                frozenset(map(EntityKind, kinds)),
                frozenset(schemes),
                tuple(names),
                tuple(labels),
                deprecated,
            )
            for number, kinds, schemes, names, labels, deprecated in stored["entities"]
        ),
        broader=groups("broader"),
        subproperties=groups("subproperties"),
        same=groups("same"),
        instances=groups("instances"),
        statements=groups("statements"),
        disjoint=groups("disjoint"),
        mappings=tuple(
            MappingFunction(
                name,
                tuple((alias, terms[number]) for alias, number in inputs),
                tuple((terms[number], text) for number, text in outputs),
            )
            for name, inputs, outputs in stored["mappings"]
        ),
        scopes=tuple((terms[number], tuple(schemes)) for number, schemes in stored["scopes"]),
        prefixes=tuple((prefix, address) for prefix, address in stored["prefixes"]),
    )


def digest(content: Content) -> str:
    """A hash of the content."""
    return hashlib.sha256(to_json(content)).hexdigest()
