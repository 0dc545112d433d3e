#!/usr/bin/python3
"""Reads what CTest and Ninja recorded of a build folder. scripts/test and scripts/timings use it.

    ctest … --output-junit BUILD/tests.xml --test-output-size-passed 10000000 --test-output-size-failed 10000000
    test_records.py outcome BUILD    `passed N`, `failed N`, then a line for each test that failed, was skipped (wholly or in
                                     part) or, of those that carry promises about failing machines, was not proved
    test_records.py retry BUILD      the failed tests as a pattern for `ctest -R`, when all of them may have failed by chance;
                                     exits with 1 when one of them may not

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

# What real processes on a busy machine fail by chance is tried again alone. Not so a judgement that something was lost or
# came twice, unless all it says is that it waited in vain or how long something took; and of the store, nothing.
BY_CHANCE = {"shell", "e2e", "clients"}
ABOUT_TIME = {"e2e_log_flood", "e2e_kill_ladder"}
OF_THE_STORE = re.compile(r"(Committer|SqliteStore|StoreExecutor|FailingDisk|DaemonProcess\.Acknowledged)")


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
    return [Test(element) for element in xml.etree.ElementTree.parse(pathlib.Path(build) / "tests.xml").iter("testcase")]


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


def may_be_chance(test, its_labels):
    if not its_labels & BY_CHANCE or any(OF_THE_STORE.search(name) for name in test.names("FAILED")):
        return False
    if "under_fire" not in its_labels or test.name in ABOUT_TIME:
        return True
    return all("AssertionError: waited " in line for line in test.output.splitlines() if "AssertionError" in line)


def retry(build):
    of = labels(build)
    failed = [test for test in read(build) if test.failed]
    if not failed or not all(may_be_chance(test, of.get(test.name, set())) for test in failed):
        raise SystemExit(1)
    print("^(" + "|".join(re.escape(test.name) for test in failed) + ")$")


if __name__ == "__main__":
    {"outcome": outcome, "retry": retry}[sys.argv[1]](pathlib.Path(sys.argv[2]))
