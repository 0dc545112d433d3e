#!/usr/bin/python3
"""scripts/release refuses what can't be released: in a small repository with the files that it looks at."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "tools"))
import format_changes
import version

LOOKED_AT = {"CMakeLists.txt", "CHANGELOG.md", "scripts/release", "scripts/tools/version.py", "scripts/tools/format_changes.py",
             format_changes.VERSIONS, format_changes.API, *(path for path, _ in version.REPEATED)}
VERSION = version.version_of(ROOT)
GOLDEN = "tests/golden/store_v1/lease_granted.msgpack"


class Release(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for path in LOOKED_AT | {GOLDEN}:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)
        (self.root / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
        self.write("CHANGELOG.md", f"# Changes\n\n## {VERSION} (2026-12-05)\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b.c", *words], check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a")

    def write(self, path, text):
        (self.root / path).write_text(text, encoding="utf-8")

    def release(self, *words, key=""):
        done = subprocess.run([self.root / "scripts" / "release", *words], env={"PATH": "/usr/bin:/bin", "HPSEARCH_RELEASE_KEY": str(key)},
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def refused(self, sentence, *words, key=""):
        status, said = self.release(*(words or (VERSION, "--check")), key=key)
        self.assertEqual(status, 1, said)
        self.assertIn(sentence, said)

    def test_clean_commit_can_be_released(self):
        status, said = self.release(VERSION, "--check")
        self.assertEqual(status, 0, said)
        self.assertIn(f"can be released as {VERSION}", said)

    def test_other_version_is_refused(self):
        self.refused(f"the version of CMakeLists.txt is {VERSION}, not 9.9.9", "9.9.9", "--check")

    def test_file_with_another_version_is_refused(self):
        text = (self.root / "deploy/helm/hpsearch/Chart.yaml").read_text(encoding="utf-8")
        self.write("deploy/helm/hpsearch/Chart.yaml", text.replace(f"appVersion: {VERSION}", "appVersion: 9.9.9"))
        self.commit()
        self.refused("files repeat another version")

    def test_uncommitted_changes_are_refused(self):
        self.write("new.txt", "new\n")
        self.refused("there are uncommitted changes")

    def test_changelog_without_the_version_is_refused(self):
        for heading in (f"## {VERSION} (unreleased)", f"## {VERSION}1 (2026-12-05)"):
            self.write("CHANGELOG.md", f"# Changes\n\n{heading}\n")
            self.commit()
            self.refused(f'CHANGELOG.md has no heading "## {VERSION} (')

    def test_format_change_without_a_version_is_refused(self):
        self.git("tag", "v0.0.1")
        self.write(GOLDEN, "other bytes")
        self.commit()
        self.refused("a format changed without a new version")

    def test_tag_of_another_commit_is_refused(self):
        self.git("tag", f"v{VERSION}")
        status, said = self.release(VERSION, "--check")
        self.assertEqual(status, 0, said)
        self.git("commit", "--quiet", "--allow-empty", "--message", "b")
        self.refused(f"the tag v{VERSION} is another commit")

    def test_key_is_needed_and_lies_outside(self):
        self.refused("it must name minisign's secret key, or use --unsigned", VERSION)
        key = self.root / "key"
        key.write_text("key\n", encoding="utf-8")
        self.write(".gitignore", "__pycache__/\n/key\n")
        self.commit()
        self.refused("a secret key must lie outside", VERSION, key=key)

    def test_arguments_are_explained(self):
        for words in ((), ("--fast", VERSION), (VERSION, VERSION)):
            status, said = self.release(*words)
            self.assertEqual(status, 2, said)
            self.assertIn("scripts/release VERSION --check", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
