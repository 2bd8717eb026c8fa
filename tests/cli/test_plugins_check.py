"""`msprobe plugins --json` and the conformance suite `msprobe plugins check`."""
import json
import pathlib
import subprocess

import pytest

from conftest import PROGRAM, ROOT
from test_isolation import built  # noqa: F401 (a fixture)
from test_zoo import SANITIZER, zoo  # noqa: F401 (a fixture)

BUILT_IN = pathlib.Path(PROGRAM).resolve().parents[1] / "lib/msprobe/plugins"
CHECKS = ["starts, and judges every dtype, 0-d, empty, NaN and infinity without a failure", "values have the types of their columns",
          "the same rows again", "the same rows with 8 processes", "the same rows with 8 threads", "uses the host as it should",
          "can be cancelled at any step", "gives memory and threads back"]


@pytest.fixture
def msprobe(msprobe):
    msprobe.env.update(SANITIZER)
    return msprobe


def check(msprobe, path):
    """The exit code, and what each check said: {name: problem}."""
    run = msprobe("plugins", "check", path, timeout=290)
    assert run.err == "", run.err
    *lines, last = run.out.splitlines()
    results = {}
    for line in lines:
        assert line.startswith(("ok    ", "FAIL  ")), line
        name = line[6:].split(": ")[0]
        if name != "loads":
            name = line[6:].split(": ")[1]
        results[name] = line if line.startswith("FAIL") else ""
    assert last == f"{len(lines)} checks, {sum(map(bool, results.values()))} failed"
    assert run.code == (1 if any(results.values()) else 0)
    return results


def test_the_list_as_json_has_all_that_a_program_needs(msprobe, built, zoo):  # noqa: F811
    assert msprobe("register_plugin", "-p", built(), "-n", "mine").code == 0
    run = msprobe("plugins", "--json")
    assert run.code == 0 and run.report["schema"] == "msprobe.plugin-list/1"
    plugins = {plugin["name"]: plugin for plugin in run.report["plugins"]}
    assert {"mine", "veRL", "custom"} <= set(plugins)
    assert plugins["mine"] == {
        "name": "mine", "origin": "registered", "path": str(built()), "problem": None, "version": "1.0", "analyzer": "probe", "summary": "for tests",
        "parallel": True, "accepts": ["tensor"], "options": [],
        "columns": [{"name": "first", "type": "f64", "doc": "the first element", "direction": 1, "hidden": False},
                    {"name": "hidden", "type": "i64", "doc": "for finish", "direction": 0, "hidden": True}]}
    assert plugins["veRL"]["origin"] == "built in" and any(option["name"] == "saturate" for option in plugins["veRL"]["options"])

    broken = msprobe("plugins", "--json", "--plugin-dir", zoo("load_crash").parent)
    assert broken.code == 3
    entry = next(plugin for plugin in broken.report["plugins"] if plugin["origin"] == "--plugin-dir")
    assert set(entry) == {"name", "origin", "path", "problem"} and entry["problem"].startswith("E5010: ")


def test_the_json_of_abi_md_has_the_keys_that_there_are(msprobe):
    text = (ROOT / "docs/abi.md").read_text(encoding="utf-8")
    start = text.index('    {"schema": "msprobe.plugin-list/1"')
    example = json.loads(text[start:text.index("\n`name` is", start)])
    real = next(plugin for plugin in msprobe("plugins", "--json").report["plugins"] if plugin["name"] == "veRL")
    shown = example["plugins"][0]
    assert list(shown) == list(real)
    for part in ("options", "columns"):
        assert list(shown[part][0]) == list(real[part][0])


@pytest.mark.parametrize("name", ["verl", "custom"])
def test_built_in_analyzers_pass(msprobe, name):
    assert check(msprobe, BUILT_IN / f"{name}.so") == {"loads": "", **dict.fromkeys(CHECKS, "")}


@pytest.mark.parametrize("source", ["examples/minimal_plugin/minimal.c", "examples/cpp_plugin/scale.cpp", "tests/abi/every_callback.c"])
def test_examples_pass(msprobe, source, tmp_path):
    path = tmp_path / "example.so"
    compiler = ["g++", "-std=c++17"] if source.endswith("cpp") else ["gcc", "-std=c11"]
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-I", ROOT / "sdk/include", ROOT / source, "-o", path, "-lm"], check=True)
    assert check(msprobe, path) == {"loads": "", **dict.fromkeys(CHECKS, "")}


@pytest.mark.parametrize("row,name,words", [
    ("if (index == 9) abort();", CHECKS[0], "E5010"),
    ("if (pair->side[0]->ndim == 0) return MSP_E_INTERNAL;", CHECKS[0], "_shape_0d: E5008: probe failed here: status -5 without a reason"),
    ("host->emit_text(call, 0, text(\"words\"));", CHECKS[1], "first = words"),
    ("static int seen; host->emit_f64(call, 0, seen++);", CHECKS[3], "now"),
    ("host->emit_f64(call, 9, 1);", CHECKS[5], "emits column 9, which it never declared"),
    ("if (host->cancelled(call)) return MSP_E_INTERNAL;", CHECKS[6], "E5008"),
    ("volatile char* lost = malloc(1000); *lost = 1;", CHECKS[7], "bytes more"),
], ids=["crashes", "fails", "types", "state", "column", "cancel", "leak"])
def test_what_is_wrong_fails_its_check(msprobe, built, row, name, words):  # noqa: F811
    if name == CHECKS[7] and "asan" in str(subprocess.run(["ldd", PROGRAM], capture_output=True, check=True).stdout):
        pytest.skip("the sanitizer has an allocator of its own")
    results = check(msprobe, built(row=row))
    assert words in results[name], results


def test_what_cannot_be_loaded_fails_the_first_check(msprobe, zoo):  # noqa: F811
    results = check(msprobe, zoo("load_crash"))
    assert list(results) == ["loads"] and "E5010" in results["loads"]


def test_a_check_of_nothing_is_an_error(msprobe, tmp_path):
    msprobe.error("plugins", "check", tmp_path / "none.so", code="E1003", mentions=["none.so"])
    msprobe.error("plugins", "check", code="E6002")


def test_nothing_stays_of_a_check(msprobe, built, tmp_path):  # noqa: F811
    msprobe("plugins", "check", built(), timeout=290, TMPDIR=str(tmp_path))
    assert not list(tmp_path.iterdir())
