"""Runs the built program. MSPROBE names it; plugins registered by a test live in a folder of that test."""
import dataclasses
import functools
import json
import os
import pathlib
import subprocess
import tarfile

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PROGRAM = os.environ.get("MSPROBE") or str(ROOT / "build/release/bin/msprobe")


def pytest_configure(config):
    if not os.access(PROGRAM, os.X_OK):
        pytest.exit(f"no program at {PROGRAM}: build it or name it with MSPROBE", returncode=2)


@dataclasses.dataclass
class Run:
    code: int
    out: str
    err: str

    @functools.cached_property
    def report(self):
        assert self.out, f"no report, exit {self.code}: {self.err}"
        return json.loads(self.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))

    @property
    def summary(self):
        return self.report["summary"]

    @property
    def rows(self):
        return self.report["rows"]

    def row(self, name):
        """The one row of this name."""
        found = [row for row in self.rows if row["name"] == name]
        assert len(found) == 1, f"{len(found)} rows called {name}: {[row['name'] for row in self.rows]}"
        return found[0]

    def row_of_step(self, name, step):
        found = [row for row in self.rows if row["name"] == name and row["step"] == step]
        assert len(found) == 1, f"{len(found)} rows called {name} in step {step}"
        return found[0]

    @property
    def only(self):
        assert len(self.rows) == 1, [row["name"] for row in self.rows]
        return self.rows[0]


class Program:
    """msprobe(*arguments) runs it; msprobe.compare(ref, target, ...) asks for the JSON report."""

    def __init__(self, home):
        self.path = PROGRAM
        self.home = home
        self.env = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "LC_ALL": "C.UTF-8", "MSPROBE_HOME": str(home)}

    def __call__(self, *arguments, cwd=None, timeout=100, **env):
        command = [self.path, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, cwd=cwd, timeout=timeout, env={**self.env, **env})
        assert done.returncode >= 0, f"killed by signal {-done.returncode}: {command}"
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    def compare(self, reference, target, *arguments, **named):
        return self("compare", "-r", reference, "-t", target, "-o", "-", *arguments, **named)

    def error(self, *arguments, code, mentions=(), **named):
        """A run that must end at once: one line on stderr with `code`, nothing on stdout, exit code 2."""
        run = self(*arguments, **named)
        return check_error(run, code, mentions)


def check_error(run, code, mentions=()):
    lines = [line for line in run.err.splitlines() if not line.startswith("msprobe: warning: ")]
    assert len(lines) == 1, f"one line was expected: {run.err!r}"
    # what happened: where: what to do
    assert lines[0].startswith(f"msprobe: error {code}: "), lines[0]
    parts = lines[0][len(f"msprobe: error {code}: "):].split(": ")
    assert len(parts) >= 3 and all(part.strip() for part in parts), lines[0]
    for mention in mentions:
        assert str(mention) in lines[0], f"{mention!r} is missing in {lines[0]!r}"
    assert run.out == "", "something was printed before the error"
    assert run.code == 2, run.err
    return lines[0]


@pytest.fixture
def msprobe(tmp_path_factory):
    return Program(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def shared_msprobe(tmp_path_factory):
    """For fixtures that run once and register nothing."""
    return Program(tmp_path_factory.mktemp("home"))


def unpacked(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp(archive.split(".")[0])
    with tarfile.open(TESTS / "data" / archive) as tar:
        tar.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """The folder with the seven sample pairs."""
    return unpacked("samples.tar.xz", tmp_path_factory)
