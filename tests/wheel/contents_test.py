#!/usr/bin/python3
"""What lies in the built packages: contents_test.py DIST"""

import base64
import csv
import hashlib
import io
import re
import sys
import unittest
import zipfile

from built import ROOT, Built

PROGRAMS = ["hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim", "hpsearch-report", "hpsearch-ranks",
            "hpsearch-determined"]
BUILT = Built(sys.argv.pop(1))


class Contents(unittest.TestCase):
    def setUp(self):
        self.programs = zipfile.ZipFile(BUILT.programs)
        self.client = zipfile.ZipFile(BUILT.client)

    def test_all_programs_lie_together_and_may_be_executed(self):
        for name in PROGRAMS:
            entry = self.programs.getinfo(f"hpsearch_programs/bin/{name}")
            self.assertEqual(entry.external_attr >> 16 & 0o111, 0o111, name)

    def test_nothing_was_grafted_beside_them(self):
        self.assertEqual([name for name in self.programs.namelist() if re.search(r"\.so(\.|$)", name)],
                         ["hpsearch_programs/lib/libhpsearch.so.0"])

    def test_licences_of_static_libraries_are_there(self):
        names = self.programs.namelist()
        for package in ("libzmq3-dev", "libssl-dev", "libsqlite3-dev", "libarchive-dev", "libsodium-dev"):
            self.assertIn(f"hpsearch_programs/licenses/{package}", names)
        self.assertTrue(any(name.endswith("licenses/LICENSE") for name in names), names)

    def test_the_daemon_has_its_pages(self):
        daemon = self.programs.read("hpsearch_programs/bin/hpsearch")  # The file that hpsearchd starts.
        self.assertIsNotNone(re.search(rb"assets/[A-Za-z_.-]+\.[A-Za-z0-9]+\.js", daemon), "it has none of its pages")

    def test_the_record_names_each_file_with_its_digest(self):
        for archive in (self.programs, self.client):
            record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
            rows = {row[0]: row[1] for row in csv.reader(io.StringIO(archive.read(record).decode()))}
            self.assertEqual(set(rows), {name for name in archive.namelist() if not name.endswith("/")})
            for name, digest in rows.items():
                if name != record:
                    found = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
                    self.assertEqual(digest, f"sha256={found}", name)

    def test_both_have_the_version_of_the_project(self):
        version = re.search(r"project\(hpsearch VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertEqual(BUILT.programs.name, f"hpsearch-{version}-py3-none-manylinux_2_34_x86_64.whl")
        self.assertEqual(BUILT.client.name, f"hpsearch_client-{version}-py3-none-any.whl")
        metadata = self.programs.read(f"hpsearch-{version}.dist-info/METADATA").decode()
        self.assertIn(f"Requires-Dist: hpsearch-client=={version}", metadata)

    def test_no_path_of_the_machine_that_built_it_is_in_a_program(self):
        for name in PROGRAMS:
            self.assertFalse(str(ROOT).encode() in self.programs.read(f"hpsearch_programs/bin/{name}"), name)


if __name__ == "__main__":
    unittest.main()
