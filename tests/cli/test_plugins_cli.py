"""Plugins as users meet them: register, use, update, refuse, forget; libraries that are no plugins; the examples outside the tree."""
import json
import pathlib
import re
import shutil
import subprocess

import numpy
import pytest

from conftest import PROGRAM, ROOT, Run
from tensor_files import write_npy

BUILD = pathlib.Path(PROGRAM).resolve().parents[1]

SOURCE = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "msprobe/analyzer.h"
static const msp_host* host;
static const msp_field column = {sizeof column, MSP_TYPE_F64, "answer", "what it is", NULL, 1, 0};
static const msp_field* const columns[] = {&column, @MORE_COLUMNS@ NULL};
@DECLARATIONS@
static const msp_field* const options[] = {@OPTIONS@ NULL};
static msp_status create(const msp_host* given, msp_call* call, void** self) {
  host = given; *self = NULL; @CREATE@ return MSP_OK; }
static msp_status analyze(void* self, msp_call* call, const msp_pair* pair) {
  @ANALYZE@
  host->emit_f64(call, 0, @ANSWER@);
  return host->verdict(call, MSP_PASS, 0, 0, (msp_str){"", 0}); }
static msp_status analyze_other(void* self, msp_call* call, const msp_pair* pair) {
  host->emit_f64(call, 0, -1);
  return host->verdict(call, MSP_PASS, 0, 0, (msp_str){"", 0}); }
static void destroy(void* self) {}
static const msp_analyzer first = {@ANALYZER_SIZE@, MSP_PARALLEL, 1u << MSP_KIND_TENSOR, 0, "answer", "tells a number", options, columns,
                                   create, NULL, analyze, NULL, @DESTROY@};
static const msp_analyzer second = {sizeof second, MSP_SERIAL, 1u << MSP_KIND_TENSOR, 0, "other", "tells another", NULL, columns,
                                    create, NULL, analyze_other, NULL, destroy};
static const msp_analyzer* const analyzers[] = {&first, &second};
MSP_EXPORT extern const msp_plugin @SYMBOL@;
const msp_plugin @SYMBOL@ = {@PLUGIN_SIZE@, MSP_ABI_MINOR, @NEEDED_MINOR@, @COUNT@, "org.example.answer", "2.5", analyzers};
"""
DEFAULTS = {"MORE_COLUMNS": "", "DECLARATIONS": "", "OPTIONS": "", "CREATE": "", "ANALYZE": "", "ANSWER": "42", "DESTROY": "destroy",
            "ANALYZER_SIZE": "sizeof first", "SYMBOL": "msprobe_plugin_v1", "PLUGIN_SIZE": "sizeof(msp_plugin)",
            "NEEDED_MINOR": "0", "COUNT": "1"}


def build(path, flags=(), **changes):
    """Compiles SOURCE with changes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = re.sub("@([A-Z_]+)@", lambda match: {**DEFAULTS, **changes}[match[1]], SOURCE)
    source = path.with_suffix(".c")
    source.write_text(text)
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-fvisibility=hidden", "-I", ROOT / "sdk/include", source, "-o", path, *flags], check=True)
    source.unlink()
    return path


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(tmp_path_factory.mktemp("library") / "answer.so")


@pytest.fixture
def pair(tmp_path):
    values = numpy.arange(1, 9, dtype="<f4")
    return "-r", write_npy(tmp_path / "ref/x.npy", values), "-t", write_npy(tmp_path / "target/x.npy", values)


def answer(msprobe, pair, mode, *options, **env):
    run = msprobe("compare", *pair, "-m", mode, "-o", "-", *options, **env)
    assert run.code == 0, run.err
    return run.only["metrics"]["answer"]


def names(msprobe, *options, **env):
    return [line.split()[0] for line in msprobe("plugins", *options, **env).out.splitlines() if not line.startswith(" ")]


# ---- the life of a name ----

def test_a_registered_name_is_listed_and_used(msprobe, pair, library):
    run = msprobe("register_plugin", "-p", library, "-n", "My-Answer")
    assert run.code == 0 and run.err == "" and str(library) in run.out
    listing = msprobe("plugins")
    assert listing.code == 0 and str(library) in listing.out and "registered" in listing.out and "2.5" in listing.out
    for mode in ("my_answer", "My-Answer", "MY_ANSWER"):
        assert answer(msprobe, pair, mode) == 42
    run = msprobe("compare", *pair, "-m", "my_answer", "-o", "-")
    assert [column["name"] for column in run.report["columns"]] == ["answer"] and run.report["mode"].lower() == "my_answer"


