#!/usr/bin/python3
"""The packages for a user without rights whose home is read-only: noroot_test.py DIST. Needs root, to become that user."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from built import Built, environment, interpreters, plain_environment, skip, write_search

BUILT = Built(sys.argv.pop(1))
if os.geteuid() != 0:
    skip("only root can become nobody and mount a home")
if not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
    skip("unshare, setpriv or mount is missing")


class NoRoot(unittest.TestCase):
    def test_a_search_ends_for_nobody_with_a_read_only_home(self):
        python = interpreters().get("3.11") or next(iter(interpreters().values()))
        if str(python).startswith("/root/"):
            python = pathlib.Path("/usr/bin/python3")  # Which nobody may read.
        with tempfile.TemporaryDirectory(prefix="hpsearch-wheel-") as scratch:
            folder = pathlib.Path(scratch)
            folder.chmod(0o755)
            scripts = environment(python, folder / "venv", BUILT)
            surroundings = plain_environment(folder / "home", scripts)
            search = write_search(folder / "search")
            for path in (search, *search.iterdir()):
                shutil.chown(path, "nobody", "nogroup")
            run = subprocess.run(
                ["unshare", "--mount", "sh", "-c",
                 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && '
                 'exec setpriv --reuid nobody --regid nogroup --clear-groups "$@"', "sh", str(folder / "home"),
                 "env", "-i", *(f"{name}={value}" for name, value in surroundings.items()),
                 str(scripts / "hpsearch"), "run", "search.yaml", "-o", "json"],
                cwd=search, capture_output=True, text=True, timeout=300, check=False)
            if "permission denied" in run.stderr.lower() and "mount" in run.stderr:
                skip(f"nothing can be mounted here: {run.stderr.strip()}")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("COMPLETED", run.stdout)


if __name__ == "__main__":
    unittest.main()
