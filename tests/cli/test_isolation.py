"""Worker processes of plugins: what goes wrong costs one row, nothing is left behind, and results are those of a run in one process."""
import json
import os
import re
import signal
import subprocess
import time

import numpy
import pytest

from conftest import ROOT, Run
from tensor_files import write_npy
from test_zoo import SANITIZER

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "msprobe/analyzer.h"
static const msp_host* host;
static msp_str text(const char* given) { msp_str str = {given, strlen(given)}; return str; }
static const msp_field first = {sizeof first, MSP_TYPE_F64, "first", "the first element", NULL, 1, 0};
static const msp_field hidden = {sizeof hidden, MSP_TYPE_I64, "hidden", "for finish", NULL, 0, MSP_COLUMN_HIDDEN};
static const msp_field* const columns[] = {&first, &hidden, NULL};
static msp_status create(const msp_host* given, msp_call* call, void** self) { host = given; *self = NULL; return MSP_OK; }
static void count_me(void) {  /* one line per process that runs this plugin */
  static int done;
  const char* path = getenv("COUNT_PROCESSES");
  if (!path || done++) return;
  FILE* file = fopen(path, "a"); fprintf(file, "%d\n", getpid()); fclose(file); }
static msp_status analyze(void* self, msp_call* call, const msp_pair* pair) {
  double value = 0;
  int64_t index = (int64_t)pair->index;
  count_me();
  if (pair->side[1]->element_count == 0 || pair->side[1]->dtype >= MSP_C64) return host->verdict(call, MSP_SKIP, 0, 0, text("no number"));
  msp_status status = host->read_f64(call, pair->side[1], 0, 1, &value);
  if (status != MSP_OK) return status;
  host->emit_f64(call, 0, value);
  host->emit_i64(call, 1, index);
  @ROW@
  return host->verdict(call, index % 5 == 4 ? MSP_FAIL : MSP_PASS, (double)index, 0.5, text(index % 2 ? "odd" : "")); }
static msp_status finish(void* self, msp_call* call) { @FINISH@ return MSP_OK; }
static void destroy(void* self) {}
static const msp_analyzer analyzer = {sizeof analyzer, @THREADING@, 1u << MSP_KIND_TENSOR, 0, "probe", "for tests", NULL, columns,
                                      create, NULL, analyze, finish, destroy};
static const msp_analyzer* const analyzers[] = {&analyzer};
MSP_EXPORT extern const msp_plugin msprobe_plugin_v1;
const msp_plugin msprobe_plugin_v1 = {sizeof(msp_plugin), MSP_ABI_MINOR, 0, 1, "org.example.probe", "1.0", analyzers};
"""
COUNT = 40
DYNAMIC = r"""
  char name[32]; uint32_t column;
  snprintf(name, sizeof name, "z%d", (int)(99 - index * 7 % 20));
  msp_field field = {sizeof field, MSP_TYPE_I64, name, "came late", NULL, 1, 0};
  if (index % 3 == 0) { status = host->declare_column(call, &field, &column); if (status != MSP_OK) return status;
                        host->emit_i64(call, column, index); }