def test_a_relative_path_is_registered_as_an_absolute_one(msprobe, pair, library):
    assert msprobe("register_plugin", "-p", library.name, "-n", "answer", cwd=library.parent).code == 0
    assert answer(msprobe, pair, "answer") == 42


def test_built_in_analyzers_are_listed_with_where_they_come_from(msprobe):
    listing = msprobe("plugins")
    assert listing.code == 0 and {"veRL", "custom"} <= set(names(msprobe)) and "built in" in listing.out
    assert "--" not in listing.out and "saturate" in msprobe("plugins", "-v").out


def test_the_same_path_again_is_an_update(msprobe, pair, tmp_path):
    path = build(tmp_path / "p.so", ANSWER="1")
    assert msprobe("register_plugin", "-p", path, "-n", "mine").code == 0
    assert answer(msprobe, pair, "mine") == 1
    build(path, ANSWER="2")
    assert msprobe("register_plugin", "-p", path, "-n", "mine").code == 0
    assert answer(msprobe, pair, "mine") == 2 and names(msprobe).count("mine") == 1


def test_another_path_is_refused_without_force(msprobe, pair, tmp_path, library):
    other = build(tmp_path / "other.so", ANSWER="7")
    assert msprobe("register_plugin", "-p", library, "-n", "mine").code == 0
    msprobe.error("register_plugin", "-p", other, "-n", "Mine", code="E5004", mentions=[library, "--force"])
    assert answer(msprobe, pair, "mine") == 42
    assert msprobe("register_plugin", "-p", other, "-n", "mine", "--force").code == 0
    assert answer(msprobe, pair, "mine") == 7


def test_a_file_that_changed_is_not_loaded_until_it_is_registered_again(msprobe, pair, tmp_path):
    path = build(tmp_path / "p.so")
    msprobe("register_plugin", "-p", path, "-n", "mine")
    build(path, ANSWER="43", DECLARATIONS=f'__attribute__((constructor)) static void run(void) {{ fclose(fopen("{tmp_path}/executed", "w")); }}')
    msprobe.error("compare", *pair, "-m", "mine", code="E5006", mentions=[path, "register_plugin"])
    assert not (tmp_path / "executed").exists()
    listing = msprobe("plugins")
    assert listing.code == 3 and "cannot be used" in listing.out and "E5006" in listing.out and not (tmp_path / "executed").exists()
    assert msprobe("compare", *pair).code == 0, "veRL works as before"


def test_a_file_that_is_gone_is_told_and_disturbs_nobody_else(msprobe, pair, tmp_path):
    path = build(tmp_path / "p.so")
    msprobe("register_plugin", "-p", path, "-n", "mine")
    path.unlink()
    run = msprobe("compare", *pair, "-m", "mine")
    assert run.code == 2 and str(path) in run.err and run.err.count("\n") == 1 and run.out == ""
    assert msprobe("compare", *pair).code == 0


def test_a_name_is_forgotten_on_request(msprobe, pair, library):
    msprobe("register_plugin", "-p", library, "-n", "mine")
    assert msprobe("unregister_plugin", "-n", "MINE").code == 0
    assert "mine" not in names(msprobe)
    msprobe.error("compare", *pair, "-m", "mine", code="E5005", mentions=["'mine'"])
    msprobe.error("unregister_plugin", "-n", "mine", code="E5005", mentions=["mine"])


def test_the_registry_is_a_file_of_its_own_that_holds_path_and_sha256(msprobe, library):
    msprobe("register_plugin", "-p", library, "-n", "mine")
    entry = json.loads((msprobe.home / "plugins.json").read_text())["plugins"][0]
    sha256 = subprocess.run(["sha256sum", library], capture_output=True, text=True, check=True).stdout.split()[0]
    assert entry == {**entry, "name": "mine", "path": str(library), "sha256": sha256}
    assert msprobe("plugins", MSPROBE_HOME="", XDG_CONFIG_HOME=str(msprobe.home / "none")).code == 0
    assert "mine" not in names(msprobe, MSPROBE_HOME=str(msprobe.home / "none"))


