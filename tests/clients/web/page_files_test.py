#!/usr/bin/env python3
"""Which pages get into the daemon (HPSEARCH_WEB): those of clients/web/dist, those that Node.js builds, or the page about the
command line. Each case configures and packs a copy of clients/web alone, without the programs.

    page_files_test.py CMAKE NODE

NODE may be empty: then what needs it is skipped."""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CMAKE, NODE = "cmake", ""
REPLACED = "The daemon gets a page about the command line instead of its own pages: "
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(pages LANGUAGES C)
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
include(HpsearchWeb)
"""


class PageFiles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-page-files-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def copy(self, name="source", *, modules=False):
        """A checkout with clients/web and what packs it; with the packages that build it, if asked for."""
        source = self.folder / name
        (source / "clients" / "web").mkdir(parents=True)
        shutil.copytree(ROOT / "cmake", source / "cmake")
        (source / "CMakeLists.txt").write_text(PROJECT)
        shutil.copytree(ROOT / "clients" / "web" / "src", source / "clients" / "web" / "src")
        for file in (ROOT / "clients" / "web").iterdir():
            if file.is_file():
                shutil.copy(file, source / "clients" / "web")
        if modules:
            (source / "clients" / "web" / "node_modules").symlink_to(ROOT / "clients" / "web" / "node_modules")
        return source

    def configure(self, source, web, node):
        return subprocess.run(
            [CMAKE, "-S", source, "-B", source / "build", f"-DHPSEARCH_WEB={web}", f"-DHPSEARCH_NODE:FILEPATH={node}"],
            capture_output=True, text=True, check=False)

    def packed(self, source, **settings):
        """The files in the library that the daemon is linked with, by name; packed as they are there."""
        built = subprocess.run([CMAKE, "--build", source / "build"], env=dict(os.environ, **settings),
                               capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        library = (source / "build" / "libhpsearch_page_files.a").read_bytes()
        files = {}
        for line in (source / "build" / "web" / "page_files.S").read_text().splitlines():
            if ".incbin" in line:
                path = pathlib.Path(line.split('"')[1])
                content = path.read_bytes()
                self.assertIn(content, library)
                files[str(path.relative_to(source / "build" / "web" / "packed"))[: -len(".gz")]] = content
        return files

    def fake_node(self, version):
        path = self.folder / "node"
        path.write_text(f"#!/bin/sh\necho {version}\n")
        path.chmod(0o755)
        return path

    def dist(self, source, digest):
        (source / "clients" / "web" / "dist" / "assets").mkdir(parents=True)
        (source / "clients" / "web" / "dist" / "index.html").write_text("<!doctype html>ready made")
        (source / "clients" / "web" / "dist" / "SOURCES.sha256").write_text(digest + "\n")

    def digest(self):
        return subprocess.run([NODE, ROOT / "clients" / "web" / "build.mjs", "--digest"], capture_output=True, text=True,
                              check=True).stdout.strip()

    def assert_fallback(self, source):
        files = self.packed(source)
        self.assertEqual(sorted(files), ["fallback.css", "index.html"])
        for name, file in (("index.html", "fallback.html"), ("fallback.css", "fallback.css")):
            self.assertEqual(gzip.decompress(files[name]), (ROOT / "clients" / "web" / file).read_bytes())

    def assert_replaced(self, source, node, why):
        """AUTO takes the page about the command line and prints one line; ON fails with the same reason."""
        run = self.configure(source, "AUTO", node)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = [line for line in run.stdout.splitlines() if "command line" in line or "HPSEARCH_WEB" in line]
        self.assertEqual(lines, [f"-- {REPLACED}{why}"])
        self.assert_fallback(source)
        run = self.configure(source, "ON", node)
        self.assertEqual((source / "build" / "web" / "why_no_pages.txt").read_text(), why)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("HPSEARCH_WEB is ON, but the daemon's pages can't be built: " + why, " ".join(run.stderr.split()))

    def test_without_node_auto_takes_the_page_about_the_command_line_and_on_fails(self):
        self.assert_replaced(self.copy(), "",
                             "node is missing: run scripts/setup pages, or install Node.js 18 or newer with npm")

    def test_an_old_node_is_as_good_as_none(self):
        node = self.fake_node("v16.20.2")
        self.assert_replaced(self.copy(), node, f'{node} is version "16.20.2": run scripts/setup pages')

    def test_without_node_modules_the_reason_names_setup(self):
        self.assert_replaced(self.copy(), self.fake_node("v20.1.0"), "clients/web/node_modules is missing: run scripts/setup pages")

    def test_a_dist_of_other_sources_is_not_taken(self):
        source = self.copy()
        self.dist(source, "0" * 64)
        self.assert_replaced(source, "",
                             "node is missing: run scripts/setup pages, or install Node.js 18 or newer with npm")

    def test_off_takes_the_page_about_the_command_line_and_prints_nothing(self):
        source = self.copy()
        run = self.configure(source, "OFF", NODE)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([line for line in run.stdout.splitlines() if "command line" in line or "HPSEARCH_WEB" in line], [])
        self.assert_fallback(source)

    def test_another_value_is_refused_with_the_allowed_ones(self):
        run = self.configure(self.copy(), "MAYBE", NODE)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn('HPSEARCH_WEB is "MAYBE"; it must be AUTO, ON or OFF', " ".join(run.stderr.split()))

    def test_the_page_about_the_command_line_has_no_script_and_shows_commands(self):
        text = (ROOT / "clients" / "web" / "fallback.html").read_text()
        for forbidden in ("<script", "style=", "onclick", 'src="http', 'href="http'):
            self.assertNotIn(forbidden, text)
        for wanted in ("scripts/setup", "hpsearch list", "hpsearch explain"):
            self.assertIn(wanted, text)

    def test_a_dist_of_these_sources_is_taken_without_node(self):
        if not NODE:
            self.skipTest("node is missing: nothing computes the digest")
        source = self.copy()
        self.dist(source, self.digest())
        run = self.configure(source, "ON", "")
        self.assertEqual(run.returncode, 0, run.stderr)
        files = self.packed(source)
        self.assertEqual(sorted(files), ["index.html"])
        self.assertEqual(gzip.decompress(files["index.html"]), b"<!doctype html>ready made")

    def test_two_builds_in_two_places_give_the_same_bytes(self):
        if not NODE or not (ROOT / "clients" / "web" / "node_modules" / "esbuild").is_dir():
            self.skipTest("node or clients/web/node_modules is missing: run scripts/setup test")
        found = []
        for name, zone, language in (("here", "UTC", "C"), ("another place", "Asia/Shanghai", "de_DE.UTF-8")):
            source = self.copy(name, modules=True)
            for file in sorted((source / "clients" / "web").rglob("*.ts*")):
                if not file.is_symlink() and "node_modules" not in file.parts:
                    os.utime(file, (0, len(found) * 86400 + 10))
            run = self.configure(source, "ON", NODE)
            self.assertEqual(run.returncode, 0, run.stderr)
            found.append(self.packed(source, TZ=zone, LC_ALL=language))
        self.assertIn("index.html", found[0])
        self.assertGreater(len(found[0]), 10)
        self.assertEqual(sorted(found[0]), sorted(found[1]))
        self.assertEqual([name for name in found[0] if found[0][name] != found[1][name]], [])


if __name__ == "__main__":
    CMAKE, NODE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
