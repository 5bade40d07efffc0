"""Which words may be read differently by two knowledges.

A word finds entities by IRI, prefix, name, label, or any of these with case folded. What it finds
can differ only if an entity that is spelled so, case apart, came or went, or changed a name, label,
kind, scheme or synonym; or if a prefix changed that it begins with; or if the values of an
attribute that is spelled so are read in other schemes. Such spellings are `folds`, and all entities
that have one of them are touched. Cost: linear in both contents.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sensewire.knowledge.content import (
    ATTRIBUTE,
    SCHEME,
    Content,
    Entity,
    Pair,
    as_attribute,
    is_plain_name,
    own_name,
)
from sensewire.knowledge.relations import Relations, nodes
from sensewire.knowledge.words import folded
from sensewire.model.terms import Kind, Term, local_name


@dataclass(frozen=True, slots=True)
class Changes:
    """Spellings and entities that two knowledges may read differently."""

    folds: frozenset[str]
    prefixes: frozenset[str]  # folded too
    entities: frozenset[Term]  # as values and as attributes
    scopes: bool  # whether the values of some attribute may be read in other schemes

    def touches(self, root: Term) -> bool:
        """Whether some spelling of an entity, or of a word that nobody knows, may be reread."""
        if root in self.entities:
            return True
        plain = root.kind is Kind.STRING and not _is_entity(root)
        return plain and _is_reread(folded(root.text), self.folds, self.prefixes)


def changes_between(old: Relations, new: Relations) -> Changes:
    """What may be read differently.

    >>> from sensewire.knowledge.content import Draft, in_scheme
    >>> from sensewire.knowledge.knowledge import Knowledge
    >>> from sensewire.model.terms import string
    >>> draft = Draft()
    >>> _ = draft.entity(in_scheme("Laptop", "shop"), "shop")
    >>> made = changes_between(Relations(Knowledge()), Relations(Knowledge(draft.content())))
    >>> [made.touches(string(word)) for word in ("LAPTOP", "tablet")]
    [True, False]
    """
    before, after = _scoped(old), _scoped(new)
    rescoped = [each for each in {**before, **after} if before.get(each) != after.get(each)]
    folds = frozenset((*_changed(old, new), *_spellings(rescoped, old), *_spellings(rescoped, new)))
    prefixes = {*old.knowledge.content.prefixes} ^ {*new.knowledge.content.prefixes}
    changed = frozenset(folded(prefix) for prefix, _ in prefixes)
    known = {*old.knowledge.content.entities, *new.knowledge.content.entities}
    reached = {e.term for e in known if any(_is_reread(f, folds, changed) for f in _folds(e))}
    reached.update(_behind(known, prefixes))
    entities = frozenset((*reached, *map(as_attribute, reached)))
    made = Changes(folds, changed, entities, scopes=False)
    return replace(made, scopes=any(map(made.touches, (*before, *after))))


def _is_reread(fold: str, folds: frozenset[str], prefixes: frozenset[str]) -> bool:
    """Whether a spelling may find something else: as it stands, or as a prefix and a name."""
    if fold in folds:
        return True
    prefix, _, name = fold.partition(":")
    return bool(name) and (prefix in prefixes or name in folds or local_name(name) in folds)


def renamed_scheme(old: Content, new: Content) -> tuple[str, str] | None:
    """The scheme of the old content and that of the new one, if they have one each of their own.

    A scheme is often its file's name, and a new version a new file: then the two are meant as one.
    """
    before, after = (
        {scheme for entity in content.entities for scheme in entity.schemes}
        for content in (old, new)
    )
    if len(before - after) == len(after - before) == 1:
        return min(before - after), min(after - before)
    return None


def with_scheme(content: Content, scheme: str, other: str) -> Content:
    """The content with a scheme under another name."""
    own, made = SCHEME + scheme, SCHEME + other

    def term(each: Term) -> Term:
        return replace(each, datatype=made) if each.datatype == own else each

    def schemes(names: Iterable[str]) -> Iterator[str]:
        return (other if name == scheme else name for name in names)

    def pairs(stated: Iterable[Pair]) -> tuple[Pair, ...]:
        return tuple((term(one), term(other)) for one, other in stated)

    return replace(
        content,
        entities=tuple(
            replace(each, term=term(each.term), schemes=frozenset(schemes(each.schemes)))
            for each in content.entities
        ),
        scopes=tuple((each, tuple(sorted(schemes(names)))) for each, names in content.scopes),
        broader=pairs(content.broader),
        subproperties=pairs(content.subproperties),
        same=pairs(content.same),
        instances=pairs(content.instances),
        disjoint=pairs(content.disjoint),
        statements=tuple((term(a), term(b), term(c)) for a, b, c in content.statements),
    )


def _is_entity(term: Term) -> bool:
    return (term.datatype or "").startswith((SCHEME, ATTRIBUTE))


def _folds(entity: Entity) -> set[str]:
    return {folded(word) for word in (*entity.names, *entity.labels)}


def _changed(old: Relations, new: Relations) -> Iterator[str]:
    """The spellings of entities that came, went or changed."""
    before = {entity.term: entity for entity in old.knowledge.content.entities}
    after = {entity.term: entity for entity in new.knowledge.content.entities}
    regrouped = {term for group in _groups(old) ^ _groups(new) for term in group}
    for term in before.keys() | after.keys():
        one, other = before.get(term), after.get(term)
        if one is None or other is None:
            yield from _folds(one or other)  # type: ignore[arg-type]  # one of them has it
            yield folded(term.text)
        elif term in regrouped or (one.kinds, one.schemes) != (other.kinds, other.schemes):
            yield from _folds(one) | _folds(other)
        else:
            for was, now in ((one.names, other.names), (one.labels, other.labels)):
                yield from map(folded, {*was} ^ {*now})


def _groups(relations: Relations) -> set[frozenset[Term]]:
    """The synonyms."""
    ends = (end for pair in relations.knowledge.content.same for end in pair)
    roots = {relations.values.root(end) for end in ends}
    return {frozenset(relations.values.members(root)) for root in roots}


def _scoped(relations: Relations) -> dict[Term, frozenset[str]]:
    """The schemes that the values of attributes are read in, by each of their synonyms."""
    found: dict[Term, frozenset[str]] = {}
    for attribute, schemes in relations.knowledge.content.scopes:
        for node in nodes(relations, attribute):
            for member in relations.attributes.members(node):
                found[member] = found.get(member, frozenset()).union(schemes)
    return found


def _spellings(attributes: Iterable[Term], relations: Relations) -> Iterator[str]:
    for attribute in attributes:
        yield folded(own_name(attribute))
        for entity in relations.entities.get(attribute, ()):
            yield from _folds(entity)


def _behind(entities: Iterable[Entity], prefixes: set[tuple[str, str]]) -> Iterator[Term]:
    """The entities that some changed prefix leads to, or that it hides."""
    if not prefixes:
        return
    addresses = tuple(address for _, address in prefixes)
    schemes = {SCHEME + prefix for prefix, _ in prefixes}
    for entity in entities:
        term = entity.term
        if term.datatype in schemes if is_plain_name(term) else term.text.startswith(addresses):
            yield term