def test_a_damaged_registry_is_named_and_kept(msprobe, library):
    (msprobe.home / "plugins.json").write_text('{"plugins": [')
    for command in (("plugins",), ("register_plugin", "-p", library, "-n", "mine")):
        msprobe.error(*command, code="E5009", mentions=[msprobe.home / "plugins.json"])
    assert (msprobe.home / "plugins.json").read_text() == '{"plugins": ['


def test_registrations_at_the_same_time_are_all_kept(msprobe, library):
    command = [msprobe.path, "register_plugin", "-p", str(library), "-n"]
    running = [subprocess.Popen([*command, f"n{i}"], env=msprobe.env, stdout=subprocess.DEVNULL) for i in range(12)]
    assert [process.wait() for process in running] == [0] * 12
    assert {f"n{i}" for i in range(12)} <= set(names(msprobe))


@pytest.mark.parametrize("arguments,code", [
    (["-n", "x"], "E6002"), (["-p", "LIB"], "E6002"), (["-p", "LIB", "-n", ""], "E6002"), (["-p", "LIB", "-n", "a/b"], "E6002"),
    (["-p", "nosuch.so", "-n", "x"], "E1003"), (["-p", "LIB", "-n", "x", "--forse"], "E6001")])
def test_a_registration_that_makes_no_sense_is_refused(msprobe, library, arguments, code):
    msprobe.error("register_plugin", *[str(library) if argument == "LIB" else argument for argument in arguments], code=code)
    assert not (msprobe.home / "plugins.json").exists()


# ---- where plugins are looked for ----

def test_a_plugin_is_used_by_its_path_without_registration(msprobe, pair, library):
    assert answer(msprobe, pair, str(library)) == 42
    run = msprobe("compare", *pair, "-m", f"./{library.name}", "-o", "-", cwd=library.parent)
    assert run.code == 0 and run.only["metrics"]["answer"] == 42
    assert not (msprobe.home / "plugins.json").exists()


def test_plugin_dir_and_msprobe_plugin_path_are_searched(msprobe, pair, library):
    assert answer(msprobe, pair, "answer", "--plugin-dir", str(library.parent)) == 42
    assert answer(msprobe, pair, "answer", MSPROBE_PLUGIN_PATH=f"/nosuch:{library.parent}") == 42
    assert "answer" in names(msprobe, "--plugin-dir", str(library.parent))
    msprobe.error("compare", *pair, "-m", "answer", code="E5005")


def test_the_working_directory_is_never_searched(msprobe, pair, library):
    msprobe.error("compare", *pair, "-m", "answer", code="E5005", cwd=library.parent)


def test_a_name_that_two_plugins_claim_is_an_error_that_names_both(msprobe, pair, tmp_path, library):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        shutil.copy(library, tmp_path / folder)
    msprobe.error("compare", *pair, "-m", "answer", "--plugin-dir", tmp_path / "one", "--plugin-dir", tmp_path / "two",
                  code="E5007", mentions=[tmp_path / "one/answer.so", tmp_path / "two/answer.so"])
    assert msprobe("register_plugin", "-p", library, "-n", "answer").code == 0
    msprobe.error("compare", *pair, "-m", "answer", "--plugin-dir", tmp_path / "one", code="E5007", mentions=[library, tmp_path / "one/answer.so"])
    assert answer(msprobe, pair, str(library)) == 42, "a path is never in doubt"


def test_the_name_of_a_built_in_analyzer_cannot_be_taken(msprobe, pair, library):
    for name in ("veRL", "verl", "custom"):
        msprobe.error("register_plugin", "-p", library, "-n", name, code="E5004", mentions=[name])
    assert msprobe("compare", *pair).code == 0


def test_several_analyzers_of_a_library_are_name_slash_analyzer(msprobe, pair, tmp_path):
    path = build(tmp_path / "zoo.so", COUNT="2")
    msprobe("register_plugin", "-p", path, "-n", "zoo")
    assert answer(msprobe, pair, "zoo") == 42 and answer(msprobe, pair, "zoo/answer") == 42 and answer(msprobe, pair, "zoo/other") == -1


# ---- options of plugins ----

OPTION = 'static const msp_field wanted = {sizeof wanted, MSP_TYPE_F64, "my_limit", "a limit", %s, 0, 0};'