"""
SUMMARY = r"""
  double sum = 0, value, late = 0; uint64_t rows[3] = {1, 2, 3}; char said[200]; int32_t verdict; uint32_t column;
  msp_field field = {sizeof field, MSP_TYPE_I64, "z99", "came late", NULL, 1, 0};
  for (uint64_t i = 0; i < host->pair_count(call); ++i) { host->row_f64(call, i, 1, &value); sum += value; }
  host->declare_column(call, &field, &column);
  host->row_f64(call, 0, column, &late);
  host->row_verdict(call, 4, &verdict, &value);
  snprintf(said, sizeof said, "sum %g late %g verdict %d error %g", sum, late, verdict, value);
  field.name = "a_last"; host->declare_column(call, &field, &column);
  host->finding(call, MSP_WARN, "probe.sum", text(said), text("{}"), rows, 3);
  host->amend(call, 2, MSP_WARN, text("amended"));
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A plugin with statements in its callbacks; each is built once."""
    folder = tmp_path_factory.mktemp("isolated")
    known = {}

    def build(row="", finish="", serial=False):
        key = (row, finish, serial)
        if key not in known:
            source, path = folder / f"p{len(known)}.c", folder / f"p{len(known)}.so"
            code = SOURCE.replace("@ROW@", row).replace("@FINISH@", finish).replace("@THREADING@", "MSP_SERIAL" if serial else "MSP_PARALLEL")
            source.write_text(code)
            subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-fvisibility=hidden", "-I", ROOT / "sdk/include", source, "-o", path], check=True)
            known[key] = path
        return known[key]
    return build


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    for i in range(COUNT):
        values = numpy.arange(i, i + 16, dtype="<f4")
        write_npy(folder / f"ref/x{i:02}.npy", values)
        write_npy(folder / f"target/x{i:02}.npy", values + numpy.float32(0.5))
    return folder / "ref", folder / "target"


@pytest.fixture
def msprobe(msprobe):
    msprobe.env.update(SANITIZER)
    return msprobe


def check_values(run, lost=()):
    assert [row["name"] for row in run.rows] == [f"x{i:02}" for i in range(COUNT)], "all rows, in order"
    for i, row in enumerate(run.rows):
        if i not in lost:
            assert row["metrics"]["first"] == i + 0.5 and row["verdict"] == ("fail" if i % 5 == 4 else "pass"), row


# ---- what goes wrong ----

@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize("what,code,words", [
    ("*(volatile int*)0 = 1;", "E5010", "probe crashed (signal 11, Segmentation fault) here"),
    ("_exit(7);", "E5010", "probe ended the process (exit code 7) here"),
    ("for (;;) pause();", "E5011", "probe did not answer within 0.5 s"),
    ("for (;;) { volatile char* block = malloc(1 << 24); if (!block) return MSP_E_NOMEM; *block = 1; }", "E5008", "status -3"),
], ids=["crash", "exit", "hang", "memory"])
def test_one_bad_row_is_lost_and_the_others_have_their_values(msprobe, built, pairs, tmp_path, what, code, words, jobs):
    path = built("if (index == 7 || index == 20) { %s }" % what)
    run = msprobe.compare(*pairs, "-m", path, "-j", jobs, "--plugin-timeout", "0.5", "--plugin-memory", "0.5", COUNT_PROCESSES=str(tmp_path / "processes"))
    assert run.code == 1 and run.err == ""
    check_values(run, lost=[7, 20])
    for i in (7, 20):
        assert run.rows[i]["verdict"] == "error" and run.rows[i]["code"] == code and words in run.rows[i]["why"]
    if code != "E5008":  # each lost worker was replaced, and no other
        used = len((tmp_path / "processes").read_text().split())
        assert 2 <= used <= int(jobs) + 2 and (jobs != "1" or used == 3)


def test_after_five_losses_the_rest_is_not_analysed(msprobe, built, pairs):
    run = msprobe.compare(*pairs, "-m", built("if (index % 2) abort();"), "-j", "1")
    assert run.code == 3 or run.code == 1
    codes = [row["code"] for row in run.rows]
    assert codes == [None, "E5010"] * 5 + ["E5013"] * (COUNT - 10)
    assert "probe was lost 5 times and is not started again" in run.rows[10]["why"]
    assert [row["metrics"]["first"] for row in run.rows[:10:2]] == [0.5, 2.5, 4.5, 6.5, 8.5]


def test_a_plugin_that_cannot_be_started_again_counts_as_lost(msprobe, built, pairs, tmp_path):
    """Every start after the first one crashes: it is not tried for each of the rows that are left."""
    mark = tmp_path / "mark"
    row = f'if (index == 3) {{ fclose(fopen("{mark}", "w")); abort(); }} if (access("{mark}", F_OK) == 0) abort();'
    run = msprobe.compare(*pairs, "-m", built(row), "-j", "1")
    assert [row["code"] for row in run.rows] == [None] * 3 + ["E5010"] * 5 + ["E5013"] * (COUNT - 8)


def test_a_serial_analyzer_has_one_process(msprobe, built, pairs, tmp_path):
    run = msprobe.compare(*pairs, "-m", built(serial=True), "-j", "8", COUNT_PROCESSES=str(tmp_path / "processes"))
    check_values(run)
    assert len((tmp_path / "processes").read_text().split()) == 1


def test_isolate_says_who_gets_a_process(msprobe, built, pairs, tmp_path):
    """The plugin writes down in which process it runs; the host's is the one that was started."""
    def processes(*options):
        path = tmp_path / "processes"
        path.unlink(missing_ok=True)
        command = [msprobe.path, "compare", "-r", *map(str, (pairs[0], "-t", pairs[1], "-m", built(), "-j", "1", "-o", tmp_path / "r.json", *options))]
        with subprocess.Popen(command, env={**msprobe.env, "COUNT_PROCESSES": str(path)}, stdout=subprocess.DEVNULL) as host:
            assert host.wait() == 1
        return {int(line) for line in path.read_text().split()}, host.pid
    for options in ([], ["--isolate", "plugins"], ["--isolate", "always"]):
        used, host = processes(*options)
        assert len(used) == 1 and host not in used
    used, host = processes("--isolate", "never")
    assert used == {host}
    msprobe.error("compare", "-r", pairs[0], "-t", pairs[1], "--isolate", "sometimes", code="E6002", mentions=["--isolate"])


