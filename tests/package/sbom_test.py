#!/usr/bin/python3
"""scripts/tools/sbom.py describes a release of a small wheel and a small Debian package."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Sbom(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dist = pathlib.Path(scratch.name) / "dist"
        self.dist.mkdir()
        self.write_wheel("libc6")
        control = pathlib.Path(scratch.name) / "deb" / "DEBIAN" / "control"
        control.parent.mkdir(parents=True)
        control.write_text("Package: hpsearch-cli\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: a\n"
                           "Depends: bash (>= 1) | dash, libhpsearch0 (>= 1), no-such-package\n", encoding="utf-8")
        subprocess.run(["dpkg-deb", "--build", control.parents[1], self.dist / "hpsearch-cli_1_all.deb"], check=True, capture_output=True)

    def write_wheel(self, contained):
        with zipfile.ZipFile(self.dist / "hpsearch-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"hpsearch_programs/licenses/{contained}", "licence")
            wheel.writestr("hpsearch_programs/bin/hpsearch", "program")

    def describe(self, expect=0):
        done = subprocess.run([ROOT / "scripts" / "tools" / "sbom.py", self.dist, COMMIT, "86400"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stderr if expect else json.loads(next(self.dist.glob("*.spdx.json")).read_text(encoding="utf-8"))

    def test_everything_contained_and_needed_is_listed(self):
        found = self.describe()
        related = {}
        for link in found["relationships"]:
            related.setdefault(link["relationshipType"], set()).add(link["relatedSpdxElement"])
        self.assertEqual(related["STATIC_LINK"], {"SPDXRef-deb-libc6"})
        self.assertEqual(related["DEPENDS_ON"], {"SPDXRef-deb-bash"})
        lock = json.loads((ROOT / "clients/web/package-lock.json").read_text(encoding="utf-8"))["packages"]
        in_pages = {entry["version"] for path, entry in lock.items() if path and not entry.get("dev")}
        versions = {one["SPDXID"]: one["versionInfo"] for one in found["packages"]}
        self.assertEqual({versions[one] for one in related["CONTAINS"]}, in_pages)
        self.assertIn("SPDXRef-npm-preact", related["CONTAINS"])
        self.assertEqual(found["creationInfo"]["created"], "1970-01-02T00:00:00Z")

    def test_identifiers_are_unique_and_relations_are_between_them(self):
        found = self.describe()
        identifiers = [one["SPDXID"] for one in found["packages"] + found["files"]] + ["SPDXRef-DOCUMENT"]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        for link in found["relationships"]:
            self.assertLessEqual({link["spdxElementId"], link["relatedSpdxElement"]}, set(identifiers))

    def test_files_have_their_digests(self):
        digests = {one["fileName"]: one["checksums"][1]["checksumValue"] for one in self.describe()["files"]}
        self.assertEqual(digests, {f"./{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
                                   for path in self.dist.iterdir() if not path.name.endswith(".spdx.json")})
        self.assertEqual(self.describe(), self.describe())

    def test_library_of_unknown_version_is_refused(self):
        self.write_wheel("no-such-package")
        self.assertIn("a wheel contains no-such-package, which isn't installed here", self.describe(expect=1))


if __name__ == "__main__":
    if not shutil.which("dpkg-deb"):
        print("skipped: this machine has no dpkg-deb")
        sys.exit(77)
    unittest.main(verbosity=2)
