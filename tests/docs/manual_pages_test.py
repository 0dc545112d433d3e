"""Manual pages, help and completion have the same options, man reads the pages without a warning, and hpsearch-env(7) has the
variables of the sources."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import manual_pages
from manual_pages import MAN, PROGRAMS, ROOT

BIN = pathlib.Path(os.environ["E2E_BIN_DIR"])
SOURCES = ("apps", "workers", "io", "jobs", "clients/python/hpsearch")
# Variables between our own processes, and for tests.
NOT_FOR_USERS = {"HPSEARCH_SPARE", "HPSEARCH_LOADS_FUNCTION", "HPSEARCH_FUNCTION_DIRECTORY", "HPSEARCH_HARNESS_DIR", "HPSEARCH_HARNESS_NODES",
                 "HPSEARCH_DEVICE_ROOT", "HPSEARCH_UTILIZATION_INTERVAL"}


def output_of(*words):
    return subprocess.run([BIN / words[0], *words[1:]], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def options_of_help(*words):
    names = set()
    for line in output_of(*words, "--help").splitlines():
        if found := re.match(r" {2,4}(?:[A-Z_]+,)?((?:-\w,)?--[a-z][\w-]*(?:,--[\w-]+)*)", line):
            names |= {name for name in found[1].split(",") if name.startswith("--")}
    return names


def options_of_page(text):
    return {name.replace("\\-", "-") for name in re.findall(r"\\fB(\\-\\-[\w\\-]+?)\\fR", text)}


class ManualPagesTest(unittest.TestCase):
    def test_help_page_and_completion_have_the_same_options(self):
        tree = manual_pages.described(BIN, "hpsearch")
        for name, commands in manual_pages.command_pages(tree).items():
            page = (MAN / "man1" / f"hpsearch-{name}.1").read_text()
            for called, _ in commands:
                with self.subTest(command=called):
                    words = called.split(" ")
                    of_help = options_of_help(*words)
                    self.assertIn("--help", of_help)
                    completed = output_of("hpsearch", "__complete", *words[1:], "--").splitlines()
                    self.assertEqual({line.partition("\t")[0] for line in completed}, of_help)
                    section = page.partition(f"\n.SS {called}\n")[2].partition("\n.SS ")[0].partition("\n.SH ")[0]
                    # Others may stand there as what an option needs or excludes.
                    self.assertLessEqual(of_help, options_of_page(section))

    def test_arguments_that_are_files_are_completed_as_files(self):
        kinds = {"FILE": ":files", "STORE": ":directories", "STATE_DIR": ":directories", "DIR": ":directories"}
        tree = manual_pages.described(BIN, "hpsearch")
        for called, command in manual_pages.every_command(tree["commands"]):
            first = next(iter(manual_pages.arguments_of(command)), None)
            if first and first["argument"] in kinds:
                with self.subTest(command=called):
                    completed = output_of("hpsearch", "__complete", *called.split(" ")[1:], "").splitlines()
                    self.assertEqual(completed, [kinds[first["argument"]]])

    def test_help_and_page_of_programs_have_the_same_options(self):
        for program, section in (PROGRAMS | {"hpsearch": 1}).items():
            with self.subTest(program=program):
                page = (MAN / f"man{section}" / f"{program}.{section}").read_text()
                self.assertLessEqual(options_of_help(program), options_of_page(page))

    def test_man_reads_them_without_a_warning(self):
        if shutil.which("man") is None:
            self.skipTest("man is not installed; scripts/setup test installs it")
        for path in sorted(MAN.glob("man*/*")):
            with self.subTest(page=path.name):
                done = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True, check=True,
                                      env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
                self.assertEqual(done.stderr, "")
                self.assertIn("NAME", done.stdout)

    def test_the_page_of_variables_has_those_of_the_sources(self):
        literal = re.compile(r"[\"']((?:HPSEARCH)_[A-Z_]+)")
        found = set()
        for top in SOURCES:
            for path in (ROOT / top).rglob("*"):
                if path.suffix in (".cpp", ".hpp", ".py"):
                    found |= set(literal.findall(path.read_text()))
        page = set(re.findall(r"\\fB(HPSEARCH_[A-Z_]+)\\fR", (MAN / "man7" / "hpsearch-env.7").read_text()))
        # "HPSEARCH_HP_" in a source is the beginning of names: HPSEARCH_HP_NAME on the page.
        named = {name for name in found if name in page or name.endswith("_") and any(one.startswith(name) for one in page)}
        self.assertEqual(found - named - NOT_FOR_USERS - {"HPSEARCH_"}, set(), "the page lacks variables")
        self.assertEqual({one for one in page if one not in found and not any(name.endswith("_") and name != "HPSEARCH_" and one.startswith(name)
                                                                            for name in found)}, set(), "the sources lack variables")


if __name__ == "__main__":
    unittest.main()
