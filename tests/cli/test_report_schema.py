"""Every JSON report follows docs/report.schema.json."""
import json
import os
import pathlib
import subprocess

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MSPROBE", ROOT / "build/release/bin/msprobe")).resolve().parents[1]
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())


def sample(name, path):
    """A made-up report, written by the test program."""
    program = BUILD / "bin" / "test_report"
    env = dict(os.environ, MSPROBE_SAMPLE=name, MSPROBE_SAMPLE_OUT=str(path))
    subprocess.run([program, "--no-skip", "-tc=write a sample report"], env=env, check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_schema_itself_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", ["small", "equal", "empty", "single", "hostile", "200"])
def test_a_written_report_follows_the_schema(name, tmp_path):
    report = sample(name, tmp_path / "report.json")
    jsonschema.Draft202012Validator(SCHEMA).validate(report)


def test_the_schema_describes_every_key_that_is_written(tmp_path):
    report = sample("small", tmp_path / "report.json")
    definitions = SCHEMA["$defs"]
    assert set(report) == set(SCHEMA["properties"])
    assert set(report["summary"]) == set(definitions["summary"]["properties"])
    assert set(report["summary"]["first_bad"]) == set(definitions["first_bad"]["properties"])
    assert set(report["inputs"]["target"]) == set(definitions["input"]["properties"])
    for row in report["rows"]:
        assert set(row) == set(definitions["row"]["properties"]) - {"analyzers"}  # only with several modes
        for side in filter(None, (row["reference"], row["target"])):
            assert set(side) == set(definitions["side"]["properties"])
    for finding in report["findings"]:
        assert set(finding) == set(definitions["finding"]["properties"])


def test_numbers_in_a_report_are_numbers_for_python(tmp_path):
    report = sample("small", tmp_path / "report.json")
    errors = [float(row["error"]) for row in report["rows"] if row["error"] is not None]
    assert 0.031 in errors and float("inf") in errors and any(error != error for error in errors)