# ---- the same results ----

def comparable(run):
    text = re.sub(r'"(started|seconds)": [^,]*', r'"\1": 0', run.out)
    return re.sub(r'"command": \[[^\]]*\]', '"command": []', text)


def same_results(msprobe, reference, target, *options):
    """The report in one process, which is the same for isolated workers and any number of them."""
    runs = [msprobe.compare(reference, target, *options, "--isolate", isolate, "-j", jobs)
            for isolate in ("never", "always") for jobs in ("1", "8")]
    for run in runs:
        assert run.err == runs[0].err and run.code == runs[0].code
        assert comparable(run) == comparable(runs[0])
    return runs[0]


def test_a_plugin_with_findings_and_amended_rows_gives_the_same_report(msprobe, built, pairs):
    run = same_results(msprobe, *pairs, "-m", built(finish=SUMMARY))
    assert run.rows[2]["verdict"] == "warn" and run.rows[2]["why"] == "amended"
    assert any("sum 780 " in finding["text"] and finding["rows"] == [1, 2, 3] for finding in run.report["findings"])
    assert "hidden" not in run.rows[0]["metrics"]


def test_columns_that_come_while_it_runs_are_sorted_by_name(msprobe, built, pairs):
    run = same_results(msprobe, *pairs, "-m", built(DYNAMIC, SUMMARY))
    names = [column["name"] for column in run.report["columns"]]
    assert names[0] == "first" and names[-1] == "a_last" and names[1:-1] == sorted(names[1:-1]) and len(names) == 16
    for i, row in enumerate(run.rows):
        late = {name: value for name, value in row["metrics"].items() if name.startswith("z") and value is not None}
        assert late == ({f"z{99 - i * 7 % 20}": i} if i % 3 == 0 else {})
    assert any("late 0 verdict 2 error 4" in finding["text"] for finding in run.report["findings"])


def test_values_of_a_row_that_fails_are_the_same(msprobe, built, pairs):
    run = same_results(msprobe, *pairs, "-m", built('if (index == 9) return host->fail(call, MSP_E_INTERNAL, text("no luck"));'))
    assert run.rows[9]["code"] == "E5008" and run.rows[9]["metrics"]["first"] == 9.5


@pytest.mark.parametrize("sample", ["enc_eps_tensor_mix", "cnn_nan_tensor_L0", "enc_bf16_statistics_mix"])
def test_built_in_analyzers_give_the_same_report_on_real_dumps(msprobe, samples, sample):
    folder = samples / "samples" / sample
    for mode in ("veRL", "custom"):
        same_results(msprobe, folder / "reference", folder / "target", "-m", mode)


def test_unreadable_and_strange_tensors_give_the_same_report(msprobe, tmp_path):
    generator = numpy.random.default_rng(2)
    for i, dtype in enumerate(("<f8", "<f4", "<f2", "<i4", "|b1", "<c8", "|u1")):
        for shape in ((), (0,), (3, 0, 2), (5, 7)):
            values = (generator.normal(size=shape) * 3).astype(dtype)
            write_npy(tmp_path / "ref" / f"t{i}_{len(shape)}_{numpy.prod(shape):.0f}.npy", values)
            write_npy(tmp_path / "target" / f"t{i}_{len(shape)}_{numpy.prod(shape):.0f}.npy", values[..., ::-1] if shape else values)
    write_npy(tmp_path / "ref/cut.npy", numpy.ones(100, "<f4"))
    cut = write_npy(tmp_path / "target/cut.npy", numpy.ones(100, "<f4"))
    cut.write_bytes(cut.read_bytes()[:300])
    write_npy(tmp_path / "ref/other.npy", numpy.ones((2, 3), "<f4"))
    write_npy(tmp_path / "target/other.npy", numpy.ones((3, 2), "<f4"))
    write_npy(tmp_path / "ref/large.npy", generator.normal(size=700_001).astype("<f4"))
    write_npy(tmp_path / "target/large.npy", generator.normal(size=700_001).astype("<f4"))
    run = same_results(msprobe, tmp_path / "ref", tmp_path / "target")
    assert run.row("cut")["verdict"] == "error"
    same_results(msprobe, tmp_path / "ref", tmp_path / "target", "-m", "custom")