def test_options_of_a_plugin_are_flags_of_compare(msprobe, pair, tmp_path):
    path = build(tmp_path / "p.so", DECLARATIONS=OPTION % '"5"', OPTIONS="&wanted,", COUNT="1")
    assert "--my-limit" in msprobe("compare", "-m", path, "--help").out
    run = msprobe("compare", *pair, "-m", path, "--my-limit", "7", "-o", "-")
    assert run.report["options"]["my_limit"] == 7
    assert msprobe("compare", *pair, "-m", path, "-o", "-").report["options"]["my_limit"] == 5
    msprobe.error("compare", *pair, "-m", path, "--my-limit", "x", code="E6002", mentions=["my"])


def test_an_option_without_default_must_be_given(msprobe, pair, tmp_path):
    path = build(tmp_path / "p.so", DECLARATIONS=OPTION % "NULL", OPTIONS="&wanted,")
    msprobe.error("compare", *pair, "-m", path, code="E6002", mentions=["--my-limit"])
    assert msprobe("compare", *pair, "-m", path, "--my-limit=1", "-o", "-").code == 0


def test_an_option_with_the_name_of_ours_is_refused(msprobe, pair, tmp_path):
    path = build(tmp_path / "p.so", DECLARATIONS=(OPTION % '"5"').replace("my_limit", "exit_zero"), OPTIONS="&wanted,")
    msprobe.error("compare", *pair, "-m", path, code="E5003", mentions=["exit-zero"])


# ---- what is no plugin ----

def refused(msprobe, pair, path, code, mentions=()):
    """By path, by registration, and in a list."""
    for command in (("compare", *pair, "-m", path), ("register_plugin", "-p", path, "-n", "bad")):
        msprobe.error(*command, code=code, mentions=[path, *mentions])
    listing = msprobe("plugins", "--plugin-dir", path.parent)
    assert listing.code == 3 and code in listing.out and "veRL" in listing.out
    assert not (msprobe.home / "plugins.json").exists()


def test_a_plugin_of_another_abi_version_is_e3005_with_both_versions(msprobe, pair, tmp_path):
    refused(msprobe, pair, build(tmp_path / "bad/p.so", SYMBOL="msprobe_plugin_v2"), "E3005", ["msprobe_plugin_v2", "msprobe_plugin_v1"])


def test_a_plugin_for_a_newer_minor_version_is_e3005(msprobe, pair, tmp_path):
    refused(msprobe, pair, build(tmp_path / "bad/p.so", NEEDED_MINOR="99"), "E3005", ["1.99"])


def test_a_library_without_the_symbol_is_e5002_and_not_loaded(msprobe, pair, tmp_path):
    witness = tmp_path / "executed"
    path = build(tmp_path / "bad/p.so", SYMBOL="something_else",
                 DECLARATIONS=f'__attribute__((constructor)) static void run(void) {{ fclose(fopen("{witness}", "w")); }}')
    refused(msprobe, pair, path, "E5002", ["msprobe_plugin_v1"])
    assert not witness.exists()


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x7fELF", b"\x7fELF\x01\x01\x01" + bytes(100), b"MZ" + bytes(200)],
                         ids=["empty", "text", "magic", "32 bit", "dll"])
def test_a_file_that_is_no_library_is_e5002(msprobe, pair, tmp_path, content):
    path = tmp_path / "bad/p.so"
    path.parent.mkdir()
    path.write_bytes(content)
    refused(msprobe, pair, path, "E5002")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_truncated_library_is_an_error_and_no_crash(msprobe, pair, library, tmp_path, part):
    path = tmp_path / "p.so"
    data = library.read_bytes()
    path.write_bytes(data[:int(len(data) * part)])
    run = msprobe("compare", *pair, "-m", path)
    assert run.code == 2 and re.match("msprobe: error E500[12]: ", run.err) and run.err.count("\n") == 1


def test_a_library_that_lacks_a_function_is_e5001_with_the_words_of_the_loader(msprobe, pair, tmp_path):
    path = build(tmp_path / "bad/p.so", DECLARATIONS="void nobody_has_this(void);", CREATE="nobody_has_this();")
    refused(msprobe, pair, path, "E5001", ["undefined symbol: nobody_has_this"])


