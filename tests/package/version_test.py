#!/usr/bin/python3
"""All that is built from this clone has the version of CMakeLists.txt: version_test.py BUILD_DIR"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60
VERSION = re.search(r"^project\(hpsearch VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]


def output_of(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout.strip()


class Version(unittest.TestCase):
    def test_programs_print_it(self):
        for name in ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-report"):
            self.assertEqual(output_of(BUILD / "bin" / name, "--version"), f"{name} {VERSION}")

    def test_files_that_repeat_it_agree(self):
        checked = subprocess.run([ROOT / "scripts" / "tools" / "version.py", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_python_package_has_it(self):
        code = "import hpsearch; print(hpsearch.__version__)"
        done = subprocess.run([sys.executable, "-B", "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT / "clients" / "python")},
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), VERSION)

    def test_cmake_package_has_it(self):
        text = (BUILD / "hpsearch-config-version.cmake").read_text(encoding="utf-8")
        self.assertIn(f'set(PACKAGE_VERSION "{VERSION}")', text)

    def test_table_of_upgrades_has_its_formats(self):
        header = (ROOT / "proto/include/hpsearch/proto/wire/version.hpp").read_text(encoding="utf-8")
        wire, oldest_wire, store, oldest_store = (re.search(rf"\b{name} = (\d+);", header)[1] for name in (
            "wire_version", "oldest_wire_version", "store_version", "oldest_store_version"))
        routes = (ROOT / "apps/daemon/routes/http_daemon_routes.cpp").read_text(encoding="utf-8")
        client = re.search(r'\boldest_client = "([0-9.]+)";', routes)[1]
        row = f"| {VERSION} | {store}, {oldest_store} to {store} | {oldest_wire} to {wire} | v1 | {client} |"
        self.assertIn(row, (ROOT / "docs/operating/upgrade.md").read_text(encoding="utf-8").splitlines())

    def test_api_has_it(self):
        with tempfile.TemporaryDirectory() as scratch:
            state = pathlib.Path(scratch) / "state"
            daemon = subprocess.Popen([BUILD / "bin" / "hpsearchd", "--state-dir", state, "--http", "127.0.0.1:0", "--http-open",
                                       "--workers", "tcp://127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                until = time.monotonic() + PATIENCE
                while not (state / "daemon.json").exists():
                    self.assertIsNone(daemon.poll(), "the daemon ended")
                    self.assertLess(time.monotonic(), until, "the daemon doesn't start")
                    time.sleep(0.02)
                announced = json.loads((state / "daemon.json").read_text(encoding="utf-8"))
                with urllib.request.urlopen(f"http://{announced['http']}/version", timeout=PATIENCE) as answer:
                    self.assertEqual(json.load(answer)["version"], VERSION)
                with urllib.request.urlopen(f"http://{announced['http']}/metrics", timeout=PATIENCE) as answer:
                    self.assertIn(f'version="{VERSION}"', answer.read().decode())
            finally:
                daemon.send_signal(signal.SIGTERM)
                daemon.wait(PATIENCE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
