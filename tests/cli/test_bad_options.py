"""Mistakes on the command line: exit 2, one line with a code, the nearest name that exists, and nothing on stdout."""
import json
import os

import numpy
import pytest

from tensor_files import write_npy


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_npy(folder / "ref.npy", numpy.ones(4, "<f4"))
    write_npy(folder / "target.npy", numpy.ones(4, "<f4"))
    (folder / "folder.json").mkdir()
    (folder / "wrong.json").write_text("{}")
    (folder / "limits.json").write_text(json.dumps([{"layer": "*", "metric": "cosin", "limit": 1}]))
    return folder


def compare_error(msprobe, files, *options, code, mentions=()):
    return msprobe.error("compare", "-r", "ref.npy", "-t", "target.npy", *options, code=code, mentions=mentions, cwd=files)


@pytest.mark.parametrize("typed,meant", [("compar", "compare"), ("Compare", "compare"), ("plugin", "plugins"),
                                         ("register-plugin", "register_plugin"), ("explian", "explain")])
def test_an_unknown_command_names_the_nearest(msprobe, typed, meant):
    msprobe.error(typed, code="E6001", mentions=[f"'{typed}'", f"'{meant}'"])


@pytest.mark.parametrize("typed,meant", [("--error-treshold=1", "--error-threshold"), ("--exact-zero", "--exit-zero"),
                                         ("--outputs", "--output"), ("--shap", "--shape"), ("--nam=fail", "--nan"),
                                         ("--error", "--error-threshold"),
                                         ("--saturat", "--saturate"), ("--ftx", "--ftz")])
def test_an_unknown_option_names_the_nearest_the_analyzers_own_included(msprobe, files, typed, meant):
    compare_error(msprobe, files, typed, code="E6001", mentions=[typed.split("=")[0], meant])


def test_options_are_not_guessed_from_their_beginning(msprobe, files):
    compare_error(msprobe, files, "--error-thresh", "1", code="E6001", mentions=["--error-threshold"])


@pytest.mark.parametrize("typed", ["verl2", "fastr", "veRRL", "custm"])
def test_an_unknown_mode_is_named(msprobe, files, typed):
    line = compare_error(msprobe, files, "-m", typed, code="E5005", mentions=[f"'{typed}'"])
    assert "verl" in line.lower() or "custom" in line


def test_mode_names_match_without_regard_to_case_and_dashes(msprobe, files):
    for mode in ("verl", "VERL", "veRL", "ver-l".replace("-", "")):
        assert msprobe.compare(files / "ref.npy", files / "target.npy", "-m", mode).code == 0


@pytest.mark.parametrize("options,mentions", [
    (["--error-threshold", "abc"], ["abc", "--error-threshold"]),
    (["--error-threshold", "-1"], ["-1"]),
    (["--error-threshold", "nan"], ["nan"]),
    (["--error-threshold", "1e-5x"], ["1e-5x"]),
    (["--error-threshold", ""], []),
    (["-j", "0"], ["-j"]),
    (["-j", "abc"], ["abc"]),
    (["-j", "100000"], ["-j"]),
    (["-v", "9"], ["-v"]),
    (["-v", "x"], ["x"]),
    (["--shape", "2,x"], ["2,x", "--shape"]),
    (["--shape", "2,-3"], ["2,-3"]),
    (["--shape", "2,,3"], ["2,,3"]),
    (["--dtype", "flout32"], ["flout32"]),
    (["--dtype-map", "V2"], ["V2"]),
    (["--dtype-map", "V2=xf16"], ["xf16"]),
    (["--noise-dtype", "i8"], ["--noise-dtype"]),
    (["--noise-dtype", "bf17"], ["bf17", "bf16"]),
    (["--fail-on", "sometimes"], ["sometimes", "warn"]),
    (["--compare-mode", "elementwise"], ["elementwise", "layerwise"]),
    (["--color", "blue"], ["blue", "never"]),
    (["--lang", "fr"], ["fr", "zh"]),
    (["-o", "report.pdf"], [".pdf", ".json"]),
    (["-o", "report"], ["report", ".json"]),
    (["--atol", "x"], ["atol"]),
])
def test_a_value_that_makes_no_sense_is_refused(msprobe, files, options, mentions):
    compare_error(msprobe, files, *options, code="E6002", mentions=mentions)


