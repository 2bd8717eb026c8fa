"""The zoo of broken plugins: tests/zoo holds one tiny source per defect, whose first comment says what msprobe must answer."""
import re
import struct
import subprocess
import time

import numpy
import pytest

from conftest import ROOT, TESTS
from tensor_files import write_npy

ZOO = TESTS / "zoo"
SOURCES = {source.stem: source for source in sorted(ZOO.glob("*.c*"))}
ROWS = [3, 4, 5, 6]  # elements of each row; four is the one where animals misbehave
# The default ending of a process, also where the program itself was built with a sanitizer; no effect elsewhere.
SANITIZER = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigfpe=0:handle_sigbus=0:allocator_may_return_null=1:detect_leaks=0:"
                             "use_sigaltstack=0:detect_odr_violation=0",
             "TSAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigfpe=0:handle_sigbus=0"}


def answers(name):
    """What the comment of an animal says: {"row": "E5010: ...", "flags": ...}."""
    comment = re.match(r"/\*(.*?)\*/", SOURCES[name].read_text(), re.S)[1]
    found = re.findall(r"^[ *]*(load|row|start|warning|finding|flags|options): (.*?) *$", comment, re.M)
    assert len(dict(found)) == len(found), name
    return dict(found)


def animals(kind):
    return [name for name in SOURCES if kind in answers(name)]


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    """The folder of an animal, which holds nothing else; built at its first use."""
    folder = tmp_path_factory.mktemp("zoo")
    built = {}

    def find(name):
        if name not in built:
            source = SOURCES[name]
            path = folder / name / "animal.so"
            path.parent.mkdir(exist_ok=True)
            compiler = ["g++", "-std=c++17"] if source.suffix == ".cpp" else ["gcc", "-std=gnu11"]
            subprocess.run([*compiler, "-shared", "-fPIC", "-w", "-fvisibility=hidden", "-I", ROOT / "sdk/include", source, "-o", path,
                            *answers(name).get("flags", "").split()], check=True)
            path.chmod(0o755)
            built[name] = path
        return built[name]
    return find


@pytest.fixture(scope="session")
def dumps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    for side in ("ref", "target"):
        for size in ROWS:
            write_npy(folder / side / f"x{size}.npy", numpy.arange(size, dtype="<f4"))
    return folder / "ref", folder / "target"


@pytest.fixture
def msprobe(msprobe):
    msprobe.env.update(SANITIZER)
    return msprobe


def compare(msprobe, dumps, zoo, name, *more):
    return msprobe.compare(*dumps, "-m", zoo(name), "-j", "1", *answers(name).get("options", "").split(), *more)


def check_rows(run, lost=()):
    assert [row["name"] for row in run.rows] == [f"x{size}" for size in ROWS]
    for row, size in zip(run.rows, ROWS):
        if size not in lost:
            assert row["verdict"] == "pass" and row["metrics"]["elements"] == size, row


def as_one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize("name", [name for name in animals("load") if name != "load_hang"])
def test_what_cannot_be_loaded_is_refused_everywhere_with_one_message(msprobe, dumps, zoo, name):
    code, text = answers(name)["load"].split(": ", 1)
    path = zoo(name)
    for command in (("register_plugin", "-p", path, "-n", "mine"), ("compare", "-r", dumps[0], "-t", dumps[1], "-m", path)):
        msprobe.error(*command, code=code, mentions=[path, text])
    assert not (msprobe.home / "plugins.json").exists()
    listing = msprobe("plugins", "--plugin-dir", path.parent)
    assert listing.code == 3 and listing.err == ""
    assert code in listing.out and text in as_one_line(listing.out) and "veRL" in listing.out and "custom" in listing.out


