#!/usr/bin/python3
"""Reads what CTest and Ninja recorded of a build folder. scripts/test and scripts/timings use it.

    ctest … --output-junit BUILD/tests.xml (and BUILD/tests-early.xml) --test-output-size-passed 10000000 --test-output-size-failed 10000000
    test_records.py outcome BUILD    `passed N`, `failed N`, then a line for each test that failed, was skipped (wholly or in
                                     part) or, of those that carry promises about failing machines, was not proved
    test_records.py retry BUILD LIST  the failed tests as a pattern for `ctest -R`, if LIST (tests/flaky.txt) has all of
                                     them; exits with 1 if one is missing there

A test of CTest that is a GoogleTest program counts as all the tests in it.
"""

import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

CASE = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\w[\w./]*)[^\n]*? \((\d+) ms\)$", re.MULTILINE)
STARTED = re.compile(r"^\[ RUN +\] (\S+)$", re.MULTILINE)

UNSTEADY = re.compile(r"(\S+) (\d{4}-\d\d-\d\d) (\S.*)")


class Test:
    """One test of CTest, as its last run left it."""

    def __init__(self, element):
        self.name, self.seconds = element.get("name"), float(element.get("time"))
        self.output = element.findtext("system-out") or ""
        skipped = element.find("skipped")  # Also a program that is not there.
        self.skipped = skipped is not None and skipped.get("message", "").upper().startswith("SKIP")
        self.failed = element.get("status") != "run" and not self.skipped
        ended = {case: (outcome, int(ms) / 1000) for outcome, case, ms in CASE.findall(self.output)}
        # What began and did not end has ended its program.
        self.cases = {case: ended.get(case, ("FAILED", 0.0)) for case in STARTED.findall(self.output)}

    def names(self, outcome):
        """Of the tests in it that ended so, with the name of the program where none is named."""
        found = [f"{self.name}: {case}" for case, (how, _) in self.cases.items() if how == outcome]
        return found or ([self.name] if (self.failed if outcome == "FAILED" else self.skipped) else [])

    def count(self):
        """(passed, failed); what was skipped is neither."""
        failed = len(self.names("FAILED")) or int(self.failed)
        return max(len(self.cases), 1) - failed - len(self.names("SKIPPED")), failed


def read(build):
    files = [pathlib.Path(build) / name for name in ("tests-early.xml", "tests.xml")]
    return [Test(element) for file in files if file.exists() for element in xml.etree.ElementTree.parse(file).iter("testcase")]


def labels(build):
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True, text=True)
    tests = json.loads(shown.stdout)["tests"]
    return {test["name"]: {label for each in test.get("properties", []) if each["name"] == "LABELS" for label in each["value"]}
            for test in tests}


def outcome(build):
    tests, of = read(build), labels(build)
    counts = [test.count() for test in tests]
    print(f"passed {sum(passed for passed, _ in counts)}")
    print(f"failed {sum(failed for _, failed in counts)}")
    for test in tests:
        for name in test.names("FAILED"):
            print(f"FAILED: {name}")
        for name in test.names("SKIPPED"):
            fire = "under_fire" in of.get(test.name, ())
            print(f"NOT PROVED ON THIS MACHINE (run it to see why): {name}" if fire else f"skipped, wholly or in part: {name}")


def flaky(path):
    """The names of tests in the list; each has a date and a reason."""
    names = set()
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            entry = UNSTEADY.fullmatch(line.strip())
            if not entry:
                raise SystemExit(f"{path}:{number}: a line is NAME YYYY-MM-DD REASON, not: {line}")
            names.add(entry.group(1))
    return names


def retry(build, path):
    failed = [test for test in read(build) if test.failed]
    if not failed or not {test.name for test in failed} <= flaky(path):
        raise SystemExit(1)
    print("^(" + "|".join(re.escape(test.name) for test in failed) + ")$")


if __name__ == "__main__":
    {"outcome": outcome, "retry": retry}[sys.argv[1]](pathlib.Path(sys.argv[2]), *sys.argv[3:])
