"""The Brick ontology, as the package `brickschema` ships it; the package itself is never run."""

from importlib.util import find_spec
from pathlib import Path


def brick() -> Path:
    """Return the newest Brick file, without the seconds that importing the package takes."""
    return _folders()[-1] / "Brick.ttl"


def broken_brick() -> Path:
    """Return Brick 1.1, which the package ships as broken Turtle."""
    return next(folder for folder in _folders() if folder.name == "1.1") / "Brick.ttl"


def _folders() -> list[Path]:
    """Return the folders of all versions, the oldest first."""
    spec = find_spec("brickschema")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    ontologies = Path(spec.submodule_search_locations[0]) / "ontologies"
    return sorted(ontologies.glob("*.*/"), key=lambda folder: [*map(int, folder.name.split("."))])
