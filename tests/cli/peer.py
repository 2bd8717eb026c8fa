"""Reads what Ascend msprobe printed beside a sample pair: csv, or xlsx by the standard library alone."""
import csv
import re
import xml.etree.ElementTree
import zipfile

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def column_of(reference):
    """"AB12" -> 27."""
    number = 0
    for letter in re.match("[A-Z]+", reference)[0]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def read_xlsx(path):
    with zipfile.ZipFile(path) as book:
        shared = []
        if "xl/sharedStrings.xml" in book.namelist():
            for item in xml.etree.ElementTree.fromstring(book.read("xl/sharedStrings.xml")).iter(SHEET + "si"):
                shared.append("".join(text.text or "" for text in item.iter(SHEET + "t")))
        rows = []
        for row in xml.etree.ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(SHEET + "row"):
            cells = {}
            for cell in row.iter(SHEET + "c"):
                value = cell.find(SHEET + "v")
                text = "" if value is None else value.text or ""
                if cell.get("t") == "s":
                    text = shared[int(text)]
                elif cell.get("t") == "b":
                    text = "True" if text == "1" else "False"
                elif cell.get("t") == "inlineStr":
                    text = "".join(part.text or "" for part in cell.iter(SHEET + "t"))
                cells[column_of(cell.get("r"))] = text
            rows.append([cells.get(i, "") for i in range(max(cells) + 1)] if cells else [])
    return [dict(zip(rows[0], row + [""] * (len(rows[0]) - len(row)))) for row in rows[1:]]


def read_table(path):
    """A list of dicts by the titles of the columns."""
    if path.suffix == ".xlsx":
        return read_xlsx(path)
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))