@pytest.mark.parametrize("options,mentions", [
    (["--nan", "maybe"], ["maybe", "equal"]),
    (["--saturate=i8"], ["i8"]),
    (["--atol", "-1"], ["--atol"]),
    (["--rtol", "-1"], ["--rtol"]),
])
def test_a_value_that_the_analyzer_refuses_is_an_error_before_anything_is_compared(msprobe, files, options, mentions):
    compare_error(msprobe, files, *options, code="E6002", mentions=mentions)


@pytest.mark.parametrize("arguments,mentions", [
    ([], ["reference", "-r"]),
    (["-r", "ref.npy"], ["target", "-t"]),
    (["-t", "target.npy"], ["reference", "-r"]),
    (["-r"], ["reference"]),
    (["-r", "ref.npy", "-t", "target.npy", "-m"], ["mode"]),
])
def test_what_is_missing_is_named(msprobe, files, arguments, mentions):
    msprobe.error("compare", *arguments, code="E6002", mentions=mentions, cwd=files)


def test_a_stray_word_is_refused(msprobe, files):
    compare_error(msprobe, files, "third.npy", code="E6001", mentions=["third.npy"])


def test_an_option_twice_is_refused(msprobe, files):
    compare_error(msprobe, files, "-r", "ref.npy", code="E6002", mentions=["reference"])


@pytest.mark.parametrize("file,code", [("missing.json", "E1003"), ("wrong.json", "E6003"), ("limits.json", "E6003")])
def test_a_threshold_file_that_makes_no_sense_is_refused(msprobe, files, file, code):
    compare_error(msprobe, files, "--thresholds", file, code=code, mentions=[file])


def test_a_metric_that_does_not_exist_names_the_nearest(msprobe, files):
    compare_error(msprobe, files, "--thresholds", "limits.json", code="E6003", mentions=["cosin", "cosine"])


def test_without_a_command_the_usage_is_printed(msprobe):
    run = msprobe()
    assert run.code == 2 and run.out == "" and "Usage: msprobe COMMAND" in run.err
    for flag in ("--help", "-h", "help"):
        run = msprobe(flag)
        assert run.code == 0 and run.err == "" and "compare" in run.out and "register_plugin" in run.out


@pytest.mark.parametrize("command", ["compare", "plugins", "register_plugin", "unregister_plugin", "explain"])
def test_every_command_has_help(msprobe, command):
    run = msprobe(command, "--help")
    assert run.code == 0 and run.err == "" and f"msprobe {command}" in run.out


def test_help_of_compare_lists_the_options_of_the_analyzer(msprobe):
    assert "--saturate" in msprobe("compare", "--help").out
    other = msprobe("compare", "-m", "custom", "--help").out
    assert "--limit" in other and "--saturate" not in other


def test_version_is_printed(msprobe):
    run = msprobe("--version")
    assert run.code == 0 and run.out.startswith("msprobe 1.")


@pytest.mark.parametrize("epoch", ["99999999999999999999", "9223372036854775807", "abc", "", "1e9", "-5"])
def test_a_source_date_epoch_that_is_no_date_is_refused(msprobe, files, epoch):
    msprobe.error("compare", "-r", "ref.npy", "-t", "target.npy", code="E6002", mentions=["SOURCE_DATE_EPOCH"], cwd=files,
                  SOURCE_DATE_EPOCH=epoch)


def test_a_threshold_file_that_is_a_pipe_or_a_folder_is_refused_at_once(msprobe, files, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        compare_error(msprobe, files, "--thresholds", path, code="E6003", mentions=[path])


def test_the_same_output_twice_is_written_once(msprobe, files):
    run = msprobe("compare", "-r", "ref.npy", "-t", "target.npy", "-o", "-", "-o", "-", cwd=files)
    assert json.loads(run.out)["schema"] == "msprobe.report/1"
