"""The registry under many hands: no registration is lost, with locks of the file system and without; damage is told and kept."""
import json
import os
import subprocess
import time

import pytest

from test_isolation import built  # noqa: F401 (a fixture)

NO_FLOCK = r"""
#include <errno.h>
int flock(int file, int operation) { errno = ENOLCK; return -1; }  /* as a network file system without lock daemon */
"""


@pytest.fixture(scope="session")
def no_flock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("no_flock")
    (folder / "no_flock.c").write_text(NO_FLOCK)
    subprocess.run(["gcc", "-shared", "-fPIC", folder / "no_flock.c", "-o", folder / "no_flock.so"], check=True)
    return str(folder / "no_flock.so")


def preload(library, msprobe):
    """A sanitizer must come first; it is found through the program."""
    linked = subprocess.run(["ldd", msprobe.path], capture_output=True, text=True, check=True).stdout
    sanitizers = [line.split()[2] for line in linked.splitlines() if "san.so" in line]
    return {"LD_PRELOAD": " ".join([*sanitizers, library]), "ASAN_OPTIONS": "detect_leaks=0"}


def register_at_once(msprobe, path, names, **env):
    command = [msprobe.path, "register_plugin", "-p", str(path), "-n"]
    running = [subprocess.Popen([*command, name], env={**msprobe.env, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for name in names]
    errors = [process.communicate()[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * len(names), errors


def registered(msprobe):
    return sorted(entry["name"] for entry in json.loads((msprobe.home / "plugins.json").read_text())["plugins"])


@pytest.mark.parametrize("locks", ["flock", "lock file"])
def test_sixteen_registrations_at_once_are_all_kept(msprobe, built, no_flock, locks):  # noqa: F811
    names = [f"n{i:02}" for i in range(16)]
    register_at_once(msprobe, built(), names, **({} if locks == "flock" else preload(no_flock, msprobe)))
    assert registered(msprobe) == names
    left = {path.name for path in msprobe.home.iterdir()}
    assert left == {"plugins.json", "plugins.json.lock"}, "no temporary file and no lock file stays"


def test_a_lock_file_that_stays_is_named_with_its_owner(msprobe, built, no_flock):  # noqa: F811
    held = msprobe.home / "plugins.json.lock.held"
    held.write_text("process 4711 on node17\n")
    begun = time.monotonic()
    msprobe.error("register_plugin", "-p", built(), "-n", "mine", code="E5015", mentions=["process 4711 on node17", held, "remove"],
                  **preload(no_flock, msprobe))
    assert 9 < time.monotonic() - begun < 30
    held.unlink()
    assert msprobe("register_plugin", "-p", built(), "-n", "mine", **preload(no_flock, msprobe)).code == 0


def test_a_lock_that_is_never_given_back_is_told_after_ten_seconds(msprobe, built):  # noqa: F811
    lock = msprobe.home / "plugins.json.lock"
    with subprocess.Popen(["flock", str(lock), "sleep", "60"], start_new_session=True) as holder:
        while not lock.exists():
            time.sleep(0.01)
        time.sleep(0.2)
        msprobe.error("register_plugin", "-p", built(), "-n", "mine", code="E5015", mentions=[lock])
        os.killpg(holder.pid, 15)
    assert msprobe("register_plugin", "-p", built(), "-n", "mine").code == 0


@pytest.mark.parametrize("content,code", [
    (b"", "E5009"), (b"{", "E5009"), (b"[]", "E5009"), (b"{}", "E5009"), (b"\x00" * 100, "E5009"), (b"\xff\xfe\x1b[2J", "E5009"),
    (b'{"schema": "msprobe.plugins/1", "plugins": {"a": 1}}', "E5009"), (b'{"schema": "msprobe.plugins/1", "plugins": [{"name": 7}]}', "E5009"),
    (b'{"schema": "msprobe.plugins/1", "plugins": [{"name": "a", "path": "b", "kind": "native", "sha256": ""}]}', "E5009"),
    (b'{"schema": "other", "plugins": []}', "E5009"), (b'{"schema": "msprobe.plugins/2", "plugins": []}', "E3005")],
    ids=range(11))
def test_a_damaged_registry_is_told_and_never_overwritten(msprobe, built, content, code):  # noqa: F811
    path = msprobe.home / "plugins.json"
    path.write_bytes(content)
    for command in (("plugins",), ("register_plugin", "-p", built(), "-n", "mine"), ("unregister_plugin", "-n", "mine")):
        msprobe.error(*command, code=code, mentions=[path])
        assert path.read_bytes() == content


def test_a_registry_that_cannot_be_read_is_not_taken_for_an_empty_one(msprobe, built):  # noqa: F811
    path = msprobe.home / "plugins.json"
    path.symlink_to(path)
    run = msprobe("register_plugin", "-p", built(), "-n", "mine")
    assert run.code == 2 and "E1004" in run.err and str(path) in run.err
    assert path.is_symlink()


def test_a_full_disk_leaves_the_old_registry(msprobe, built):  # noqa: F811
    """A file size limit stands for the disk."""
    assert msprobe("register_plugin", "-p", built(), "-n", "mine").code == 0
    before = (msprobe.home / "plugins.json").read_bytes()
    command = ["bash", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "bash", msprobe.path, "register_plugin", "-p", str(built()), "-n", "other"]
    done = subprocess.run(command, env=msprobe.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "msprobe: error E1001: " in done.stderr, done.stderr
    assert (msprobe.home / "plugins.json").read_bytes() == before
    assert not list(msprobe.home.glob("*.tmp"))