def test_a_library_that_never_comes_back_from_loading_is_given_up(msprobe, dumps, zoo):
    code, text = answers("load_hang")["load"].split(": ", 1)
    path = zoo("load_hang")
    commands = [("register_plugin", "-p", path, "-n", "mine"), ("plugins", "--plugin-dir", path.parent),
                ("compare", "-r", dumps[0], "-t", dumps[1], "-m", path)]
    begun = time.monotonic()
    running = [subprocess.Popen([msprobe.path, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=msprobe.env, text=True)
               for command in commands]
    (_, registered), (listed, _), (_, compared) = [process.communicate(timeout=60) for process in running]
    assert 9 < time.monotonic() - begun < 30
    assert [process.returncode for process in running] == [2, 3, 2]
    for said in (registered, compared):
        assert said.startswith(f"msprobe: error {code}: {text}: {path}: ") and said.count("\n") == 1
    assert code in listed and text in as_one_line(listed) and "veRL" in listed


@pytest.mark.parametrize("name", animals("start"))
def test_what_fails_at_its_start_ends_the_run(msprobe, dumps, zoo, name):
    code, text = answers(name)["start"].split(": ", 1)
    msprobe.error("compare", "-r", dumps[0], "-t", dumps[1], "-m", zoo(name), *answers(name).get("options", "").split(),
                  code=code, mentions=[zoo(name), text])


@pytest.mark.parametrize("name", animals("row"))
def test_what_goes_wrong_in_a_row_costs_this_row(msprobe, dumps, zoo, name):
    code, text = answers(name)["row"].split(": ", 1)
    run = compare(msprobe, dumps, zoo, name)
    assert run.code == 3, run.err
    check_rows(run, lost=[4])
    row = run.row("x4")
    assert row["verdict"] == "error" and row["code"] == code and text in row["why"], row
    assert run.err == "" or name == "unknown_column"


@pytest.mark.parametrize("isolate", ["never", "plugins"])
@pytest.mark.parametrize("name", animals("warning"))
def test_what_harms_no_row_is_told_once(msprobe, dumps, zoo, name, isolate):
    run = compare(msprobe, dumps, zoo, name, "--isolate", isolate)
    assert run.code == 0 and run.err == f"msprobe: warning: {answers(name)['warning']}\n"
    check_rows(run)


@pytest.mark.parametrize("name", ["fails_silently", "throws", "throws_number", "unknown_column", "undeclared_option", "foreign_tensor", "reads_beyond"])
def test_what_is_returned_or_thrown_costs_its_row_in_the_program_itself_too(msprobe, dumps, zoo, name):
    code, text = answers(name)["row"].split(": ", 1)
    run = compare(msprobe, dumps, zoo, name, "--isolate", "never")
    check_rows(run, lost=[4])
    assert run.code == 3 and run.row("x4")["code"] == code and text in run.row("x4")["why"]


@pytest.mark.parametrize("name", animals("finding"))
def test_what_goes_wrong_after_the_rows_is_a_finding(msprobe, dumps, zoo, name):
    run = compare(msprobe, dumps, zoo, name)
    assert run.code == 0, run.err
    check_rows(run)
    assert [finding["text"] for finding in run.report["findings"] if finding["level"] == "warn"] == [answers(name)["finding"]]


@pytest.mark.parametrize("name", [name for name in SOURCES if not set(answers(name)) & {"load", "row", "start", "warning", "finding"}
                                  and name != "fast_math"])
def test_what_harms_nobody_changes_nothing(msprobe, dumps, zoo, name):
    run = compare(msprobe, dumps, zoo, name)
    assert run.code == 0, run.err
    check_rows(run)


@pytest.mark.parametrize("isolate", ["never", "plugins"])
def test_a_plugin_linked_with_fast_math_leaves_the_sums_of_the_host_alone(msprobe, zoo, tmp_path, isolate):
    for side, value in (("ref", 3e-310), ("target", 4e-310)):
        for i in range(8):
            write_npy(tmp_path / side / f"x{i}.npy", numpy.array([value, 0.0, 1.0]))
    plain = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    with_plugin = msprobe.compare(tmp_path / "ref", tmp_path / "target", "-m", zoo("fast_math"), "-j", "4", "--isolate", isolate)
    largest = [row["metrics"]["max_abs"] for row in with_plugin.rows]
    assert largest == [row["metrics"]["max_abs"] for row in plain.rows] == [pytest.approx(1e-310, rel=1e-3, abs=0)] * 8


def refused(msprobe, dumps, path, code, text):
    for command in (("register_plugin", "-p", path, "-n", "mine"), ("compare", "-r", dumps[0], "-t", dumps[1], "-m", path)):
        msprobe.error(*command, code=code, mentions=[path, text])
    listing = msprobe("plugins", "--plugin-dir", path.parent)
    assert listing.code == 3 and code in listing.out and text in as_one_line(listing.out) and "veRL" in listing.out


def changed(zoo, tmp_path, change):
    """A sound library whose bytes are changed."""
    path = tmp_path / "bad/animal.so"
    path.parent.mkdir()
    path.write_bytes(change(bytearray(zoo("prints").read_bytes())))
    return path


def test_a_32_bit_library_is_refused(msprobe, dumps, zoo, tmp_path):
    def change(data):
        data[4] = 1  # EI_CLASS
        return data
    refused(msprobe, dumps, changed(zoo, tmp_path, change), "E5002", "this is no plugin: a 32-bit library")


def test_a_library_for_another_machine_is_refused(msprobe, dumps, zoo, tmp_path):
    def change(data):
        struct.pack_into("<H", data, 18, 8)  # e_machine: MIPS
        return data
    refused(msprobe, dumps, changed(zoo, tmp_path, change), "E5002", "this is no plugin: a library for another machine")


@pytest.mark.parametrize("part", [0.02, 0.1, 0.5, 0.9, 0.999])
def test_a_library_that_is_cut_short_is_refused(msprobe, dumps, zoo, tmp_path, part):
    path = changed(zoo, tmp_path, lambda data: data[:int(len(data) * part)])
    refused(msprobe, dumps, path, "E5002", "this is no plugin: the file is cut short")


def test_a_text_file_is_refused(msprobe, dumps, zoo, tmp_path):
    refused(msprobe, dumps, changed(zoo, tmp_path, lambda data: b"hello\n"), "E5002", "this is no plugin: not an ELF file")


def test_a_library_that_anyone_may_change_is_refused(msprobe, dumps, zoo, tmp_path):
    path = changed(zoo, tmp_path, lambda data: data)
    path.chmod(0o757)
    refused(msprobe, dumps, path, "E5014", "anyone may change this plugin")
    path.chmod(0o775)
    assert msprobe("register_plugin", "-p", path, "-n", "mine").code == 0
    path.chmod(0o777)
    msprobe.error("compare", "-r", dumps[0], "-t", dumps[1], "-m", "mine", code="E5014", mentions=[path])
    assert msprobe.compare(*dumps).code == 0, "the others work as before"


def test_random_damage_never_ends_the_program(msprobe, zoo, tmp_path):
    """Headers, symbols and constant data with wrong bytes: listed with a problem or not, and the list is whole."""
    generator = numpy.random.default_rng(4)
    folder = tmp_path / "damaged"
    folder.mkdir()
    good = zoo("prints").read_bytes()
    for i in range(60):
        data = bytearray(good)
        area = (64, 1024, len(data))[i % 3]
        for place in generator.integers(4, area, 1 + i % 5):
            data[place] = generator.integers(256)
        (folder / f"p{i}.so").write_bytes(data)
    listing = msprobe("plugins", "--plugin-dir", folder, timeout=300)
    assert listing.code in (0, 3) and listing.err == "" and "veRL" in listing.out
    assert {f"p{i}.so" for i in range(60)} <= set(re.findall(r"p\d+\.so", listing.out))


def test_every_animal_is_asked_for_an_answer():
    harmless = {"fast_math", "destroy_crash", "destroy_hang", "prints"}
    silent = {name for name in SOURCES if not set(answers(name)) & {"load", "row", "start", "warning", "finding"}}
    assert silent == harmless