# ---- how it ends ----

def descendants(pid):
    """Processes of this session that are not gone, found by their parents."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="latin-1") as stat:
                state, parent = stat.read().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(entry)] = int(parent)
    found, todo = set(), {pid}
    while todo:
        todo = {child for child, parent in parents.items() if parent in todo} - found
        found |= todo
    return found


def alive(pids):
    def state(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            return "gone"
    return {pid for pid in pids if state(pid) not in ("gone", "Z", "X")}


def wait_until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.fixture
def stuck(msprobe, built, pairs, tmp_path):
    """A run with workers of which some are stuck in a row; as a process group of its own, like one on a terminal."""
    path = built("if (index == 30 || index == 33) for (;;) pause();")
    count = tmp_path / "processes"
    command = [msprobe.path, "compare", "-r", str(pairs[0]), "-t", str(pairs[1]), "-m", str(path), "-j", "2", "-o", str(tmp_path / "report.json")]
    host = subprocess.Popen(command, env={**msprobe.env, "COUNT_PROCESSES": str(count)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)
    wait_until(lambda: count.exists() and len(count.read_text().split()) == 2, "two workers")
    time.sleep(0.3)  # until they are stuck
    workers = descendants(host.pid)
    assert len(workers) == 3, "two workers and the process that makes them"
    yield host, workers, tmp_path / "report.json"
    if host.poll() is None:
        host.kill()
    host.communicate()


@pytest.mark.parametrize("to_all", [True, False], ids=["from the terminal", "to the program"])
def test_an_interrupted_run_writes_what_is_known_and_leaves_no_process(stuck, to_all):
    host, workers, report = stuck
    (os.killpg if to_all else os.kill)(host.pid, signal.SIGINT)
    out, err = host.communicate(timeout=30)
    assert host.returncode == 130, err
    wait_until(lambda: not alive(workers), "workers are still there")
    content = json.loads(report.read_text())
    assert content["summary"]["partial"] and len(content["rows"]) == COUNT
    assert content["rows"][0]["metrics"]["first"] == 0.5 and content["rows"][30]["why"] == "not compared: interrupted"


def test_a_killed_program_leaves_no_process(stuck):
    host, workers, _ = stuck
    host.kill()
    host.wait(timeout=10)
    wait_until(lambda: not alive(workers), "workers are still there")


def test_a_finished_run_leaves_no_process(msprobe, built, pairs, tmp_path):
    count = tmp_path / "processes"
    run = msprobe.compare(*pairs, "-m", built("if (index == 3) abort();"), "-j", "4", COUNT_PROCESSES=str(count))
    assert run.code == 1
    assert not alive({int(line) for line in count.read_text().split()})


def test_rows_without_a_process_say_so_and_the_others_are_kept(msprobe, built, pairs):
    """Files run out for all workers but the first. (The limit of processes does not bind root.)"""
    compare = [msprobe.path, "compare", "-r", pairs[0], "-t", pairs[1], "-m", built(), "-j", "4", "-o", "-"]
    done = subprocess.run(["bash", "-c", 'ulimit -n 6; exec "$@"', "bash", *map(str, compare)], env=msprobe.env, capture_output=True, timeout=60)
    run = Run(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert {row["code"] for row in run.rows} == {None, "E5012"}, run.err
    check_values(run, lost=[row["index"] for row in run.rows if row["code"]])


def test_a_large_message_comes_through(msprobe, built, pairs):
    """Larger than any buffer of a socket, from the plugin and back to it for finish."""
    row = "char* many = malloc(1 << 21); memset(many, 'x', 1 << 21); msp_str said = {many, 1 << 21};" \
          "status = host->verdict(call, MSP_WARN, 0, 0, said); free(many); return status;"
    run = msprobe.compare(*pairs, "-m", built(row, 'host->amend(call, 0, MSP_PASS, text("seen"));'), "-j", "4")
    assert run.rows[0]["why"] == "seen" and all(row["why"] == "x" * (1 << 21) for row in run.rows[1:])
