#!/usr/bin/python3
"""What the programs of the wheel ask of a machine: symbols_test.py DIST"""

import pathlib
import sys
import tempfile
import unittest
import zipfile

from built import ROOT, Built

sys.path.insert(0, str(ROOT / "tests" / "package"))
import elf

BUILT = Built(sys.argv.pop(1))
LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
NEWEST_GLIBC = (2, 34)


class Symbols(unittest.TestCase):
    def test_programs_ask_for_the_c_library_alone_and_for_nothing_newer_than_2_34(self):
        looked_at = 0
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(BUILT.programs).extractall(folder)
            for path in sorted(pathlib.Path(folder).rglob("*")):
                if not path.is_file() or not elf.is_elf(path):
                    continue
                looked_at += 1
                for library, versions in elf.Elf(path).needed_versions().items():
                    self.assertIn(library, LIBRARIES, path.name)
                    for version in versions:
                        if version.startswith("GLIBC_2"):
                            self.assertLessEqual(tuple(map(int, version[6:].split(".")[:2])), NEWEST_GLIBC, path.name)
        self.assertGreaterEqual(looked_at, 7)


if __name__ == "__main__":
    unittest.main()