def test_a_library_that_needs_another_is_e5001(msprobe, pair, tmp_path):
    (tmp_path / "empty.c").write_text("void helper(void) {}")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "empty.c", "-o", tmp_path / "libhelper_of_test.so"], check=True)
    path = build(tmp_path / "bad/p.so", flags=["-L", tmp_path, "-lhelper_of_test"], DECLARATIONS="void helper(void);", CREATE="helper();")
    refused(msprobe, pair, path, "E5001", ["libhelper_of_test.so"])


@pytest.mark.parametrize("changes", [
    {"PLUGIN_SIZE": "8"}, {"ANALYZER_SIZE": "8"}, {"DESTROY": "NULL"}, {"COUNT": "0"}, {"COUNT": "100000"},
    {"MORE_COLUMNS": "&column,"}], ids=lambda changes: " ".join(changes) + " " + " ".join(changes.values()))
def test_a_plugin_that_describes_itself_wrongly_is_e5003(msprobe, pair, tmp_path, changes):
    refused(msprobe, pair, build(tmp_path / "bad/p.so", **changes), "E5003")


@pytest.mark.parametrize("how", ["abort();", "exit(0);", "*(volatile int*)0 = 1;"])
def test_a_library_that_crashes_when_it_is_loaded_disturbs_neither_list_nor_registration(msprobe, tmp_path, how):
    path = build(tmp_path / "bad/p.so", DECLARATIONS="__attribute__((constructor)) static void run(void) { " + how + " }")
    def end(*arguments):
        done = subprocess.run([msprobe.path, *map(str, arguments)], capture_output=True, text=True, env=msprobe.env)
        return Run(done.returncode, done.stdout, done.stderr)
    run = end("register_plugin", "-p", path, "-n", "bad")
    assert run.code == 2 and "msprobe: error E50" in run.err
    listing = end("plugins", "--plugin-dir", path.parent)
    assert listing.code == 3 and "veRL" in listing.out


# ---- plugins that fail while they run ----

FAIL = 'return host->fail(call, MSP_E_INVALID, (msp_str){"no such luck", 12});'


def test_a_plugin_that_fails_at_the_start_ends_the_run_with_its_reason(msprobe, pair, tmp_path):
    msprobe.error("compare", *pair, "-m", build(tmp_path / "p.so", CREATE=FAIL.replace("INVALID", "INTERNAL")),
                  code="E5008", mentions=["no such luck"])


def test_a_plugin_that_fails_at_one_row_loses_only_that_row(msprobe, tmp_path):
    for side in ("ref", "target"):
        for size in (3, 4, 5):
            write_npy(tmp_path / side / f"x{size}.npy", numpy.ones(size, "<f4"))
    path = build(tmp_path / "p.so", ANALYZE="if (pair->side[0]->element_count == 4) " + FAIL)
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target", "-m", path)
    assert run.code == 3 and [row["verdict"] for row in run.rows] == ["pass", "error", "pass"]
    assert "no such luck" in run.row("x4")["why"] and run.row("x4")["code"] == "E5008"


def test_a_plugin_linked_with_fast_math_does_not_change_our_numbers(msprobe, tmp_path):
    """Its constructor sets flush-to-zero: subnormals would vanish from every later sum."""
    path = build(tmp_path / "fast/p.so", flags=["-ffast-math"])
    a, b = write_npy(tmp_path / "a.npy", [3e-310, 0.0]), write_npy(tmp_path / "b.npy", [4e-310, 0.0])
    plain = msprobe.compare(a, b).only
    behind = msprobe.compare(a, b, "--plugin-dir", path.parent).only
    assert plain["metrics"] == behind["metrics"] and plain["metrics"]["max_abs"] == pytest.approx(1e-310)


# ---- the examples, outside the tree, against the installed SDK ----

@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    if not (BUILD / "cmake_install.cmake").exists():
        pytest.skip("the program is not in a build tree")
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    return prefix


def build_example(installed, folder, name, compiler):
    c, cxx = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}[compiler]
    if not shutil.which(cxx):
        pytest.skip(f"no {compiler}")
    source = folder / "source"
    shutil.copytree(ROOT / "examples" / name, source)
    compilers = [f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}"]
    flags = ["-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"]
    subprocess.run(["cmake", "-S", source, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}", "-DCMAKE_BUILD_TYPE=Release",
                    "--no-warn-unused-cli", *compilers, *flags], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder / "build"], check=True, capture_output=True)
    return next((folder / "build").glob("*.so"))


