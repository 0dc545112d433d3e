#!/usr/bin/python3
"""Most programs of the wheel are one file (apps/programs/src/one_file.cpp); each runs as what its name says: names_test.py DIST"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from built import Built, environment, interpreters, plain_environment

BUILT = Built(sys.argv.pop(1))
PATIENCE_SECONDS = 60


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="hpsearch-wheel-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.scripts = environment(list(interpreters().values())[-1], cls.folder / "venv", BUILT)
        cls.surroundings = plain_environment(cls.folder / "home", cls.scripts)
        cls.programs = pathlib.Path(cls.run_it(cls.scripts / "python3", "-c", "import hpsearch; print(hpsearch.programs())").strip())

    @classmethod
    def run_it(cls, *words, expect=0, **more):
        done = subprocess.run([str(word) for word in words], env=cls.surroundings, capture_output=True, text=True, check=False,
                              **more)
        assert done.returncode == expect, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def test_each_program_answers_as_itself(self):
        for name in ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-report"):
            for place in (self.scripts, self.programs):
                self.assertRegex(self.run_it(place / name, "--help"), rf"\nUsage: {name} \[OPTIONS\]", place)

    def test_a_link_of_another_name_starts_what_it_leads_to(self):
        link = self.folder / "link"
        link.symlink_to(self.programs / "hpsearchd")
        self.assertIn("\nUsage: hpsearchd [OPTIONS]", self.run_it(link, "--help"))

    def test_the_host_of_determined_takes_no_arguments(self):
        self.assertIn("hpsearch-worker starts this", self.run_it(self.programs / "hpsearch-determined", "x", expect=2))

    def test_a_worker_that_starts_its_own_file_lists_devices(self):
        listed = self.run_it("/proc/self/exe", "--list-devices", executable=self.programs / "hpsearch")
        self.assertIsInstance(json.loads(listed), dict)

    def test_process_lists_show_the_program(self):
        daemon = subprocess.Popen([self.programs / "hpsearchd", "--state-dir", self.folder / "state"], env=self.surroundings,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + PATIENCE_SECONDS
            while not (self.folder / "state" / "api.sock").exists() and time.monotonic() < until:
                time.sleep(0.05)
            self.assertEqual(pathlib.Path(f"/proc/{daemon.pid}/comm").read_text(encoding="utf-8"), "hpsearchd\n")
        finally:
            daemon.terminate()
            self.assertEqual(daemon.wait(PATIENCE_SECONDS), 0)


if __name__ == "__main__":
    unittest.main()
