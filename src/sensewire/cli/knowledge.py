"""`sensewire knowledge`: what a word means, what to mend, and whose matches a change touches."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from sensewire.knowledge.knowledge import Knowledge
    from sensewire.knowledge.relations import Relations
    from sensewire.knowledge.report import Findings, Meaning, Statistics
    from sensewire.model.terms import Term

_MOST_LISTED = 20
_MOST_REASONS = 3
_WIDTH = 100
_MARGIN = 16
_EXAMPLES = """\
examples:
  sensewire knowledge shop.yaml                   how much there is of everything
  sensewire knowledge shop.yaml --term laptop     what a word means
  sensewire knowledge shop.yaml --check           what its writers may want to mend
  sensewire knowledge --diff old/ new/ --subscriptions s.jsonl
                                                  whose matches may change
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "knowledge",
        help="say what a word means, check knowledge, and compare it with a new version",
        description="Say what knowledge holds, what a word means, and whose matches may change.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="K",
        help="files or folders of knowledge: YAML, RDF (RDFS, OWL, SKOS, SHACL), WordNet's folder",
    )
    add("--term", metavar="WORD", help="say what a word means; ends with 1 if it is unknown")
    add("--attribute", action="store_true", help="with --term: as the name of an attribute only")
    add("--check", action="store_true", help="look for what could be loaded, but may be a mistake")
    add("--strict", action="store_true", help="with --check: end with 1 if there are warnings")
    add("--diff", nargs=2, metavar=("OLD", "NEW"), help="two versions, each a file or a folder")
    add(
        "--subscriptions",
        metavar="S",
        help='with --diff: JSON lines {"id", "text", …}, as `sensewire match` takes them',
    )
    add("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what was asked for."""
    from sensewire.knowledge.knowledge import Knowledge
    from sensewire.knowledge.relations import Relations
    from sensewire.knowledge.report import statistics

    _refuse_nonsense(arguments)
    if arguments.diff is not None:
        return _diff(arguments)
    relations = Relations(Knowledge.load(*arguments.paths))
    if arguments.term is not None:
        return _term(arguments, relations)
    if arguments.check:
        return _check(arguments, relations)
    found = statistics(relations)
    _print(arguments, _as_json(found), _of_statistics(found))
    return 0


def _refuse_nonsense(arguments: argparse.Namespace) -> None:
    asked = [name for name in ("term", "check", "diff") if getattr(arguments, name)]
    if len(asked) > 1:
        raise SensewireError(f"--{asked[0]} and --{asked[1]} are two questions; ask one")
    if (arguments.diff is None) != (arguments.subscriptions is None):
        raise SensewireError("--diff OLD NEW and --subscriptions S go together")
    if arguments.diff is not None and arguments.paths:
        raise SensewireError(
            "--diff names its own knowledge: leave K out, or put it into the folders"
        )
    if arguments.diff is None and not arguments.paths:
        raise SensewireError("no knowledge is named; expected a file or a folder")
    for option, needed in (("strict", "check"), ("attribute", "term")):
        if getattr(arguments, option) and not getattr(arguments, needed):
            raise SensewireError(f"--{option} says more about --{needed}; give both")
    if arguments.term == "":
        raise SensewireError("--term: expected a word, not an empty text")


def _print(arguments: argparse.Namespace, data: object, lines: Iterable[str]) -> None:
    if arguments.json:
        print(json.dumps(data, ensure_ascii=False, indent=2))
        return
    for line in lines:
        print(line)


# What a word means


def _term(arguments: argparse.Namespace, relations: "Relations") -> int:
    from sensewire.knowledge.report import near_words

    word = arguments.term
    found = _meanings(word, arguments.attribute, relations)
    near = () if found else near_words(word, relations.knowledge)
    data = {"word": word, "meanings": [_of_json(each) for each in found], "near": list(near)}
    _print(arguments, data, _of_meanings(word, found) if found else _unknown(word, near))
    return 0 if found else 1


def _meanings(word: str, as_attribute: bool, relations: "Relations") -> "list[Meaning]":
    """As a value and as an attribute, unless one of them says nothing that the other does not."""
    from sensewire.knowledge.relations import Role
    from sensewire.knowledge.report import meanings

    attributes = meanings(word, Role.ATTRIBUTE, relations)
    if as_attribute:
        return list(attributes)
    values = [each for each in meanings(word, Role.VALUE, relations) if each.kinds != ("property",)]
    telling = [
        each
        for each in attributes
        if not values or "property" in each.kinds or each.read_by or each.written_by or each.scope
    ]
    return [*values, *telling]


def _unknown(word: str, near: Sequence[str]) -> Iterator[str]:
    proposed = f"; did you mean {' or '.join(map(_shown, near))}?" if near else ""
    yield f"nothing is known of {_shown(word)}{proposed}"


def _of_meanings(word: str, found: "Sequence[Meaning]") -> Iterator[str]:
    values = [each for each in found if each.role == "value"]
    if len(values) > 1:
        roots = ", ".join(_spelled(each.root) for each in values)
        yield f"{_shown(word)} is ambiguous, it has {len(values)} meanings as a value: {roots}"
        yield ""
    for number, each in enumerate(found):
        if number:
            yield ""
        as_what = "an attribute" if each.role == "attribute" else "a value"
        yield f"{_shown(word)} as {as_what}"
        for title, said in _lines(each):
            yield from _line(title, said)


def _lines(meaning: "Meaning") -> Iterator[tuple[str, str]]:
    yield "root", _spelled(meaning.root)
    yield "names", _listed(meaning.names)
    yield "labels", _listed(meaning.labels)
    yield "kind", _listed(meaning.kinds)
    yield "schemes", _listed(meaning.schemes)
    yield "above", ", ".join(f"{_name(term)} ({steps})" for term, steps in meaning.above)
    below = [
        _name(term) + (" (individual)" if term in meaning.individuals else "")
        for term in meaning.below.first
    ]
    yield "below", _counted(below, meaning.below.total)
    yield "classes", ", ".join(map(_name, meaning.classes))
    yield "instances", _counted(list(map(_name, meaning.instances.first)), meaning.instances.total)
    for title, said in (("statements", meaning.statements), ("inherited", meaning.inherited)):
        shown = [f"({', '.join(map(_name, each))})" for each in said[:_MOST_LISTED]]
        yield title, _counted(shown, len(said))
    yield "read by", _listed(meaning.read_by)
    yield "written by", _listed(meaning.written_by)
    yield "values from", _listed(meaning.scope)


def _of_json(meaning: "Meaning") -> Mapping[str, Any]:
    data: dict[str, Any] = _as_json(meaning)
    data["above"] = [{"term": _spelled(term), "steps": steps} for term, steps in meaning.above]
    for name, found in (("below", meaning.below), ("instances", meaning.instances)):
        data[name] = {"first": [_spelled(term) for term in found.first], "total": found.total}
    return data


# What to mend


def _check(arguments: argparse.Namespace, relations: "Relations") -> int:
    from sensewire.knowledge.report import findings, statistics

    counted, found = statistics(relations), findings(relations)
    data = {"statistics": _as_json(counted), "warnings": _as_json(found)}
    _print(arguments, data, [*_of_statistics(counted), *_of_findings(found)])
    return 1 if arguments.strict and len(found) else 0


def _of_statistics(found: "Statistics") -> Iterator[str]:
    yield f"{found.entities:,} entities"
    for title, counts in (("kinds", found.kinds), ("schemes", found.schemes)):
        shown = [f"{_shown(name)} {count:,}" for name, count in counts.items()]
        yield from _line(title, _counted(shown[:_MOST_LISTED], len(shown)))
    yield from _line("hierarchy", f"{found.hierarchy:,} pairs, depth {found.depth:,}")
    for title in ("subproperties", "synonyms", "instances", "disjoint", "statements", "functions"):
        count = getattr(found, title)
        yield from _line(title, f"{count:,}" if count else "")
    for attribute, schemes in found.scopes.items():
        yield from _line("scope", f"{_name(attribute)}: {_listed(schemes)}")


def _of_findings(found: "Findings") -> Iterator[str]:
    ambiguous = (
        f"{_shown(word)}: {', '.join(map(_spelled, roots))}"
        for word, roots in found.ambiguous.items()
    )
    contradictory = (
        f"{_spelled(root)} is below {_spelled(one)} and {_spelled(other)}"
        for root, one, other in found.contradictory
    )
    for title, total, lines in (
        ("ambiguous words", len(found.ambiguous), ambiguous),
        ("concepts that nothing else mentions", len(found.alone), map(_spelled, found.alone)),
        ("below two disjoint classes", len(found.contradictory), contradictory),
        ("functions that read what they write", len(found.looping), map(_shown, found.looping)),
    ):
        if total:
            yield f"\nwarning: {title}: {total:,}"
            yield from (f"  {line}" for line, _ in zip(lines, range(_MOST_LISTED), strict=False))
            if total > _MOST_LISTED:
                yield f"  … {total - _MOST_LISTED:,} more"
    if not len(found):
        yield "\nno warnings"


# Whose matches may change


def _diff(arguments: argparse.Namespace) -> int:
    from sensewire.explain.difference import differences
    from sensewire.knowledge.knowledge import Knowledge
    from sensewire.spark.subscriptions import subscriptions_in

    old, new = (Knowledge.load(path) for path in arguments.diff)
    new, notes = _aligned(old, new)
    asked = subscriptions_in(Path(arguments.subscriptions), datetime.now(UTC), Knowledge())
    for bad in asked.rejected:
        print(f"sensewire: {bad.place}: {bad.reason}", file=sys.stderr)
    found = list(differences(asked.live, old, new))
    summary = f"{len(found):,} of {len(asked.live):,} subscriptions may match differently"
    data = {
        "notes": notes,
        "differences": _as_json(found),
        "subscriptions": len(asked.live),
    }
    lines = (f"{_shown(each.subscription)}: {_why(each.reasons)}" for each in found)
    _print(arguments, data, [*notes, *lines, summary])
    return 0


def _why(reasons: Sequence[str]) -> str:
    more = len(reasons) - _MOST_REASONS
    told = f" (and {more} more reasons)" if more > 0 else ""
    return "; ".join(reasons[:_MOST_REASONS]) + told


def _aligned(old: "Knowledge", new: "Knowledge") -> "tuple[Knowledge, list[str]]":
    """The new knowledge with the old one's scheme, where a file's new name made another of it."""
    from sensewire.knowledge.changes import renamed_scheme, with_scheme
    from sensewire.knowledge.knowledge import Knowledge

    renamed = renamed_scheme(old.content, new.content)
    if renamed is None:
        return new, []
    before, after = renamed
    note = f"note: the scheme {_shown(after)} is taken for a new version of {_shown(before)}"
    return Knowledge(with_scheme(new.content, after, before)), [note]


# Words on a screen


def _line(title: str, said: str) -> Iterator[str]:
    if said:
        first, *rest = wrap(said, _WIDTH - _MARGIN, break_long_words=False, break_on_hyphens=False)
        yield f"  {title:<{_MARGIN - 2}}{first}"
        yield from (" " * _MARGIN + line for line in rest)


def _listed(words: Sequence[str]) -> str:
    return _counted(list(map(_shown, words[:_MOST_LISTED])), len(words))


def _counted(shown: Sequence[str], total: int) -> str:
    """What is shown, with how many there are where that is not plain to see."""
    more = total - len(shown)
    return f"{total:,}: {', '.join(shown)}, … {more:,} more" if more else ", ".join(shown)


def _shown(word: str) -> str:
    from sensewire.explain.wording import visible

    return visible(word)


def _name(term: "Term") -> str:
    from sensewire.knowledge.content import own_name

    return _shown(own_name(term))


def _spelled(term: "Term") -> str:
    """A term as a subscription writes it when no other is meant."""
    from sensewire.knowledge.content import SCHEME, is_plain_name

    if not is_plain_name(term):
        return _shown(f"<{term.text}>")
    scheme = term.datatype or ""
    known = scheme.startswith(SCHEME)
    return _shown(f"{scheme.removeprefix(SCHEME)}:{term.text}" if known else term.text)


def _as_json(value: Any) -> Any:
    """A value in JSON's kinds: terms as they are spelled, sets sorted."""
    from sensewire.model.terms import Term

    match value:
        case Term():
            return _spelled(value)
        case Mapping():
            return {_as_json(key): _as_json(each) for key, each in value.items()}
        case _ if is_dataclass(value):
            return {each.name: _as_json(getattr(value, each.name)) for each in fields(value)}
        case frozenset():
            return sorted(map(_as_json, value))
        case tuple() | list():
            return [_as_json(each) for each in value]
        case _:
            return value