def as_installed(msprobe, installed):
    msprobe.path = str(installed / "bin" / pathlib.Path(PROGRAM).name)
    return msprobe


def test_the_installed_program_finds_its_plugins(msprobe, installed, pair):
    run = as_installed(msprobe, installed)("plugins")
    assert run.code == 0 and "veRL" in run.out and str(installed / "lib/msprobe/plugins") in run.out and str(BUILD) not in run.out
    assert msprobe("compare", *pair).code == 0


def test_an_installation_can_be_moved(msprobe, installed, pair, tmp_path):
    shutil.copytree(installed, tmp_path / "moved")
    run = as_installed(msprobe, tmp_path / "moved")("plugins")
    assert run.code == 0 and str(tmp_path / "moved/lib/msprobe/plugins/verl.so") in run.out and str(installed) not in run.out
    assert msprobe("compare", *pair).code == 0


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_minimal_plugin_is_built_outside_the_tree_registered_and_used(msprobe, installed, tmp_path, compiler):
    library = build_example(installed, tmp_path / "example", "minimal_plugin", compiler)
    assert as_installed(msprobe, installed)("register_plugin", "-p", library, "-n", "minimal").code == 0
    values = numpy.arange(200000, dtype="<f4")
    other = values.copy()
    other[::4] += 1
    a, b = write_npy(tmp_path / "a.npy", values), write_npy(tmp_path / "b.npy", other)
    row = msprobe.compare(a, b, "-m", "minimal").only
    assert row["verdict"] == "fail" and row["metrics"]["bits_differ"] == 0.25
    assert msprobe.compare(a, write_npy(tmp_path / "c.npy", values), "-m", "minimal").only["verdict"] == "pass"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_cpp_plugin_is_built_outside_the_tree_registered_and_used(msprobe, installed, tmp_path, compiler):
    library = build_example(installed, tmp_path / "example", "cpp_plugin", compiler)
    assert as_installed(msprobe, installed)("register_plugin", "-p", library, "-n", "scale").code == 0
    values = numpy.arange(1, 1000, dtype="<f4")
    a, b = write_npy(tmp_path / "a.npy", values), write_npy(tmp_path / "b.npy", values / 8)
    run = msprobe.compare(a, b, "-m", "scale")
    assert run.code == 1 and run.only["metrics"]["factor"] == 0.125
    assert any("scaled" in finding["text"] and "0.125" in finding["text"] for finding in run.report["findings"])
    assert msprobe.compare(a, b, "-m", "scale", "--tolerance", "2").code == 0


def test_a_plugin_of_the_sdk_shows_one_symbol_and_needs_nothing_of_ours(installed, tmp_path):
    library = build_example(installed, tmp_path / "example", "cpp_plugin", "gcc")
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in symbols.splitlines()] == ["msprobe_plugin_v1"]
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "msprobe" not in "".join(line for line in needed.splitlines() if "NEEDED" in line)


@pytest.mark.parametrize("command", [["gcc", "-std=c11", "-x", "c"], ["clang", "-std=c11", "-x", "c"], ["g++", "-std=c++17", "-x", "c++"],
                                     ["clang++", "-std=c++20", "-x", "c++"]], ids=lambda command: " ".join(command[:2]))
def test_the_headers_compile_alone_and_without_a_warning(command, tmp_path):
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    header = "analyzer.hpp" if "c++" in command[-1] else "analyzer.h"
    (tmp_path / "x").write_text(f'#include "msprobe/{header}"\nint main(void) {{ return 0; }}\n')
    subprocess.run([*command, "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-I", ROOT / "sdk/include", "-fsyntax-only", tmp_path / "x"], check=True)


def test_the_analyzer_to_copy_counts_elements_beyond_a_limit(msprobe, tmp_path):
    a, b = write_npy(tmp_path / "a.npy", [1.0, 2, 3, 4]), write_npy(tmp_path / "b.npy", [1.0, 2.5, 3, numpy.nan])
    run = msprobe.compare(a, b, "-m", "custom", "--limit", "0.1")
    assert run.code == 1 and run.only["metrics"]["share_beyond"] == 0.5
    assert msprobe.compare(a, a, "-m", "custom").code == 0
