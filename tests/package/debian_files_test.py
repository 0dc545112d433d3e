#!/usr/bin/python3
"""Each file that a build installs is in exactly one Debian package: debian_files_test.py CMAKE BUILD_DIR

scripts/package would find a file without a package, too, but only after it has compiled everything.
"""

import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1:]
ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = ROOT / "deploy" / "debian"


def lists():
    """Package to the lines of its .install file, (source, destination); the destination is None for files that are installed where
    they shall be. A source below usr/ is an installed file, any other is a file of the project."""
    for path in sorted(DEBIAN.glob("*.install")):
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        yield path.stem, [(words[0], words[1] if len(words) > 1 else None) for words in lines]


def is_installed(pattern):
    return pattern.startswith("usr/")


def fits(path, pattern):
    # The folder of a Debian architecture, which a build elsewhere leaves out.
    pattern = pattern.replace("usr/lib/*/", "usr/lib/")
    return fnmatch.fnmatchcase(path, pattern) or path.startswith(pattern + "/")


class DebianFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as scratch:
            for component in ("runtime", "devel"):
                subprocess.run([CMAKE, "--install", BUILD, "--prefix", "/usr", "--component", component], check=True, capture_output=True,
                               env={**os.environ, "DESTDIR": scratch})
            libraries = [path for path in pathlib.Path(scratch, "usr", "lib").glob("*-linux-gnu") if path.is_dir()]
            cls.installed = set()
            for path in pathlib.Path(scratch).rglob("*"):
                if not path.is_dir() or path.is_symlink():
                    name = str(path.relative_to(scratch))
                    for folder in libraries:
                        name = name.replace(f"usr/lib/{folder.name}/", "usr/lib/")
                    cls.installed.add(name)

    def test_each_installed_file_is_in_one_package(self):
        self.assertIn("usr/bin/hpsearchd", self.installed)
        for path in sorted(self.installed):
            packages = [package for package, lines in lists() if any(is_installed(pattern) and fits(path, pattern) for pattern, _ in lines)]
            self.assertEqual(len(packages), 1, f"{path} is in {packages or 'no package'}: name it in deploy/debian/PACKAGE.install")

    def test_each_line_names_files(self):
        for package, lines in lists():
            for pattern, _ in lines:
                there = any(fits(path, pattern) for path in self.installed) if is_installed(pattern) else (ROOT / pattern).exists()
                self.assertTrue(there, f"deploy/debian/{package}.install: there is no {pattern}")

    def test_examples_and_documents_exist(self):
        for path in sorted([*DEBIAN.glob("*.examples"), *DEBIAN.glob("*.docs")]):
            for line in path.read_text(encoding="utf-8").split():
                self.assertTrue((ROOT / line).exists(), f"{path.name}: there is no {line}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
