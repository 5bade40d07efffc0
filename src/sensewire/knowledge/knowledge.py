"""What people mean by their words: roots, what is narrower than what, and which is declared.

This version knows nothing: every word stands for itself, and an IRI is read by its local name. The
questions that matchers ask are all here, so that knowledge can be filled in behind them.
"""

import hashlib
from dataclasses import dataclass
from os import PathLike
from typing import Self

from sensewire.model import datatypes
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import Kind, Term, local_name, string

THING = string("Thing")
"""The root of the concept that everything is."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """One frozen value; `Knowledge()` is the empty one. Roots are terms, compared as such."""

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> Self:
        """Knowledge from files; this version cannot load any."""
        names = ", ".join(str(path) for path in paths) or "nothing"
        raise KnowledgeError(
            f"cannot load {names}: this version does not load knowledge yet; use Knowledge()"
        )

    @property
    def version(self) -> str:
        """A hash of the content."""
        return hashlib.sha256(b"").hexdigest()

    def value_root(self, term: Term) -> Term:
        """The representative of a value's synonyms.

        >>> from sensewire.model.terms import iri
        >>> Knowledge().value_root(iri("http://x.org/laptop")) == string("laptop")
        True
        """
        if term.kind is Kind.IRI and not _is_datatype(term.text):
            return string(local_name(term.text))
        return string(term.text) if term.kind is Kind.UNTYPED else term

    def attribute_root(self, term: Term) -> Term:
        """The representative of an attribute's or property's synonyms."""
        return string(local_name(term.text)) if term.kind is Kind.IRI else term

    def above(self, root: Term) -> frozenset[Term]:
        """The roots that a concept is ⊑, itself included."""
        return frozenset((root, THING))

    def attributes_above(self, root: Term) -> frozenset[Term]:
        """The roots that an attribute is ⊑, itself included."""
        return frozenset((root,))

    def parents(self, root: Term) -> frozenset[Term]:
        """The declared parents of a concept, as roots."""
        return frozenset()

    def classes(self, root: Term) -> frozenset[Term]:
        """The declared classes of an individual that the knowledge lists, as roots."""
        return frozenset()

    def steps_up(self, root: Term, ancestor: Term) -> int | None:
        """The length of the shortest path from a concept up to a more general one, or None."""
        return 0 if root == ancestor else None

    def attribute_steps_up(self, root: Term, ancestor: Term) -> int | None:
        """The length of the shortest path from an attribute up to a more general one, or None."""
        return 0 if root == ancestor else None


def _is_datatype(address: str) -> bool:
    """Datatypes are known to everybody by their IRIs; no bare word means one."""
    return address.startswith(datatypes.XSD) or address in (
        datatypes.LITERAL,
        datatypes.LANGUAGE_STRING,
        datatypes.QUANTITY,
    )
