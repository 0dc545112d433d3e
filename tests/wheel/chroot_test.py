#!/usr/bin/python3
"""The packages on bare Debian 12 and 13, without any -dev package: chroot_test.py DIST. Needs root, debootstrap and a mirror."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from built import Built, skip, write_search

BUILT = Built(sys.argv.pop(1))
if os.geteuid() != 0:
    skip("only root can change its root")
if not shutil.which("debootstrap"):
    skip("debootstrap is missing (scripts/setup wheel)")


class Chroot(unittest.TestCase):
    def search(self, suite):
        with tempfile.TemporaryDirectory(prefix="hpsearch-wheel-") as scratch:
            root = pathlib.Path(scratch) / suite
            made = subprocess.run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, root],
                                  capture_output=True, text=True, check=False)
            if made.returncode != 0:
                self.skipTest(f"{suite} can't be had: {made.stdout[-300:]}{made.stderr[-300:]}")
            write_search(root / "search")
            for wheel in (BUILT.programs, BUILT.client):
                shutil.copy(wheel, root / "search")
            # A PID namespace of its own: what a failed search left over ends with it.
            run = subprocess.run(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot", root, "sh", "-ec",
                 "mount -t proc proc /proc; python3 -m venv /venv; cd /search; /venv/bin/pip install --quiet --no-index *.whl; "
                 "PATH=/venv/bin:$PATH HOME=/root hpsearch run search.yaml -o json"],
                capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("COMPLETED", run.stdout)

    def test_a_search_ends_on_debian_12(self):
        self.search("bookworm")

    def test_a_search_ends_on_debian_13(self):
        self.search("trixie")


if __name__ == "__main__":
    unittest.main()
