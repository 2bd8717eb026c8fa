"""Every code that the program can print is explained, in two languages, and listed in docs/errors.md."""
import re

import pytest

from conftest import ROOT

CODE = re.compile(r'"(E[1-6][0-9]{3})"')


def codes_of_sources():
    codes = {}
    for folder in ("host", "sdk", "plugins"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".h", ".hpp", ".c") and path.name != "error_catalogue.cpp":
                for code in CODE.findall(path.read_text()):
                    codes.setdefault(code, path.relative_to(ROOT))
    return codes


CATALOGUE = sorted(set(CODE.findall((ROOT / "host/base/error_catalogue.cpp").read_text())))
CHINESE = re.compile("[\u4e00-\u9fff]")


def test_every_code_in_the_sources_is_in_the_catalogue():
    codes = codes_of_sources()
    assert len(codes) > 20
    missing = {code: str(path) for code, path in codes.items() if code not in CATALOGUE}
    assert not missing


def test_codes_of_the_contract_are_there():
    assert {"E1001", "E2003", "E3005", "E4001"} <= set(CATALOGUE)


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_code_is_explained_in_english_and_chinese(msprobe, code):
    english, chinese = msprobe("explain", code), msprobe("explain", code, "--lang", "zh")
    for run in (english, chinese):
        assert run.code == 0 and run.err == "" and run.out.startswith(code)
        title, text = run.out.split("\n", 1)
        assert len(title) > len(code) + 4 and len(text.strip()) > 10
    assert not CHINESE.search(english.out) and len(CHINESE.findall(chinese.out)) > 10


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_code_is_listed_in_docs(code):
    assert code in (ROOT / "docs/errors.md").read_text(), f"docs/errors.md lacks {code}"


def test_docs_list_no_code_that_does_not_exist():
    assert set(re.findall("E[1-6][0-9]{3}", (ROOT / "docs/errors.md").read_text())) <= set(CATALOGUE)


def test_without_a_code_all_are_listed(msprobe):
    assert re.findall("^(E[0-9]{4})  ", msprobe("explain").out, re.MULTILINE) == CATALOGUE


def test_codes_are_read_in_any_case(msprobe):
    assert msprobe("explain", "e4002").out == msprobe("explain", "E4002").out


@pytest.mark.parametrize("code", ["E4099", "E9999", "E1", "hello"])
def test_an_unknown_code_is_an_error(msprobe, code):
    run = msprobe("explain", code)
    assert run.code == 2 and run.out == "" and code.upper() in run.err and re.match("msprobe: error E600[12]: ", run.err)


def test_the_language_is_that_of_the_environment(msprobe):
    assert CHINESE.search(msprobe("explain", "E4002", LC_ALL="zh_CN.UTF-8").out)
    assert CHINESE.search(msprobe("explain", "E4002", LC_ALL="", LANG="zh_CN.UTF-8").out)
    assert not CHINESE.search(msprobe("explain", "E4002", LC_ALL="", LANG="de_DE.UTF-8").out)
    assert not CHINESE.search(msprobe("explain", "E4002", "--lang", "en", LC_ALL="zh_CN.UTF-8").out)


def test_no_line_is_wider_than_a_terminal(msprobe):
    width = lambda line: sum(2 if CHINESE.match(letter) or letter in "：，。；（）、" else 1 for letter in line)
    for code in CATALOGUE:
        for language in ("en", "zh"):
            assert all(width(line) <= 80 for line in msprobe("explain", code, "--lang", language).out.splitlines()), code
