"""The commands that CONTRIBUTING and docs/testing show are true: their scripts, presets, tests and files exist, and a simulation
that they show runs (for one seed).

    python3 tests/docs/commands_test.py BUILD     the folder of a build with its tests
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build" / "dev")
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "testing").glob("*.md"))]
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def commands(page):
    for language, block in BLOCK.findall(page.read_text()):
        if language not in ("", "sh"):
            continue
        for line in block.splitlines():
            for command in line.partition("  #")[0].split("&&"):
                words = shlex.split(command, comments=True)
                while words and re.match(r"[A-Z_]+=", words[0]):  # A variable for the command behind it.
                    del words[0]
                if words:
                    yield words


def option(words, name):
    return words[words.index(name) + 1] if name in words else None


def output_of(*words):
    done = subprocess.run([str(word) for word in words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, words))}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Commands(unittest.TestCase):
    def test_all_that_are_shown_are_true(self):
        for page in PAGES:
            for words in commands(page):
                with self.subTest(page=page.name, command=shlex.join(words)):
                    self.check(words)

    def check(self, words):
        program = words[0]
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        if preset := option(words, "--preset"):
            kind = {"cmake": "configurePresets", "ctest": "testPresets"}[program]
            self.assertIn(preset, [each["name"] for each in presets[kind]])
        if program == "ctest":
            chosen = [word for flag in ("-R", "-L") if flag in words for word in (flag, option(words, flag))]
            shown = json.loads(output_of("ctest", "--test-dir", BUILD, "--show-only=json-v1", *chosen))
            self.assertTrue(shown["tests"], "no test matches")
        elif program == "cmake":
            if target := option(words, "--target"):
                self.assertIn(f"{target}:", output_of("cmake", "--build", BUILD, "--target", "help"))
        elif program == "hpsearch-sim" or program.endswith("/hpsearch-sim"):
            self.simulate(words[1:])
        elif program in ("python3", "node"):
            self.assertTrue((ROOT / words[1]).exists())
        elif program == "npm":
            script = words[4] if words[3] == "run" else words[3]
            self.assertIn(script, json.loads((ROOT / words[2] / "package.json").read_text())["scripts"])
        elif program.startswith("build/"):
            path = BUILD / pathlib.Path(*pathlib.Path(program).parts[2:])
            self.assertTrue(path.exists(), f"{path} was not built")
            if any(word.startswith("--gtest_filter=") for word in words):
                self.assertTrue(output_of(path, "--gtest_list_tests", *words[1:]), "no test matches")
        else:
            self.assertTrue(program.startswith("scripts/"), f"nobody checks {program}")
            self.assertTrue((ROOT / program).stat().st_mode & 0o100, f"{program} is no program")

    def simulate(self, arguments):
        if (BUILD / "bin" / "hpsearch-sim").exists():
            arguments = [re.sub(r"\.\..*", "", each) if re.match(r"\d+\.\.\d+$", each) else each for each in arguments]
            output_of(BUILD / "bin" / "hpsearch-sim", *arguments)


if __name__ == "__main__":
    unittest.main()
