"""What some knowledge holds: a word's meanings, statistics, and what its writers may want to mend.

Everything is a value; commands only print it. Cost: linear in the content, and for descriptions in
what is above and below a word; lists are cut to `MOST_LISTED`, their full lengths are told.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from sensewire.knowledge.content import Content, EntityKind, Pair
from sensewire.knowledge.hierarchy import Hierarchy
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.relations import Relations, Role, Statement, looping, nodes
from sensewire.knowledge.vocabulary import THING
from sensewire.knowledge.words import folded
from sensewire.model.terms import Term, iri, string

MOST_LISTED = 20
_MOST_NEAR = 5
_NEAR_IN_LENGTH = 2


class Listed(NamedTuple):
    """The first of many, and how many there are."""

    first: tuple[Term, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """One meaning of a word. `above` has steps, nearest first; Thing, above all, is left out."""

    role: Role
    root: Term
    names: tuple[str, ...]
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    schemes: tuple[str, ...]
    above: tuple[tuple[Term, int], ...]
    below: Listed  # nearest first
    individuals: frozenset[Term]  # which of the first below are individuals
    classes: tuple[Term, ...]
    instances: Listed
    statements: tuple[Statement, ...]  # that name it
    inherited: tuple[Statement, ...]  # that name something above it
    read_by: tuple[str, ...]  # the functions that it serves
    written_by: tuple[str, ...]  # the functions that make it, or something narrower
    scope: tuple[str, ...]  # the schemes that its values are read in; empty: all


def meanings(word: str, role: Role, relations: Relations) -> tuple[Meaning, ...]:
    """What a word means in a role; empty if nothing is known of it."""
    term = iri(word[1:-1]) if word.startswith("<") and word.endswith(">") else string(word)
    knowledge = relations.knowledge
    if role is Role.VALUE:
        roots: Iterable[Term] = knowledge.value_meanings(term)
    else:
        roots = sorted(knowledge.attribute_roots(term), key=str)
    described = (_described(root, role, relations) for root in roots)
    return tuple(each for each in described if each.names or _is_used(each))


def _is_used(meaning: Meaning) -> bool:
    """Whether functions or scopes name it, though no scheme does."""
    return bool(meaning.read_by or meaning.written_by or meaning.scope)


def _described(found: Term, role: Role, relations: Relations) -> Meaning:
    hierarchy = relations.of(role)
    root = hierarchy.root(found)
    known = [entity for member in hierarchy.members(root) for entity in relations.entities[member]]
    classes = relations.knowledge.classes(found) if role is Role.VALUE else frozenset()
    above = _above(root, hierarchy)
    below, individuals = _below(root, role, relations)
    instances = tuple(relations.instances.get(root, ())) if role is Role.VALUE else ()
    own = relations.stated.get(root, ())
    higher = (each for node, _ in above for each in relations.stated.get(node, ()))
    return Meaning(
        role=role,
        root=found,
        names=_each(name for entity in known for name in entity.names),
        labels=_each(label for entity in known for label in entity.labels),
        kinds=_each(kind.value for entity in known for kind in entity.kinds),
        schemes=_each(scheme for entity in known for scheme in entity.schemes),
        above=above,
        below=Listed(below[:MOST_LISTED], len(below)),
        individuals=individuals.intersection(below[:MOST_LISTED]),
        classes=tuple(sorted(classes, key=str)),
        instances=Listed(instances[:MOST_LISTED], len(instances)),
        statements=tuple(own),
        inherited=tuple(dict.fromkeys(each for each in higher if each not in set(own))),
        read_by=_reading(root, relations) if role is Role.ATTRIBUTE else (),
        written_by=_writing(root, relations) if role is Role.ATTRIBUTE else (),
        scope=_scope(root, relations) if role is Role.ATTRIBUTE else (),
    )


def _each(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))


def _above(root: Term, hierarchy: Hierarchy) -> tuple[tuple[Term, int], ...]:
    """What is above, level by level; a class is one step from its individual."""
    steps = {root: 0}
    for node in (ahead := [root]):
        for parent in hierarchy.parents(node):
            if parent not in steps:
                steps[parent] = steps[node] + 1
                ahead.append(parent)
    return tuple((node, count) for node, count in steps.items() if count and node != THING)


def _below(
    root: Term, role: Role, relations: Relations
) -> tuple[tuple[Term, ...], frozenset[Term]]:
    """What is below, nearest first, and which of it are individuals."""
    hierarchy = relations.of(role)
    found = {root: None}
    individuals: set[Term] = set()
    for node in (ahead := [root]):
        individuals.update(relations.instances.get(node, ()) if role is Role.VALUE else ())
        under = [child for child in hierarchy.children(node) if child not in found]
        ahead += under
        found.update(dict.fromkeys(under))
    del found[root]
    return tuple(found), frozenset(individuals)


def _reading(root: Term, relations: Relations) -> tuple[str, ...]:
    over = relations.attributes.above(root)
    return tuple(
        function.name
        for function in relations.knowledge.mappings
        if any(not over.isdisjoint(nodes(relations, input)) for _, input in function.inputs)
    )


def _writing(root: Term, relations: Relations) -> tuple[str, ...]:
    return tuple(
        function.name
        for function in relations.knowledge.mappings
        for made in (nodes(relations, output) for output, _ in function.outputs)
        if any(root in relations.attributes.above(node) for node in made)
    )


def _scope(root: Term, relations: Relations) -> tuple[str, ...]:
    bound = (
        schemes
        for attribute, schemes in relations.knowledge.content.scopes
        if root in nodes(relations, attribute)
    )
    return _each(scheme for schemes in bound for scheme in schemes)


def near_words(word: str, knowledge: Knowledge) -> tuple[str, ...]:
    """Known names and labels that look like a word: about as long, with its first or last letter.

    >>> from sensewire.knowledge.content import Draft, in_scheme
    >>> draft = Draft()
    >>> _ = draft.entity(in_scheme("laptop", "shop"), "shop")
    >>> near_words("labtop", Knowledge(draft.content()))
    ('laptop',)
    """
    asked = folded(word)
    alike: dict[str, str] = {}
    for entity in knowledge.content.entities:
        for known in (*entity.names, *entity.labels):
            if known and abs(len(known) - len(asked)) <= _NEAR_IN_LENGTH:
                form = folded(known)
                if asked[:1] == form[:1] or asked[-1:] == form[-1:]:
                    alike.setdefault(form, known)
    return tuple(alike[form] for form in get_close_matches(asked, alike, n=_MOST_NEAR))


@dataclass(frozen=True, slots=True)
class Statistics:
    """How much there is of everything; an entity of two kinds or schemes counts in both."""

    entities: int
    kinds: Mapping[str, int]
    schemes: Mapping[str, int]
    hierarchy: int
    subproperties: int
    synonyms: int
    instances: int
    disjoint: int
    depth: int
    statements: int
    functions: int
    scopes: Mapping[Term, tuple[str, ...]]


def statistics(relations: Relations) -> Statistics:
    """How much there is of everything."""
    content = relations.knowledge.content
    kinds = Counter(kind.value for entity in content.entities for kind in entity.kinds)
    schemes = Counter(scheme for entity in content.entities for scheme in entity.schemes)
    return Statistics(
        entities=len(content.entities),
        kinds={kind.value: kinds[kind.value] for kind in EntityKind if kinds[kind.value]},
        schemes=dict(sorted(schemes.items())),
        hierarchy=len(content.broader),
        subproperties=len(content.subproperties),
        synonyms=len(content.same),
        instances=len(content.instances),
        disjoint=len(content.disjoint),
        depth=_depth(content),
        statements=len(content.statements),
        functions=len(content.mappings),
        scopes=dict(content.scopes),
    )


def _depth(content: Content) -> int:
    """The steps of the longest way up from any concept: each node after all that are above it."""
    concepts = Hierarchy(content.broader, content.same)
    roots = {concepts.root(end) for pair in content.broader for end in pair}
    waiting = {root: len(concepts.parents(root)) for root in roots}
    longest = {root: 0 for root, parents in waiting.items() if not parents}
    for root in (ahead := list(longest)):
        for child in concepts.children(root):
            longest[child] = max(longest.get(child, 0), longest[root] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ahead.append(child)
    return max(longest.values(), default=0)


@dataclass(frozen=True, slots=True)
class Findings:
    """What the writers of knowledge may want to mend.

    `alone` are the concepts that nothing else mentions: no parent, child, instance, synonym or
    statement. They match their own spellings, and nothing that an event could not say as well.
    `looping` are the functions that read what they, or each other, write. What is of two disjoint
    classes is listed where it begins, and not again for all that is below.
    """

    ambiguous: Mapping[str, tuple[Term, ...]]
    alone: tuple[Term, ...]
    contradictory: tuple[tuple[Term, Term, Term], ...]  # a root, and two disjoint classes above it
    looping: tuple[str, ...]

    def __len__(self) -> int:
        parts = (self.ambiguous, self.alone, self.contradictory, self.looping)
        return sum(map(len, parts))


def findings(relations: Relations) -> Findings:
    """Everything that looks like a mistake, although it could be loaded."""
    return Findings(
        dict(_ambiguous(relations.knowledge)),
        tuple(_alone(relations)),
        tuple(_contradictory(relations)),
        looping(relations),
    )


def _ambiguous(knowledge: Knowledge) -> Iterator[tuple[str, tuple[Term, ...]]]:
    """The names and labels that have several meanings as values, where no scope decides."""
    entities = knowledge.content.entities
    shared = Counter(
        word for entity in entities for word in {*map(folded, (*entity.names, *entity.labels))}
    )
    words = {word for entity in entities for word in (*entity.names, *entity.labels)}
    told: set[str] = set()
    for word in sorted(word for word in words if shared[folded(word)] > 1):
        found = knowledge.value_meanings(string(word))
        if len(found) > 1:
            told.add(folded(word))
            yield word, found
    for word in sorted(word for word in shared if shared[word] > 1 and word not in told):
        found = knowledge.value_meanings(string(word))  # in a case that nobody wrote
        if len(found) > 1:
            yield word, found


def _alone(relations: Relations) -> Iterator[Term]:
    content = relations.knowledge.content
    pairs = (*content.broader, *content.same, *content.instances, *content.subproperties)
    used = {end for pair in (*pairs, *content.statements, *content.disjoint) for end in pair}
    for entity in content.entities:
        if entity.kinds == {EntityKind.CONCEPT} and entity.term not in used:
            yield entity.term


def _contradictory(relations: Relations) -> Iterator[tuple[Term, Term, Term]]:
    knowledge, values = relations.knowledge, relations.values
    apart: dict[Term, set[Term]] = defaultdict(set)
    for one, other in knowledge.content.disjoint:
        apart[knowledge.root(one)].add(knowledge.root(other))
        apart[knowledge.root(other)].add(knowledge.root(one))
    if not apart:
        return
    known = dict.fromkeys(knowledge.root(each.term) for each in knowledge.content.entities)
    for root in known:
        pair = _clash(root, knowledge, apart)
        over = values.parents(values.root(root)) if pair is not None else ()
        if pair is not None and all(_clash(each, knowledge, apart) != pair for each in over):
            yield (root, *pair)


def _clash(root: Term, knowledge: Knowledge, apart: Mapping[Term, set[Term]]) -> Pair | None:
    above = knowledge.above(root)
    for one in sorted(above & apart.keys(), key=str):
        others = apart[one] & above
        if others:
            return one, min(others, key=str)
    return None
