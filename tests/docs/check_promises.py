"""Each promise of the documentation has tests, and each test that is named exists.

    python3 tests/docs/check_promises.py [--write] TESTS_DIR PROMISES APPENDIX PAGE ...

A promise is a row of a table in a PAGE whose first cell is a letter and a number, such as D1. PROMISES lists the tests
of each. APPENDIX is written from both, by --write, and compared without it. A test that a page names itself, in
backticks, has to exist too.
"""

import collections
import pathlib
import re
import sys

NAMED = re.compile(r"`([A-Z]\w*\.[A-Z]\w*|\w+_test\.test_\w+)`")
ROW = re.compile(r"^\| ([A-Z]\d+) \| ([^|]+) \|", re.MULTILINE)
FAULT = re.compile(r'\{Fault::(\w+), "\1"')
CPP = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
PYTHON = re.compile(r"^ +def (test_\w+)\(", re.MULTILINE)
SHARED = re.compile(r"^from (\w+) import", re.MULTILINE)


def existing(tests):
    """Every test, with the file that defines it."""
    found = {}
    for source in sorted(tests.rglob("*.[ch]pp")):
        for suite, name in CPP.findall(source.read_text()):
            found.setdefault(f"{suite}.{name}", source)
    for source in sorted(tests.rglob("*_test.py")):
        text = source.read_text()
        shared = [source.parent / f"{module}.py" for module in SHARED.findall(text) if not module.endswith("_test")]
        for each in (source, *(module for module in shared if module.exists())):
            for name in PYTHON.findall(each.read_text()):
                found.setdefault(f"{source.stem}.{name}", each)
    faults = tests / "simulation" / "cluster" / "faults" / "faults.cpp"
    found |= {f"hpsearch-sim {name}": faults for name in FAULT.findall(faults.read_text())}
    return found


def promised(text):
    """The tests of each promise."""
    found, tests = {}, None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            tests.append(line.strip())
        elif line in found:
            raise SystemExit(f"{line} is listed twice")
        else:
            tests = found[line] = []
    return found


def appendix(rows, proofs, known, root):
    lines = ["# Tests of the guarantees", "",
             "Written by `tests/docs/check_promises.py --write` from `tests/docs/promises.txt`; don't edit this page. A name that",
             "starts with `hpsearch-sim` is a fault of the [cluster simulation](../testing/simulation.md).", ""]
    for page, promises in rows.items():
        lines += [f"## [{page.stem.replace('-', ' ').capitalize()}]({page.name})", ""]
        for number, what in promises:
            lines += [f"### {number}: {what}", ""]
            by_file = collections.defaultdict(list)
            for test in proofs.get(number, []):
                by_file[known.get(test)].append(test)
            for source, tests in by_file.items():
                where = source.relative_to(root) if source else "missing"
                lines.append(f"- {where}: " + ", ".join(f"`{test}`" for test in tests))
            lines.append("")
    return "\n".join(lines)


def main():
    arguments = sys.argv[1:]
    write = arguments[:1] == ["--write"]
    tests, promises, written, *pages = map(pathlib.Path, arguments[1 if write else 0:])
    known, proofs = existing(tests.resolve()), promised(promises.read_text())
    rows = {page: ROW.findall(page.read_text()) for page in pages}
    wrong = []
    numbers = [number for page in pages for number, _ in rows[page]]
    wrong += [f"{number} is the number of two rows" for number, count in collections.Counter(numbers).items() if count > 1]
    wrong += [f"{promises}: no row has the number {number}" for number in proofs if number not in numbers]
    wrong += [f"{number} has no test in {promises}" for number in numbers if not proofs.get(number)]
    wrong += [f"{page}: there is no promise in it" for page in pages if not rows[page]]
    wrong += [f"{promises}: {number}: there is no test {test}"
              for number, named in proofs.items() for test in named if test not in known]
    wrong += [f"{page}: there is no test {test}" for page in pages for test in NAMED.findall(page.read_text())
              if test not in known]
    text = appendix(rows, proofs, known, tests.resolve().parent)
    if write:
        written.write_text(text)
    elif not written.exists() or written.read_text() != text:
        wrong.append(f"{written} is not what --write makes of {promises}")
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"{len(numbers)} promises, {sum(map(len, proofs.values()))} tests")


if __name__ == "__main__":
    main()
