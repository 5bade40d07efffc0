"""Loads knowledge files of every kind, and refuses what makes no sense, with its place.

RDF files are read before YAML files, so that YAML may name their entities by prefix. Nothing that a
file names is fetched.
"""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

from sensewire.knowledge.content import Content, Draft, Pair, Place, as_attribute, own_name
from sensewire.knowledge.hierarchies import as_attributes, merged_names
from sensewire.knowledge.hierarchy import Hierarchy, cycle_among
from sensewire.knowledge.rdf_file import read_rdf
from sensewire.knowledge.wordnet import is_wordnet, read_wordnet
from sensewire.knowledge.yaml_file import check_synonyms, read_yaml
from sensewire.model.errors import KnowledgeError
from sensewire.model.rdf import FORMATS

YAML = (".yaml", ".yml")
SNIFFED = (".owl", ".rdfs", ".daml", ".skos", ".shacl", ".xml")
"""Endings that several RDF syntaxes share: the first character tells."""
_ENDINGS = (*YAML, *(f".{ending}" for ending in FORMATS), *SNIFFED)


def loaded(paths: Sequence[str | PathLike[str]]) -> Content:
    """What the files state, together."""
    draft = Draft()
    files = [file for path in map(_path, paths) for file in _files(path)]
    sheets = [file for file in files if file.suffix.lower() in YAML]
    for file in files:
        if file not in sheets:
            _read(file, draft)
    read_yaml(sheets, draft)
    check_synonyms(draft)
    content = draft.content()
    _refuse_cycles(draft, content)
    return content


def _path(given: object) -> Path:
    """A path that can be looked at; whatever else was given is refused."""
    try:
        if given and isinstance(given, str | PathLike):
            path = Path(given)
            path.stat()
            return path
    except FileNotFoundError:
        return Path(str(given))
    except (OSError, TypeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise KnowledgeError(f"{str(given)[:100]!r}: {reason}; {_expected()}") from None
    raise KnowledgeError(f"{given!r} is no path; {_expected()}")


def _files(path: Path) -> Iterator[Path]:
    """A file, WordNet's folder, or the knowledge files of any other folder."""
    if path.is_dir() and not is_wordnet(path):
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in _ENDINGS)
        if not found:
            raise KnowledgeError(f"{path}: no knowledge file in this folder; {_expected()}")
        yield from found
    elif path.exists():
        yield path
    else:
        raise KnowledgeError(f"{path}: there is no such file; {_expected()}")


def _read(path: Path, draft: Draft) -> None:
    ending = path.suffix.lower()
    try:
        if is_wordnet(path):
            read_wordnet(path, draft)
        elif ending[1:] in FORMATS:
            read_rdf(path, ending[1:], draft)
        elif ending in SNIFFED:
            read_rdf(path, _syntax_of(path), draft)
        else:
            raise KnowledgeError(f"{path}: not a kind of knowledge file; {_expected()}")
    except OSError as error:
        raise KnowledgeError(f"{path}: {error.strerror or error}; {_expected()}") from None


def _syntax_of(path: Path) -> str:
    """RDF/XML begins with a tag, JSON-LD with a bracket; anything else is Turtle."""
    with path.open("rb") as file:
        start = file.read(4_096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<?xml", b"<rdf:", b"<!")):
        return "rdf"
    return "jsonld" if start.startswith((b"{", b"[")) else "ttl"


def _expected() -> str:
    return f"expected one that ends in {' '.join(_ENDINGS)}, or WordNet's folder"


def _refuse_cycles(draft: Draft, content: Content) -> None:
    """⊑ has no cycle: among values, and among attributes, where both hierarchies meet."""
    _refuse_cycle({**draft.instances, **draft.broader}, Hierarchy((), draft.same))
    stated = {**draft.subproperties, **draft.broader}
    edges = {(as_attribute(a), as_attribute(b)): place for (a, b), place in stated.items()}
    same = as_attributes(draft.same)
    _refuse_cycle(edges, Hierarchy((), same))
    merged = Hierarchy((), [*same, *merged_names(content.entities)])
    # Two properties of one name may be below each other: merged, that says nothing.
    apart = {(a, b): at for (a, b), at in edges.items() if merged.root(a) != merged.root(b)}
    _refuse_cycle(apart, merged)


def _refuse_cycle(edges: Mapping[Pair, Place], synonyms: Hierarchy) -> None:
    cycle = cycle_among(edges, synonyms.root)
    if not cycle:
        return
    stated = [f"{own_name(a)!r} is below {own_name(b)!r} ({edges[a, b]})" for a, b in cycle]
    meets = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    alike = [
        f"{own_name(b)!r} means the same as {own_name(c)!r}" for (_, b), (c, _) in meets if b != c
    ]
    raise KnowledgeError(f"a cycle: {'; '.join((*stated, *alike))}; take one of them away")
