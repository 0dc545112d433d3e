"""Where searches of this machine lie, and which of them are removed: without the programs, on directories as they leave them."""

import contextlib
import fcntl
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import hpsearch as hp
from hpsearch._local.old_searches import Keep, keep_of, kept_for, remove_old_searches
from hpsearch._local.places import place_named, places
from hpsearch._local.search_directory import SearchDirectory, SearchTransport
from script_folder import ScriptFolder

DAY = 86400.0


class Searches(ScriptFolder):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.home.mkdir()
        patched = unittest.mock.patch.dict(os.environ, {"HPSEARCH_STATE_HOME": str(self.home)})
        patched.start()
        self.addCleanup(patched.stop)
        os.environ.pop("HPSEARCH_KEEP", None)

    def make(self, name, days=0.0, size=0, named=False, state="COMPLETED", **more):
        """A search of tune() that ended so many days ago, or whose process did."""
        directory = self.home / name
        daemon = directory / "search" / "daemon"
        daemon.mkdir(parents=True)
        (daemon / "events.db").write_bytes(b"0" * size)
        (directory / "search.json").write_text(json.dumps(dict({"parts": {}, "named": named}, **more)))
        (directory / "experiment.json").write_text("{}")
        (directory / "search" / "run.json").write_text(json.dumps({"file": "x"}))
        (directory / "search" / "last.json").write_text(json.dumps({
            "id": 1, "name": name, "state": state, "created_at": time.time() - days * DAY - 9,
            "ended_at": time.time() - days * DAY if state == "COMPLETED" else None, "best": {"trial": 2, "metric": 0.25, "step": 1}}))
        os.utime(str(directory / "search" / "last.json"), (time.time() - days * DAY,) * 2)
        return directory

    def left(self, opened=()):
        """What is there after the removal, and what was printed."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            remove_old_searches(set(opened))
        return sorted(path.name for path in self.home.iterdir()), said.getvalue()

    def test_a_search_that_has_ended_is_listed_without_a_daemon(self):
        self.make("mine", days=1, named=True)
        found, = hp.searches()
        self.assertEqual((found.name, found.path, found.state, found.running, found.is_named), ("mine", self.home / "mine", "COMPLETED", False, True))
        self.assertEqual((found.best.trial, found.best.metric), (2, 0.25))
        self.assertAlmostEqual(found.created.timestamp(), time.time() - DAY - 9, delta=60)
        self.assertEqual(repr(found), "<search 'mine': COMPLETED, best 0.25 (trial 2)>")

    def test_a_change_removes_what_was_written_at_the_end(self):
        self.make("mine")
        self.assertIsNotNone(place_named("mine").last())
        with unittest.mock.patch.object(SearchDirectory, "find_daemon", lambda directory: "unix:///a"):
            transport = SearchTransport(SearchDirectory("mine"))
        with unittest.mock.patch("hpsearch._client.transport.Transport.ask"):
            transport.ask("GET", "/api/v1/experiments/1")
            self.assertIsNotNone(place_named("mine").last())
            transport.ask("PATCH", "/api/v1/experiments/1", body={})
            self.assertIsNone(place_named("mine").last())
            transport.ask("PATCH", "/api/v1/experiments/1", body={})

    def test_searches_of_run_come_first_and_no_two_have_one_name(self):
        here = self.folder / "here"
        (here / ".hpsearch" / "width").mkdir(parents=True)
        (here / ".hpsearch" / "width" / "run.json").write_text('{"file": "x"}')
        python = self.folder / "xdg" / ".local" / "state" / "hpsearch"
        python.mkdir(parents=True)
        self.home = python
        self.make("width")
        self.make("other")
        (python / "own" / "daemon").mkdir(parents=True)
        (python / "own" / "daemon" / "events.db").write_text("")
        (python / "stray").mkdir()
        os.symlink(python / "other", python / "link")
        before = os.getcwd()
        os.chdir(here)
        try:
            with unittest.mock.patch.dict(os.environ, {"HOME": str(self.folder / "xdg")}):
                os.environ.pop("HPSEARCH_STATE_HOME")
                os.environ.pop("XDG_STATE_HOME", None)
                found = [(place.name, place.kind) for place in places()]
                self.assertEqual(place_named("width").kind, "run")
                self.assertEqual(place_named(str(python / "width")).kind, "tune")
                self.assertEqual(place_named(str(python / "other")).kind, "tune")
        finally:
            os.chdir(before)
        self.assertEqual(found, [("width", "run"), (str(python / "width"), "tune"), ("other", "tune"), ("own", "local")])

    def test_how_long_searches_are_kept(self):
        self.assertEqual(keep_of("14d,20GB"), Keep(14 * DAY, 20e9))
        self.assertEqual(keep_of("36h"), Keep(1.5 * DAY, float("inf")))
        self.assertEqual(keep_of(" 500MB , 2w "), Keep(14 * DAY, 5e8))
        self.assertEqual(keep_of("0").seconds, 0)
        self.assertIsNone(keep_of("never"))
        for text in ("14", "d", "14d;20GB", "-1d", "20 PB", ","):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "^HPSEARCH_KEEP is '{}'; it must be a time and a size".format(text)):
                keep_of(text)

    def test_searches_without_a_name_are_removed_some_days_after_their_end(self):
        self.make("f-old", days=15, size=3000)
        self.make("f-older", days=40)
        self.make("f-new", days=13)
        self.make("width", days=99, named=True)
        left, said = self.left()
        self.assertEqual(left, ["f-new", "width"])
        self.assertRegex(said, r"^hpsearch: removed 2 searches without a name that have ended, [\d.]+ kB in all, the newest of \d{4}-\d\d-\d\d "
                               r"\(HPSEARCH_KEEP=14d,20GB\)\. Give a search a name to keep it; HPSEARCH_KEEP=never keeps all\n$")
        self.assertEqual(self.left(), (left, ""))

    def test_searches_without_a_name_are_removed_some_days_after_their_pause(self):  # They stayed for ever.
        self.make("f-interrupted", days=15, state="ACTIVE", size=3000)
        self.make("f-paused-itself", days=16, state="PAUSED")
        self.make("f-new", days=13, state="ACTIVE")
        self.make("width", days=99, named=True, state="ACTIVE")
        (self.make("f-killed", days=99, state="ACTIVE") / "search" / "last.json").unlink()
        left, said = self.left()
        self.assertEqual(left, ["f-killed", "f-new", "width"])
        self.assertRegex(said, r"^hpsearch: removed 2 searches without a name that were paused, [\d.]+ kB in all, the newest of \d{4}-\d\d-\d\d ")
        self.assertEqual(self.left(), (left, ""))
        self.make("f-old", days=15)
        self.make("f-old-too", days=15, state="ACTIVE")
        self.assertIn("removed 2 searches without a name that have ended or were paused, ", self.left()[1])
        self.make("f-old", days=15, state="ACTIVE")
        self.assertIn("removed a search without a name that was paused, ", self.left()[1])
        self.assertEqual(self.left()[0], left)

    def test_a_paused_search_that_is_used_stays(self):
        used = self.make("f-used", days=99, state="ACTIVE")
        read = self.make("f-read", days=99, state="PAUSED")
        for lock in (used / "search" / "run.lock", read / "search" / "daemon" / "lock"):
            lock.write_text("")
            holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); "
                                       "print(1, flush=True); input()", str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            holder.stdout.readline()
            self.addCleanup(holder.communicate, b"\n")
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_KEEP": "0"}):
            self.assertEqual(self.left(), (["f-read", "f-used"], ""))

    def test_how_long_a_paused_search_can_go_on(self):
        for keep, said in (("", ", within 14 days (HPSEARCH_KEEP)"), ("36h", ", within 36 hours (HPSEARCH_KEEP)"),
                           ("1h,1GB", ", within 1 hour (HPSEARCH_KEEP)"), ("never", ""), ("20GB", ""), ("nonsense", "")):
            with self.subTest(keep), unittest.mock.patch.dict(os.environ, {"HPSEARCH_KEEP": keep}):
                self.assertEqual(kept_for(), said)

    def test_the_oldest_make_room(self):
        for number, days in enumerate((3, 1, 2, 0)):
            self.make("f-{}".format(number), days=days, size=2_000_000)
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_KEEP": "5MB"}):
            self.assertEqual(self.left()[0], ["f-1", "f-3"])
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_KEEP": "1MB"}):
            self.assertEqual(self.left()[0], ["f-3"], "it has just ended")
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_KEEP": "never"}):
            self.assertEqual(self.left()[0], ["f-3"])
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_KEEP": "0"}):
            self.assertEqual(self.left()[0], [])

    def test_what_is_used_or_is_no_search_of_tune_stays(self):
        used = self.make("f-used", days=99)
        locked = self.make("f-locked", days=99)
        opened = self.make("f-opened", days=99)
        (self.make("f-none", days=99) / "search.json").write_text("{}")
        (self.make("f-unread", days=99) / "search.json").unlink()
        self.make("f-before", days=99)
        (self.home / "f-before" / "search.json").write_text('{"parts": {}}')  # By a version without the field.
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        os.rename(self.make("f-link", days=99) / "search", elsewhere / "search")
        os.symlink(elsewhere / "search", self.home / "f-link" / "search")
        (used / "search" / "run.lock").write_text("")
        holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); "
                                   "print(1, flush=True); input()", str(used / "search" / "run.lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        self.addCleanup(holder.communicate, b"\n")
        with open(locked / "tune.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = sorted(path.name for path in self.home.iterdir())
            self.assertEqual(self.left([opened]), (before, ""))
        self.assertEqual(self.left([opened])[0], [name for name in before if name != "f-locked"])

    def test_a_removal_follows_no_link_and_takes_what_may_not_be_written(self):
        kept = self.folder / "kept"
        kept.mkdir()
        (kept / "file").write_text("")
        directory = self.make("f-old", days=99)
        os.symlink(kept, directory / "link")
        (directory / "closed").mkdir()
        (directory / "closed" / "file").write_text("")
        (directory / "closed").chmod(0)
        self.assertEqual(self.left()[0], [])
        self.assertTrue((kept / "file").exists())

    def test_what_an_interrupted_removal_left_is_removed(self):
        (self.home / ".removed-1234" / "a").mkdir(parents=True)
        self.assertEqual(self.left(), ([], ""))


if __name__ == "__main__":
    unittest.main()
