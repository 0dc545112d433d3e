"""hpsearch.tune() on this machine: arguments, directories, processes, and what it prints at the end."""

import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import hpsearch as hp
from hpsearch._local.gpus import check_gpus
from hpsearch._local.guard import worker_words
from hpsearch._local.run_options import run_options
from hpsearch._local.local import check_platform, checked_name, local, make_private, process_with_lock
from hpsearch._local.search_directory import LocalExperiment, SearchDirectory, _readers
from hpsearch._local.search_record import differences
from hpsearch._functions.tune_progress import follow_search
from script_folder import ScriptFolder


def objective(trial):
    return trial["x"]


class Local(ScriptFolder):
    def test_other_machines_get_a_note_about_what_works(self):
        for system, machine in (("darwin", "arm64"), ("win32", "AMD64"), ("linux", "aarch64")):
            with unittest.mock.patch("sys.platform", system), unittest.mock.patch("platform.machine", lambda: machine):
                with self.assertRaisesRegex(NotImplementedError, "needs Linux x86-64.*hpsearch.Client"):
                    local()
        with unittest.mock.patch("sys.platform", "linux"), unittest.mock.patch("platform.machine", lambda: "x86_64"):
            check_platform("it")

    def test_names_and_places(self):
        for name in ("", ".", "..", "a/b", "x" * 300):
            with self.assertRaisesRegex(ValueError, "without /"):
                checked_name(name)
        make_private(self.folder / "a" / "b")
        self.assertEqual((self.folder / "a" / "b").stat().st_mode & 0o777, 0o700)
        (self.folder / "file").write_text("")
        with self.assertRaisesRegex(OSError, "XDG_STATE_HOME"):
            make_private(self.folder / "file" / "below")

    def test_what_changed_is_named(self):
        before = {"function": "a", "space": {"x": 1, "y": 2}, "searcher": {"name": "random"}}
        self.assertEqual(differences(before, before), [])
        self.assertEqual(differences(before, {"function": "b", "space": {"x": 1, "y": 3, "z": 0}, "searcher": {"name": "grid"}}),
                         ["function", "space (y, z)", "searcher (name)"])
        self.assertEqual(differences(dict(before, value={"DATA": "1", "N": "2"}, argument={"seed": "1"}),
                                      dict(before, value={"DATA": "3", "N": "2"}, argument={"seed": "2"})),
                         ["value (DATA)", "argument (seed)"])

    def test_locks_of_other_processes_are_seen(self):
        self.assertIsNone(process_with_lock(self.folder / "none"))
        lock = self.folder / "lock"
        lock.write_text("")
        self.assertIsNone(process_with_lock(lock))
        holder = subprocess.Popen([sys.executable, "-c", "import fcntl, os, sys; f = open(sys.argv[1], 'r+'); "
                                   "fcntl.lockf(f, fcntl.LOCK_EX); f.write(str(os.getpid())); f.flush(); "
                                   "print(1, flush=True); input()", str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        self.assertEqual(process_with_lock(lock), holder.pid)
        holder.communicate(b"\n")
        self.assertIsNone(process_with_lock(lock))

    def test_a_reader_waits_for_the_end_of_the_daemon_before_it(self):
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_STATE_HOME": str(self.folder)}):
            directory = SearchDirectory("mine")
        daemon = directory.run_state / "daemon"
        daemon.mkdir(parents=True)
        (daemon / "events.db").write_text("")
        (daemon / "lock").write_text("")
        ending = subprocess.Popen([sys.executable, "-c", "import fcntl, os, sys; f = open(sys.argv[1], 'r+'); "
                                   "fcntl.lockf(f, fcntl.LOCK_EX); f.write(str(os.getpid())); f.flush(); "
                                   "print(1, flush=True); input()", str(daemon / "lock")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        ending.stdout.readline()
        self.addCleanup(_readers.clear)
        began = []

        class Reader:
            address = "unix:///a-reader"

            def __init__(self, state, options=(), *, worker=True):
                began.append(process_with_lock(daemon / "lock"))

        def look_again(_):
            ending.communicate(b"\n")

        with unittest.mock.patch("hpsearch._local.search_directory.Guard", Reader), \
                unittest.mock.patch("hpsearch._local.search_directory.time.sleep", look_again):
            found = directory.find_daemon()
        self.assertEqual((str(found), began), ("unix:///a-reader", [None]))

    def test_a_module_that_searches_when_it_is_imported(self):
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_LOADS_FUNCTION": "1"}), self.assertRaisesRegex(
                RuntimeError, "__main__"):
            hp.tune(objective, {"x": hp.uniform(0, 1)})

    def test_arguments_that_make_no_sense(self):
        async def coroutine(t):
            return 1.0

        def generator(t):
            yield 1.0

        for more, kind, word in (
                ({"on": "slurm:long"}, ValueError, "^on is 'slurm:long'; it must be \"slurm\", with arguments as sbatch="),
                ({"sbatch": ["-p", "gpu"]}, ValueError, '^sbatch needs on="slurm"'),
                ({"on": "slurm", "sbatch": "-p gpu"}, TypeError, "^sbatch is '-p gpu'; it must be a list of words"),
                ({"on": "slurm", "queue": "8h"}, TypeError, "^queue is '8h'; it must be a dict"),
                ({"on": "https://head:8077"}, ValueError, r"on=hpsearch.Client\('https://head:8077'\)"),
                ({"on": 3}, TypeError, "on is a int; it must be"),
                ({"resume": "maybe"}, ValueError, "auto"),
                ({"seed": "a"}, TypeError, "seed is 'a'; it must be a whole number"),
                ({"seed": -1}, ValueError, "seed is -1; it must be from 0 to 2147483647"),
                ({"space": [1]}, TypeError, r"space is \[1\]; it must be a dict"),
                ({"space": None}, TypeError, "space is None; it must be a dict"),
                ({"function": 3}, TypeError, "function is 3; it must be a function"),
                ({"function": coroutine}, TypeError, "coroutine is a generator or a coroutine; it must be a function"),
                ({"function": generator}, TypeError, "generator is a generator or a coroutine; it must be a function"),
                ({"arguments": [1]}, TypeError, r"arguments is \[1\]; it must be a dict")):
            with self.subTest(more), self.assertRaisesRegex(kind, word):
                hp.tune(**dict({"function": objective, "space": {"x": 1}}, **more))

    def test_an_interrupt_pauses_a_search_without_a_name(self):  # Nothing returned to it, and it trained on.
        def interrupted(kind, name):
            experiment = unittest.mock.MagicMock(spec=kind, id=3, directory=pathlib.Path("/state/f-1"), _transport=unittest.mock.Mock(
                address="unix:///a"))
            experiment.watch.side_effect = KeyboardInterrupt
            with unittest.mock.patch("sys.stderr", io.StringIO()) as said, self.assertRaises(KeyboardInterrupt):
                follow_search(experiment, name, True, set())
            return experiment, said.getvalue()
        local, said = interrupted(LocalExperiment, None)
        local.end_runner.assert_called_once_with()
        local.release.assert_called_once_with()
        self.assertIn("interrupted; the search is paused, and its trials save checkpoints and end. The same call with name='f-1' "
                      "goes on with it, within 14 days (HPSEARCH_KEEP)\n", said)
        local, said = interrupted(LocalExperiment, "mine")
        local.end_runner.assert_not_called()
        self.assertIn("interrupted; the search goes on, and the same call returns to it. To end it: hpsearch.Client('unix:///a')", said)
        remote, said = interrupted(hp.Experiment, None)
        remote.pause.assert_called_once_with()
        self.assertIn("the search is paused. To go on: hpsearch.Client('unix:///a').experiment(3).resume(); to end it: .cancel()", said)

    def test_a_warning_of_failed_trials_is_the_last_line(self):  # Promising trials vanished without a word.
        def ended(**trials):
            experiment = unittest.mock.MagicMock(spec=LocalExperiment, directory=pathlib.Path("/state/f-1"))
            experiment.watch.return_value = iter([])
            experiment.now.return_value.trials = trials
            experiment.trials.select.side_effect = lambda state: iter([unittest.mock.Mock(
                number=4, failure="exit 1\nTraceback …\nUnpicklingError: Weights only load failed\n")])
            with unittest.mock.patch("sys.stderr", io.StringIO()) as said:
                self.assertIs(follow_search(experiment, None, False, set()), experiment)
            return said.getvalue()
        self.assertEqual(ended(COMPLETED=5), "")
        self.assertEqual(ended(COMPLETED=5, FAILED=2), "hpsearch: warning: 2 of 7 trials failed and have no part in the result. "
                         "Trial 4: UnpicklingError: Weights only load failed\n")

    def test_gpus_that_are_not_there(self):  # The trials ran on processors.
        def tune(found, resources, slots=None, on="local", **variables):
            for name in ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim"):
                (self.folder / name).write_text("#!/bin/sh\necho '{}'\n".format(json.dumps(found)))
                (self.folder / name).chmod(0o755)
            with unittest.mock.patch.dict(os.environ, dict(HPSEARCH_BIN=str(self.folder), **variables)):
                check_gpus(resources, on, slots)

        class Cluster(hp.Client):
            def __init__(self, *kinds):
                self.kinds = kinds

            def workers(self):
                return [{"slot_kind": kind, "pool": "default", "present": True} for kind in self.kinds]

        none, one = {"slot_kind": "cpu", "problem": "NVML cannot be loaded"}, {"slot_kind": "gpu", "usable": ["GPU-1"]}
        for found, resources, more, words in (
                (none, {"gpus": 1}, {}, r"^resources has 1 GPUs for each trial, and this machine has none \(NVML cannot be loaded\); "
                 r'leave "gpus" out to run on processors, or say how many slots a trial takes: resources=\{"slots": 1\}'),
                (one, {"gpus": 2}, {}, "this machine has 1;"),
                ({"slot_kind": "gpu", "usable": [], "restrictions": 'ROCR_VISIBLE_DEVICES is ""'}, {"gpus": 1}, {},
                 r'this machine has none \(ROCR_VISIBLE_DEVICES is ""\)'),
                (one, {"gpus": 1}, {"slots": "cpu:2"}, "slots is 'cpu:2'"),
                ({"slot_kind": "npu", "usable": ["NPU-0-0"]}, {"gpus": 1}, {}, "this machine has none"),
                ({"slot_kind": "cpu", "ambiguous": ["nvidia", "amd"]}, {"gpus": 1}, {}, 'choose with slots="nvidia"'),
                (one, {"gpus": 1}, {"on": Cluster("cpu", "cpu")}, "none of the 2 workers of the pool default has any")):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                tune(found, resources, **more)
        for found, resources, more in ((one, {"gpus": 1}, {}), (none, {"gpus": 0}, {}), (none, {"slots": 2}, {}), (none, None, {}),
                                      (one, {"gpus": 2}, {"slots": "auto*2"}),
                                      (none, {"gpus": 1}, {"on": Cluster("cpu", "gpu")}), (none, {"gpus": 1}, {"on": Cluster()})):
            tune(found, resources, **more)
        with unittest.mock.patch("hpsearch._functions.tune.check_gpus", side_effect=ValueError("asked")), self.assertRaisesRegex(ValueError, "asked"):
            hp.tune(objective, {"x": hp.uniform(0, 1)}, resources={"gpus": 1})

    def test_slots_that_are_none(self):
        with tempfile.TemporaryDirectory() as home, unittest.mock.patch.dict(os.environ, {"HPSEARCH_STATE_HOME": home}), \
                unittest.mock.patch("hpsearch._local.search_directory.programs", lambda: pathlib.Path("/nowhere")):
            for slots in (0, -1, True, ""):
                with self.subTest(slots), self.assertRaisesRegex(ValueError, "slots is .*; it must be a number of at least 1"):
                    hp.tune(objective, {"x": 1}, slots=slots)
                with self.subTest(slots), self.assertRaisesRegex(ValueError, "slots is .*; it must be a number of at least 1"):
                    hp.local(slots=slots)
            self.assertEqual([path.name for path in pathlib.Path(home).glob("*/*")], [])

    def test_gpus_with_less_free_memory_are_left_out(self):
        self.assertEqual(run_options("local", None, (), None, 0), ["--gpu-free", "0"])
        self.assertEqual(run_options("local", None, (), None), [])
        self.assertEqual(worker_words(pathlib.Path("/a"), "ipc:///b", None, "50")[-2:], ["--gpu-free", "50"])
        self.assertNotIn("--gpu-free", worker_words(pathlib.Path("/a"), "ipc:///b", "2", None))
        for value, more, kind, words in (
                (101, {}, ValueError, "^gpu_free is 101; it must be from 0 to 100, in percent$"),
                (-1, {}, ValueError, "^gpu_free is -1; it must be from 0 to 100, in percent$"),
                (0.5, {}, TypeError, "^gpu_free is 0.5; it must be a whole number from 0 to 100, in percent$"),
                (True, {}, TypeError, "^gpu_free is True; it must be a whole number"),
                (50, {"slots": 2}, ValueError, "^gpu_free is 50, and slots is 2; give one of them"),
                (50, {"on": "slurm"}, ValueError, "^gpu_free is 50; it needs on=\"local\""),
                (50, {"on": "inprocess"}, ValueError, "^gpu_free is 50; it needs on=\"local\"")):
            with self.subTest(value, more=more), self.assertRaisesRegex(kind, words):
                hp.tune(objective, {"x": hp.uniform(0, 1)}, gpu_free=value, **more)
        for slots, value in ((None, 101), (2, 50)):
            with self.subTest(value), self.assertRaisesRegex(ValueError, "^gpu_free is {}".format(value)):
                hp.local(slots=slots, gpu_free=value)


if __name__ == "__main__":
    unittest.main()
