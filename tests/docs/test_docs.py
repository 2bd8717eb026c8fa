"""docs/ and the READMEs against the program: what they list is what there is, and what they show is what it prints."""
import os
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PROGRAM = os.environ.get("MSPROBE") or str(ROOT / "build/release/bin/msprobe")
PAGES = sorted(DOCS.glob("*.md")) + [ROOT / "README.md", ROOT / "README.zh-CN.md", ROOT / "third_party/README.md"]


@pytest.fixture
def msprobe(tmp_path):
    """Runs the program without the user's plugins and settings; returns what it printed."""
    def run(*arguments, cwd=None):
        env = {"PATH": os.environ.get("PATH", ""), "HOME": str(tmp_path), "MSPROBE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, cwd=cwd, env=env, timeout=60)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()
    return run


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def without_spaces(text):
    return re.sub(r"\s", "", text)


def code_spans(text):
    return set(re.findall(r"`([^`\n]+)`", text))


def test_every_error_code_has_its_title_and_text_in_both_languages(msprobe):
    sections = dict(re.findall(r"^### (E\d{4})\n(.*?)(?=^##|\Z)", page("errors.md"), re.S | re.M))
    codes = {line[:5] for line in msprobe("explain").splitlines()}
    assert codes and set(sections) == codes
    for code in sorted(codes):
        for language in ("en", "zh"):
            title, text = msprobe("explain", code, "--lang", language).split("\n\n", 1)
            assert f"**{title[len(code):].strip()}**" in sections[code].splitlines(), (code, language)
            assert without_spaces(text) in without_spaces(sections[code]), (code, language)


def flags_of(help_text):
    """Both names of each option that a line of help begins with."""
    return {flag for line in help_text.splitlines() if re.match(r"  -", line)
            for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", line[:34])}


def test_every_flag_of_compare_is_listed(msprobe):
    flags = flags_of(msprobe("compare", "--help"))
    assert {"-r", "--reference", "--thresholds", "--exact"} <= flags
    text = page("commands.md")
    missing = {flag for flag in flags if not re.search(rf"`{flag}[ `=]", text)}
    assert not missing


def test_no_flag_of_compare_is_listed_that_does_not_exist(msprobe):
    section = page("commands.md").split("## compare")[1].split("### Examples")[0]
    listed = {flag for row in re.findall(r"^\| (`-.*?) \|", section, re.M) for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", row)}
    assert listed <= flags_of(msprobe("compare", "--help"))


def test_every_command_is_listed(msprobe):
    commands = re.findall(r"^  ([a-z_]+) {2,}", msprobe("--help"), re.M)
    assert "compare" in commands
    for command in commands:
        assert re.search(rf"^## .*\b{command}\b", page("commands.md"), re.M), command


def test_every_column_of_verl_is_explained(msprobe):
    verl = re.split(r"^veRL ", msprobe("plugins", "-v"), flags=re.M)[1].split("  columns:\n")[1]
    columns = re.match(r"(?:    .*\n)+", verl)[0]
    names = re.findall(r"^    ([a-z]\w*)", columns, re.M)
    assert len(names) > 40
    assert not set(names) - code_spans(page("metrics.md"))


def test_every_row_that_says_nothing_is_listed():
    source = (ROOT / "host/pair/ignored_rows.cpp").read_text(encoding="utf-8")
    reasons = dict(re.findall(r'constexpr std::string_view (\w+) = "([^"]*)"', source))
    rows = {(op, direction, "all" if slots == "*" else slots, reason.strip('"') if reason[0] == '"' else reasons[reason])
            for op, direction, slots, reason in
            re.findall(r'IgnoredRow\{"([^"]+)",\s*Direction::(\w+),\s*"([^"]+)",\s*("[^"]*"|\w+)\}', source)}
    listed = set(re.findall(r"^\| `(\w+)` \| (\w+) \| (\S+) \| (.+?) \|$", page("ignored-rows.md"), re.M))
    assert len(rows) > 20 and listed == rows


def anchors(text):
    """Headings as GitHub and Gitee name them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.M)}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name if path.parent != ROOT / "third_party" else "third_party")
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_readme_shows_what_quickstart_prints(readme, msprobe, tmp_path):
    """The compare command of examples/quickstart.sh itself; installing and building print what the machine lacks."""
    script = (ROOT / "examples/quickstart.sh").read_text(encoding="utf-8").replace("\\\n", " ")
    command = shlex.split(re.search(r"^build/release/bin/msprobe (.*)$", script, re.M)[1])
    (tmp_path / "examples/out").mkdir(parents=True)
    (tmp_path / "examples/data").symlink_to(ROOT / "examples/data")
    printed = msprobe(*command, cwd=tmp_path)
    block = re.search(r"```\n\$ examples/quickstart.sh\n(.*?)```", (ROOT / readme).read_text(encoding="utf-8"), re.S)[1]
    assert block.endswith(printed), printed


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_readme_counts_the_tests_that_there_are(readme):
    build = pathlib.Path(PROGRAM).resolve().parents[1]
    if not (build / "CTestTestfile.cmake").exists():
        pytest.skip("the program is not in a build tree with tests")
    listed = subprocess.run(["ctest", "-N", "--test-dir", build], capture_output=True, text=True, timeout=60).stdout
    there = int(re.search(r"^Total Tests: (\d+)$", listed, re.M)[1])
    told = int(re.search(r"^100% tests passed, 0 tests failed out of (\d+)$", (ROOT / readme).read_text(encoding="utf-8"), re.M)[1])
    assert told == there


def test_both_readmes_have_the_same_commands_and_links():
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md"))
    blocks = [re.findall(r"^(?: {4}|\$ )(\S.*)$", text, re.M) for text in (english, chinese)]
    assert [line.split("#")[0].strip() for line in blocks[0]] == [line.split("#")[0].strip() for line in blocks[1]]
    links = [sorted(link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("README")) for text in (english, chinese)]
    assert links[0] == links[1]
