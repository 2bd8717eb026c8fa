"""`-m a,b`: several analyzers over the same pairs."""
import json
import pathlib

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIR = [str(ROOT / "examples/data/enc_eps" / side) for side in ("reference", "target")]


@pytest.fixture
def reports(msprobe):
    return {mode: json.loads(msprobe.compare(*PAIR, "-m", mode).out) for mode in ("veRL", "custom", "veRL,custom")}


def test_the_first_mode_keeps_its_names_and_the_others_are_prefixed(reports):
    names = {mode: [column["name"] for column in report["columns"]] for mode, report in reports.items()}
    assert names["veRL,custom"] == names["veRL"] + [f"custom.{name}" for name in names["custom"]]
    assert reports["veRL,custom"]["mode"] == "veRL,custom"


def test_each_mode_says_what_it_says_alone(reports):
    for both, verl, custom in zip(*(reports[mode]["rows"] for mode in ("veRL,custom", "veRL", "custom"))):
        for name, alone in (("veRL", verl), ("custom", custom)):
            told = both["analyzers"][name]
            assert [told[key] for key in ("verdict", "why", "threshold", "error")] == [alone[key] for key in ("verdict", "why", "threshold", "error")]
        assert both["metrics"] == {**verl["metrics"], **{f"custom.{name}": value for name, value in custom["metrics"].items()}}


def test_a_rows_verdict_is_the_worst_and_its_error_the_first_modes(reports):
    worse = ["skip", "pass", "warn", "error", "fail"]
    for row in reports["veRL,custom"]["rows"]:
        assert row["verdict"] == max((told["verdict"] for told in row["analyzers"].values()), key=worse.index)
        assert row["error"] == row["analyzers"]["veRL"]["error"]


def test_the_report_follows_the_schema_and_a_single_mode_has_no_such_key(reports):
    schema = json.loads((ROOT / "docs/report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(reports["veRL,custom"])
    assert not any("analyzers" in row for row in reports["veRL"]["rows"])


def test_options_of_each_mode_are_flags_and_isolation_changes_nothing(msprobe):
    options = ("-m", "custom,veRL", "--limit", "1e9", "--nan", "fail")
    here, apart = (json.loads(msprobe.compare(*PAIR, *options, "--isolate", isolate).out) for isolate in ("never", "always"))
    assert all(row["analyzers"]["custom"]["verdict"] in ("pass", "skip") for row in here["rows"])
    for report in (here, apart):
        for key in ("command", "started", "seconds"):
            del report[key]
    assert here == apart


def test_a_mode_named_twice_is_refused(msprobe):
    msprobe.error("compare", "-r", PAIR[0], "-t", PAIR[1], "-m", "veRL,verl", code="E6002", mentions=["veRL"])
