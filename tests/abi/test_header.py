"""The header as the specification: it compiles everywhere, its layout is the golden one, and plugins built with a frozen header run today."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ABI = pathlib.Path(__file__).resolve().parent
ROOT = ABI.parents[1]
PROGRAM = os.environ.get("MSPROBE") or str(ROOT / "build/release/bin/msprobe")
TODAY = ROOT / "sdk/include"
FROZEN = sorted((ABI / "frozen").iterdir())
GOLDEN = sorted(ABI.glob("golden_*.txt"))
PLUGINS = pathlib.Path(os.environ.get("MSPROBE_ABI_PLUGINS") or ROOT / "build/release/abi_plugins")
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror"]


def compiler(name):
    if not shutil.which(name):
        pytest.skip(f"no {name}")
    return name


def compile_text(text, suffix, *command, folder):
    source = folder / f"source.{suffix}"
    source.write_text(text)
    done = subprocess.run([*map(str, command), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("include", [TODAY, *FROZEN], ids=lambda path: path.name)
@pytest.mark.parametrize("name,standard", [(name, standard) for name in ("gcc", "clang") for standard in ("c11", "c17")]
                         + [(name, standard) for name in ("g++", "clang++") for standard in ("c++11", "c++17", "c++20")])
def test_the_header_compiles_without_warnings_or_hidden_padding(include, name, standard, tmp_path):
    compile_text('#include "msprobe/analyzer.h"\nint nothing;\n', "cpp" if "++" in name else "c",
                 compiler(name), f"-std={standard}", *WARNINGS, "-Wpadded", "-fsyntax-only", "-I", include, folder=tmp_path)


@pytest.mark.parametrize("name", ["g++", "clang++"])
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_the_helpers_for_cpp_compile(name, standard, tmp_path):
    compile_text('#include "msprobe/analyzer.hpp"\n#include "msprobe/dtype.hpp"\nint nothing;\n', "cpp",
                 compiler(name), f"-std={standard}", *WARNINGS, "-fsyntax-only", "-I", TODAY, folder=tmp_path)


def golden(path):
    return [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]


def assertions(path, exact):
    """A program that compiles when the layout is the golden one. Structs may have grown, but for the frozen msp_str."""
    lines = ['#include "msprobe/analyzer.h"']
    for kind, name, *numbers in golden(path):
        if kind == "struct":
            equal = "==" if exact or name == "msp_str" else ">="
            lines.append(f'_Static_assert(sizeof({name}) {equal} {numbers[0]}, "size of {name}");')
        elif kind == "field":
            struct, field = name.split(".")
            lines.append(f'_Static_assert(offsetof({struct}, {field}) == {numbers[0]} && sizeof((({struct}*)0)->{field}) == {numbers[1]}, "{name}");')
        else:
            lines.append(f'_Static_assert({name} == {numbers[0]}, "{name}");')
    return "\n".join(lines) + "\n"


def minor_of(include):
    return int(re.search(r"MSP_ABI_MINOR (\d+)u", (include / "msprobe/analyzer.h").read_text())[1])


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_sizes_offsets_and_numbers_of_each_release_still_hold(path, name, tmp_path):
    same_release = path.stem == f"golden_1_{minor_of(TODAY)}"
    compile_text(assertions(path, same_release), "c", compiler(name), "-std=c11", "-fsyntax-only", "-I", TODAY, folder=tmp_path)


@pytest.mark.parametrize("include", FROZEN, ids=lambda path: path.name)
def test_a_frozen_header_has_its_golden_layout(include, tmp_path):
    path = ABI / f"golden_{include.name.replace('.', '_')}.txt"
    compile_text(assertions(path, True), "c", "gcc", "-std=c11", "-fsyntax-only", "-I", include, folder=tmp_path)


def test_every_release_has_a_golden_layout_and_a_frozen_header():
    releases = [f"1.{minor}" for minor in range(minor_of(TODAY) + 1)]
    assert [path.name for path in FROZEN] == releases
    assert [path.stem for path in GOLDEN] == [f"golden_{release.replace('.', '_')}" for release in releases]


def test_the_golden_layout_covers_the_header():
    """Each struct, field and enumerator of the frozen header has a line."""
    header = re.sub(r"/\*.*?\*/", "", (FROZEN[-1] / "msprobe/analyzer.h").read_text(), flags=re.S)
    lines = golden(GOLDEN[-1])
    structs = {name: int(size) for kind, name, size, *_ in lines if kind == "struct"}
    assert set(re.findall(r"struct (msp_\w+) \{", header)) == set(structs)
    for struct, size in structs.items():
        fields = sorted((int(offset), int(bytes_)) for kind, name, offset, *rest in lines if kind == "field" and name.startswith(struct + ".")
                        for bytes_ in rest)
        end = 0
        for offset, bytes_ in fields:
            assert offset == end, f"{struct} has a hole at {end}"
            end = offset + bytes_
        assert end == size, struct
    names = {name for kind, name, *_ in lines if kind == "value"}
    for body in re.findall(r"enum \{(.*?)\}", header, re.S):
        assert {part.split("=")[0].strip() for part in body.split(",") if part.strip()} <= names
    metrics = (FROZEN[-1] / "msprobe/metrics.h").read_text()
    assert {f"MSP_METRIC_{key}" for key in re.findall(r"^  X\((\w+),", metrics, re.M)} <= names


def test_the_least_sizes_that_the_host_accepts_are_those_of_the_first_release():
    sizes = {name: size for kind, name, size, *_ in golden(ABI / "golden_1_0.txt") if kind == "struct"}
    accepted = re.findall(r"(\w+)_size_1_0 = (\d+)", (ROOT / "host/plugin/struct_sizes.h").read_text())
    assert len(accepted) >= 6
    for name, size in accepted:
        assert sizes[f"msp_{name}"] == size


# ---- plugins built with a frozen header, and today's host ----

SOURCES = {"every_callback": ABI / "every_callback.c", "minimal": ROOT / "examples/minimal_plugin/minimal.c",
           "scale": ROOT / "examples/cpp_plugin/scale.cpp"}


def report_of(mode, *options):
    data = ROOT / "examples/data/enc_eps"
    done = subprocess.run([PROGRAM, "compare", "-r", data / "reference", "-t", data / "target", "-m", mode, "-o", "-", *options],
                          capture_output=True, text=True, timeout=120, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MSPROBE_HOME": "/nonexistent"})
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("isolate", ["never", "plugins"])
@pytest.mark.parametrize("name", ["gcc", "clang"])
@pytest.mark.parametrize("plugin", SOURCES)
@pytest.mark.parametrize("include", FROZEN, ids=lambda path: path.name)
def test_a_plugin_built_with_a_frozen_header_works(include, plugin, name, isolate, tmp_path):
    source = SOURCES[plugin]
    command = [compiler({"gcc": "g++", "clang": "clang++"}[name]), "-std=c++17"] if source.suffix == ".cpp" else [compiler(name), "-std=c11"]
    path = tmp_path / f"{plugin}.so"
    subprocess.run([*command, "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I", include, "-I", TODAY, source, "-o", path, "-lm"], check=True)
    old, today = report_of(path, "--isolate", isolate), report_of(PLUGINS / f"abi_{plugin}.so", "--isolate", isolate)
    assert old["rows"] == today["rows"] and old["findings"] == today["findings"] and old["columns"] == today["columns"]
    assert old["summary"]["compared"] > 10 and old["summary"]["error"] == 0


# ---- what a library shows ----

def test_each_plugin_shows_one_symbol():
    libraries = sorted(PLUGINS.glob("*.so"))
    assert {"verl", "custom", "abi_minimal", "abi_scale"} <= {path.stem for path in libraries}
    for path in libraries:
        shown = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.split("\n")
        assert [line.split()[-1] for line in shown if line] == ["msprobe_plugin_v1"], path


def test_no_plugin_needs_anything_of_the_program():
    for path in PLUGINS.glob("*.so"):
        needed = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True, check=True).stdout
        assert "msp_" not in needed and "msprobe" not in needed, path
