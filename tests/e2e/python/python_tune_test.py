"""hpsearch.tune() and hpsearch.local(): functions of scripts as searches, with the real programs."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import unittest

import harness

PACKAGE = harness.ROOT / "clients" / "python"
sys.path.insert(0, str(PACKAGE))

import hpsearch as hp
from hpsearch._local.local import process_with_lock
from hpsearch._local.old_searches import _unused
from hpsearch._local.places import places_of_python

TRAINING = """
    import os, time
    import hpsearch as hp

    def train(width, *, trial, ledger, pause):
        start = trial.load()
        with open(ledger, "a") as file:
            print("start", trial.number, trial.attempt, start, os.getpid(), os.getppid(), file=file)
        for epoch in trial.epochs(start):
            time.sleep(pause)
            with open(ledger, "a") as file:
                print("epoch", trial.number, epoch, file=file)
            trial.report(epoch, val_loss=width + trial["lr"] / epoch, save=lambda: {"epoch": epoch})

    SPACE = {"lr": hp.loguniform(1e-4, 1e-1), "width": hp.int(16, 256)}
"""


class PythonTune(harness.Case):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "state"
        self.ledger_path = self.folder / "ledger"
        os.environ.update(HPSEARCH_STATE_HOME=str(self.home), HPSEARCH_BIN=str(harness.BIN))
        self.addCleanup(self.end_runs)

    def end_runs(self):
        """Ends what outlives its script."""
        for lock in self.home.glob("*/search/run.lock"):
            runner = process_with_lock(lock)
            if runner:
                os.kill(runner, signal.SIGTERM)
                harness.wait_for(lambda: process_with_lock(lock) is None, "the search to pause")

    def script(self, text, name="script", extra=None):
        """Starts a script as a user does."""
        path = self.folder / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        return self.start("/usr/bin/python3", "-B", path, log=f"{name}.log", extra={
            "PYTHONPATH": str(PACKAGE), "HPSEARCH_STATE_HOME": str(self.home), "HPSEARCH_BIN": str(harness.BIN)} | (extra or {}))

    def run_script(self, text, name="script", expect=0, **more):
        process = self.script(text, name, **more)
        self.assertIn(process.popen.wait(harness.PATIENCE), expect if isinstance(expect, tuple) else (expect,), process.said())
        return process.said()

    def lines(self, word):
        text = self.ledger_path.read_text() if self.ledger_path.exists() else ""
        return [line.split()[1:] for line in text.splitlines() if line.startswith(word)]

    def test_four_lines(self):
        said = self.run_script("""
            import hpsearch as hp
            result = hp.tune(lambda t: (t["x"] - 2) ** 2, {"x": hp.uniform(-10, 10)}, max_trials=6, seed=1)
            from hpsearch._local.local import process_with_lock
            locks = [result.directory / "search" / name for name in ("run.lock", "worker/lock")]
            print("still running", [lock.parent.name for lock in locks if process_with_lock(lock) is not None])
            best = result.best
            print("best", best.params, best.metric, len(result.frame()), result.trials[0].log() == "")
            rows = [row for row in result.frame(["trial", "hparams.x", "metric"]) if row["hparams.x"] == best.params["x"]]
            assert [(row["trial"], row["metric"]) for row in rows] == [(best.number, best.metric)], rows
            assert abs((best.params["x"] - 2) ** 2 - best.metric) < 1e-9
            """)
        self.assertIn("best {'x': ", said)
        self.assertIn("completed, 6 of 6 trials ended", said)
        self.assertIn("still running []", said)
        self.assertEqual(list(self.home.glob("*/search/daemon/daemon.json")), [], "a daemon outlived its script")

    def test_trials_are_promoted_on_checkpoints_and_a_search_goes_on_after_its_script_is_killed(self):
        call = TRAINING + f"""
    result = hp.tune(train, SPACE, metric="val_loss", max_length={{"epochs": 9}}, max_trials=9, name="width", seed=3,
                     arguments={{"ledger": {str(self.ledger_path)!r}, "pause": 0.1}}, slots=2)
    print("done", result.best.metric, sorted(trial.state for trial in result.trials), flush=True)
"""
        killed = self.script(call, "killed")
        harness.wait_for(lambda: len(self.lines("epoch")) > 3, "some epochs", killed.said)
        killed.end(signal.SIGKILL)
        before = len(self.lines("epoch"))
        harness.wait_for(lambda: len(self.lines("epoch")) > before, "the search to go on alone")
        runner = process_with_lock(self.home / "width/search/run.lock")
        self.assertTrue(runner, "the search ended with its script")
        said = self.run_script(call, "again")
        self.assertIn("done ", said)
        self.assertEqual(len(list(self.home.iterdir())), 1)
        epochs = [tuple(line) for line in self.lines("epoch")]
        self.assertEqual(len(epochs), len(set(epochs)), "an epoch was trained twice")
        resumed = [line for line in self.lines("start") if line[2] != "None"]
        for number, _, start, *_ in resumed:
            self.assertIn((number, start), epochs)
        self.assertNotIn(str(runner), {line[4] for line in self.lines("start")})
        # It has ended: the same call returns at once, and trains nothing.
        starts = len(self.lines("start"))
        self.assertIn(said.split("done ")[1].strip(), self.run_script(call, "third"))
        self.assertEqual(len(self.lines("start")), starts)

    def test_more_trials_go_on_and_another_search_is_refused(self):
        def call(trials, space="SPACE", more=""):
            return TRAINING + f"""
    import sys
    try:
        result = hp.tune(train, {space}, metric="val_loss", max_length=3, max_trials={trials}, name="same",
                         arguments={{"ledger": {str(self.ledger_path)!r}, "pause": 0}}{more})
        print("trials", len(result.trials), flush=True)
    except ValueError as error:
        sys.exit(str(error))
"""
        self.assertIn("there is no search 'same'", self.run_script(call(4, more=', resume="require"'), expect=1))
        self.assertIn("trials 4", self.run_script(call(4)))
        self.assertIn("trials 7", self.run_script(call(7)))
        other = self.run_script(call(7, 'dict(SPACE, width=hp.int(1, 2))'), expect=1)
        self.assertIn("the search 'same' was begun with another space (width); give it another name", other)
        changed = self.run_script(call(7).replace("trial[\"lr\"] / epoch", "trial[\"lr\"]"), expect=1)
        self.assertIn("another function", changed)
        self.assertIn("exists", self.run_script(call(7, more=', resume="never"'), expect=1))

    def test_more_trials_go_on_although_the_process_that_ran_the_others_is_about_to_end(self):
        said = self.run_script("""
            import hpsearch as hp
            def call(trials, **more):
                return hp.tune(lambda t: t["x"], {"x": hp.uniform(0, 1)}, max_trials=trials, name="soon", **more)
            first = call(3, wait=False)
            while not first.now().ended:
                pass
            print("trials", len(call(6).trials))
            """)
        self.assertIn("trials 6", said)

    def test_interrupted_it_goes_on_and_two_share_no_name(self):
        call = TRAINING + f"""
    hp.tune(train, SPACE, metric="val_loss", max_length=4, max_trials=16, name="night", slots=2,
            arguments={{"ledger": {str(self.ledger_path)!r}, "pause": 0.3}})
"""
        first = self.script(call, "first")
        harness.wait_for(lambda: len(self.lines("epoch")) > 1, "some epochs", first.said)
        first.end(signal.SIGINT)
        self.assertIn("the search goes on, and the same call returns to it", first.said())
        self.assertEqual((first.popen.returncode, "Traceback" in first.said()), (130, False), first.said())
        before = len(self.lines("epoch"))
        harness.wait_for(lambda: len(self.lines("epoch")) > before, "the search to go on")
        # SIGINT reached no trial.
        self.assertEqual({line[1] for line in self.lines("start")}, {"1"})
        second = self.script(call, "second")
        harness.wait_for(lambda: "hpsearch: night: active" in second.said(), "the second call to wait", second.said)
        self.assertIn(f"WrongState: process {second.popen.pid} waits for the search 'night'",
                      self.run_script(call, "third", expect=1))
        self.assertEqual(second.popen.wait(harness.PATIENCE), 0, second.said())

    def test_interrupted_without_a_name_it_is_paused_and_its_own_name_goes_on(self):
        def call(more=""):
            return TRAINING + f"""
    result = hp.tune(train, SPACE, metric="val_loss", max_length=4, max_trials=6, slots=2{more},
                     arguments={{"ledger": {str(self.ledger_path)!r}, "pause": 0.3}})
    print("trials", len(result.trials), flush=True)
"""
        first = self.script(call(), "first")
        harness.wait_for(lambda: len(self.lines("epoch")) > 1, "some epochs", first.said)
        first.end(signal.SIGINT)
        self.assertIn("the search is paused, and its trials save checkpoints and end", first.said())
        self.assertEqual((first.popen.returncode, "Traceback" in first.said()), (130, False), first.said())
        name = first.said().split("The same call with name='")[1].split("'")[0]
        self.assertIsNone(process_with_lock(self.home / name / "search/run.lock"), "it trains on")
        self.assertEqual([(one.place.name, one.is_paused) for one in map(_unused, places_of_python(set())) if one], [(name, True)])
        self.assertIn("trials 6", self.run_script(call(f", name={name!r}"), "second"))
        epochs = [tuple(line) for line in self.lines("epoch")]
        self.assertEqual(len(epochs), len(set(epochs)), "an epoch was trained twice")

    def test_a_search_whose_process_is_killed_says_how_to_go_on(self):
        call = TRAINING + f"""
    print(hp.tune(train, SPACE, metric="val_loss", max_length=5, max_trials=4, name="lost", slots=2,
                  arguments={{"ledger": {str(self.ledger_path)!r}, "pause": 0.2}}).best.metric)
"""
        first = self.script(call, "first")
        harness.wait_for(lambda: len(self.lines("epoch")) > 1, "some epochs", first.said)
        os.kill(process_with_lock(self.home / "lost/search/run.lock"), signal.SIGTERM)
        self.assertEqual(first.popen.wait(harness.PATIENCE), 1)
        self.assertIn("the same call of tune() goes on with it", first.said())
        self.run_script(call, "second")
        epochs = [tuple(line) for line in self.lines("epoch")]
        self.assertEqual(len({line[0] for line in epochs}), 4)

    def test_a_function_that_fails_says_why(self):
        said = self.run_script("""
            import hpsearch as hp
            def train(trial):
                raise RuntimeError("no such data")
            try:
                hp.tune(train, {"x": hp.uniform(0, 1)}, max_trials=3, max_restarts=0)
            except hp.ExperimentFailed as error:
                print("failed:", error)
            """)
        self.assertIn("failed: experiment 1", said)
        self.assertRegex(said, r"Traceback \(most recent call last\):\n  File .*, line \d+, in train\n.*\nRuntimeError: no such data")
        for lock in self.home.glob("*/search/run.lock"):
            harness.wait_for(lambda: process_with_lock(lock) is None, "the search that paused itself to end")
        said = self.run_script("""
            import hpsearch as hp
            try:
                hp.tune(lambda t: None, {"x": hp.uniform(0, 1)}, max_trials=1, max_restarts=0)
            except hp.ExperimentFailed as error:
                print("failed:", error)
            try:
                hp.tune(lambda t: 1, {"x": hp.uniform(0, 1)}, searcher={"name": "random", "max_trails": 3})
            except (hp.Problem, hp.ExperimentFailed) as error:
                print("refused:", error)
            """)
        self.assertIn("the function returned None and reported nothing", said)
        self.assertIn('refused: tune() was refused: 1 argument is wrong\n  searcher["max_trails"] is not a known field', said)

    def test_a_refusal_has_every_mistake_and_the_corrected_call_begins(self):
        said = self.run_script("""
            import hpsearch as hp
            def call(**more):
                return hp.tune(lambda t: t["x"], {"x": hp.uniform(0, 1)}, max_trials=2, name="typo", **more)
            wrong = {"field%02d" % number: 1 for number in range(12)}
            try:
                call(**wrong)
            except hp.BadRequest as error:
                print("mistakes", sum(field + " is not a known field" in str(error) for field in wrong))
            print("trials", len(call().trials))
            """)
        self.assertIn("mistakes 12", said)
        self.assertIn("trials 2", said)

    def test_large_arguments_are_stored_once_and_mapped(self):
        said = self.run_script("""
            import hpsearch as hp
            def train(x, data, view):
                view[3] += 1
                return x + len(data) + view[3]
            blob = bytes(range(256)) * 8192
            result = hp.tune(train, {"x": hp.const(0.5)}, max_trials=2, slots=2, name="blob",
                             arguments={"data": blob, "view": memoryview(bytearray(blob))})
            print("metric", result.best.metric)
            """)
        self.assertIn(f"metric {0.5 + 256 * 8192 + 4}", said)
        self.assertEqual([path.stat().st_size for path in (self.home / "blob/arguments").iterdir()], [256 * 8192])

    def test_the_same_call_on_a_cluster(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        text = f"""
            import hpsearch as hp
            client = hp.Client({cluster.server!r})
            blob = b"a" * (1 << 21)
            for number in range(2):
                result = hp.tune(lambda t, data: t["x"] + len(data), {{"x": hp.uniform(0, 1)}}, max_trials=3, on=client, seed=1,
                                 name="lab", arguments={{"data": blob}})
                print("result", result.id, int(result.best.metric))
            try:
                hp.tune(lambda t: t["x"], {{"x": hp.uniform(0, 2)}}, max_trials=3, on=client, seed=1, name="lab")
            except ValueError as error:
                print("refused:", error)
            """
        said = self.run_script(text)
        self.assertEqual(said.count(f"result 1 {1 << 21}"), 2, said)
        self.assertIn(f"refused: the search 'lab' at {cluster.server} was begun with another function, ", said)
        self.assertEqual(len(cluster.experiments()), 1)

    def test_more_trials_go_on_on_a_cluster_too(self):  # A larger max_trials was refused as another search.
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        said = self.run_script(f"""
            import os
            import hpsearch as hp
            client = hp.Client({cluster.server!r})

            def f(trial):
                trial.set_user_attr("twice", 2 * trial["x"])
                with open("note.txt", "w") as file:
                    file.write(str(trial.number))
                return trial["x"]

            def search(trials, **more):
                return hp.tune(f, {{"x": hp.uniform(0, 1)}}, max_trials=trials, on=client, seed=1, name="lab", **more)

            def refused(**more):
                try:
                    search(4, **more)
                except ValueError as error:
                    print(error)

            refused(resume="require")
            first = search(2)
            again = search(4)
            print("goes on", first.id == again.id, len(again.trials), again.state)
            search(4, resume="require", max_restarts=5)
            refused(resume="never")
            trial = again.trials[3]
            while len(trial.files()) < 2:
                pass  # The worker sends them after the end.
            print([file.name for file in trial.files()], trial.files()[0].read_text(), trial.files()[0].download({str(self.folder)!r}).read_text())
            while len(again.frame(["metric"], user_attrs=True)[0]) < 2 or None in [row["user_attrs.twice"] for row in again.frame(user_attrs=True)]:
                pass
            frame = again.frame(["metric"], user_attrs=True)
            print(sorted(frame[0]), all(row["user_attrs.twice"] == 2 * row["metric"] for row in frame), "user_attrs.twice" in again.frame()[0])
            again.delete()
            refused(resume="require")
            print("anew", search(2).id)
            """)
        self.assertIn("anew 2", said)
        self.assertIn("goes on True 4 COMPLETED", said)
        self.assertEqual(said.count(f"there is no search 'lab' at {cluster.server}"), 2, said)
        self.assertIn("goes on with the max_restarts that it was begun with", said)
        self.assertIn("the search 'lab' exists, as experiment 1 of", said)
        self.assertIn("['note.txt', 'user_attrs.json'] 3 3", said)
        self.assertIn("['metric', 'user_attrs.twice'] True False", said)

    def test_the_command_line_has_the_searches_of_python(self):
        said = self.run_script("""
            import hpsearch as hp

            def f(trial):
                hp.report_training(1, seconds=trial["x"] * 3)
                return {"value": trial["x"] ** 2, "twice": 2 * trial["x"]}

            result = hp.tune(f, {"x": hp.uniform(-1, 1)}, max_trials=3, seed=1, slots=2, name="square", progress=False)
            rows = result.frame()
            print([abs(row["metrics.twice"] - 2 * row["hparams.x"]) < 1e-12 for row in rows],
                  [abs(row["metrics.training.seconds"] - 3 * row["hparams.x"]) < 1e-12 for row in rows],
                  [row["metrics.value"] == row["metric"] for row in rows])
            result = hp.tune(f, {"x": hp.uniform(-1, 1), "y": hp.choice("a", "b")}, searcher={"name": "random", "points_to_evaluate": [{"x": 0.5}]},
                             max_trials=2, seed=1, slots=2, name="points", progress=False)
            print("first x", result.trials[0].params["x"])
            """)
        self.assertIn("[True, True, True] [True, True, True] [True, True, True]", said)
        self.assertIn("first x 0.5", said)
        own = harness.environment() | {"HPSEARCH_STATE_HOME": str(self.home)}

        def cli(*arguments):
            done = subprocess.run([str(harness.BIN / "hpsearch"), *arguments], capture_output=True, text=True, env=own, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done
        self.assertIn("from points_to_evaluate: y drawn at random", cli("explain", "points", "0").stdout)
        lines = cli("list").stdout.splitlines()
        self.assertEqual(lines[0], f"of Python, in {self.home}:")
        self.assertRegex(lines[3], r"^square +COMPLETED +100\.0 % ")
        self.assertEqual(len(list(self.home.glob("*/search/last.json"))), 2)
        listed = json.loads(cli("list", "-o", "json").stdout)
        self.assertEqual([(one["search"], one["state"], one["in_use"]) for one in listed["searches_of_python"]],
                         [("points", "COMPLETED", False), ("square", "COMPLETED", False)])
        self.assertEqual(listed["searches"], [])
        self.assertIn("3 completed", cli("show", "square").stdout)
        self.assertEqual(len(cli("trials", "square").stdout.splitlines()), 4)
        cli("set", "square", "max_trials=4")
        self.assertFalse((self.home / "square/search/last.json").exists())
        self.assertRegex(cli("list").stdout, r"(?m)^square +NOT RUNNING ")
        self.assertIn(f"would delete {self.home}/square:", cli("delete", "square").stdout)
        cli("delete", "square", "--yes")
        self.assertEqual([path.name for path in self.home.iterdir()], ["points"])

    def test_a_search_without_a_name_is_removed_by_a_later_call(self):
        call = """
            import hpsearch as hp
            first = hp.tune(lambda t: t["x"], {"x": hp.uniform(0, 1)}, max_trials=2, seed=1, slots=2, progress=False)
            second = hp.tune(lambda t: t["x"], {"x": hp.uniform(0, 1)}, max_trials=2, seed=2, slots=2, progress=False)
            print("both", first.best.metric != second.best.metric, len(hp.searches()))
            """
        self.assertIn("both True 2", self.run_script(call, extra={"HPSEARCH_KEEP": "0"}))
        said = self.run_script(call, extra={"HPSEARCH_KEEP": "0"})  # It removes the searches of the first process, and keeps its own.
        self.assertRegex(said, r"hpsearch: removed 2 searches without a name that have ended, .* \(HPSEARCH_KEEP=0\)\.")
        self.assertIn("both True 2", said)

    def test_searches_are_opened_and_removed_by_name(self):
        self.run_script("""
            import os
            import hpsearch as hp

            def f(trial):
                trial.set_user_attr("kind", "low" if trial["x"] < 0 else "high")
                os.makedirs("plots", exist_ok=True)
                with open("plots/a.txt", "w") as file:
                    file.write("plot %d" % trial.number)
                return {"value": trial["x"] ** 2, "twice": 2 * trial["x"]}

            hp.tune(f, {"x": hp.uniform(-1, 1)}, max_trials=3, seed=1, slots=2, name="square", progress=False)
            """)
        said = self.run_script("""
            import os
            import hpsearch as hp

            print([(one.name, one.state, one.is_named, one.running) for one in hp.searches()])
            found = hp.open("square")
            trial = found.trials[2]
            print([one.name for one in trial.files()], trial.files()[0].path.read_text(), trial.user_attrs)
            print([row["user_attrs.kind"] == ("low" if row["hparams.x"] < 0 else "high") for row in found.frame()])
            for name in ("squar", "/nowhere"):
                try:
                    hp.open(name)
                except hp.NotFound as error:
                    print(error)
            found.delete()
            print("left", hp.searches(), os.listdir(os.environ["HPSEARCH_STATE_HOME"]))

            running = hp.tune(lambda t: __import__("time").sleep(600), {"x": hp.uniform(0, 1)}, max_trials=1, wait=False, progress=False)
            try:
                running.delete()
            except hp.WrongState as error:
                print("refused:", error)
            running.cancel()
            for change in running.watch():
                pass
            running.delete()
            print("gone", hp.searches())
            """)
        self.assertIn("[('square', 'COMPLETED', True, False)]", said)
        self.assertIn("['plots/a.txt', 'user_attrs.json'] plot 2 {'kind': ", said)
        self.assertIn("[True, True, True]", said)
        self.assertIn("there is no search 'squar' on this machine; did you mean 'square'?", said)
        self.assertIn("there is no search '/nowhere' on this machine", said)
        self.assertIn("left [] []", said)
        self.assertRegex(said, r"refused: process \d+ uses the search '.*'; end it first")
        self.assertIn("gone []", said)

    def test_local_ends_with_its_script_and_goes_on(self):
        text = """
            import os, signal, sys
            import hpsearch as hp
            with hp.local("mine", slots=1) as client:
                print("experiments", len(client.experiments()))
                described = hp.experiment(["/bin/sh", "-c", "echo HPSEARCH '{{\\"step\\": 1, \\"metrics\\": {{\\"loss\\": 2}}}}'"],
                                          space={}, searcher=hp.single(metric="loss", max_length=1))
                print("metric", client.submit(described).wait().best.metric)
                print("slots", client.workers()[0]["slots"], flush=True)
                if len(sys.argv) > 1 or os.environ.get("DIES"):
                    os.kill(os.getpid(), signal.SIGKILL)
            """
        said = self.run_script(text, "first")
        self.assertIn("experiments 0\nmetric 2.0\nslots 1", said)
        state = self.home / "mine"
        self.assertIsNone(process_with_lock(state / "daemon/lock"), "the daemon outlived its script")
        self.assertIn("experiments 1", self.run_script(text, "second", expect=-signal.SIGKILL, extra={"DIES": "1"}))
        for program in ("daemon", "worker"):
            harness.wait_for(lambda: process_with_lock(state / program / "lock") is None, f"the {program} to end")

    def test_a_forked_process_does_not_keep_the_daemon_running(self):
        said = self.run_script("""
            import os, signal, time
            import hpsearch as hp
            from hpsearch._local.local import process_with_lock, state_home
            with hp.local("forks", slots=1) as client:
                child = os.fork()
                if child == 0:
                    time.sleep(10000)
                client.status()
            print("held", process_with_lock(state_home() / "forks/daemon/lock"))
            os.kill(child, signal.SIGKILL)
            """)
        self.assertIn("held None", said)

    def test_numbers_of_numpy_are_numbers(self):
        said = self.run_script("""
            try:
                import numpy as np
            except ImportError:
                raise SystemExit("no NumPy")
            import pathlib
            import hpsearch as hp
            result = hp.tune(lambda t: np.float32(t["x"]) + t["c"] + t["k"],
                             {"x": hp.uniform(np.float64(0), np.int64(1)), "c": hp.choice(np.array([1, 2])), "k": np.int32(3),
                              "data": pathlib.Path("data")},
                             max_trials=np.int64(2), max_length=np.int64(3), seed=np.int64(1), slots=np.int64(1))
            print("of", result.config["searcher"]["name"], result.best.params["k"], result.best.params["data"])
            """, expect=(0, 1))
        if "no NumPy" in said:
            self.skipTest("no NumPy here")
        self.assertIn("of adaptive_asha 3 data", said)

    def test_a_result_without_the_metric_fails(self):
        said = self.run_script("""
            import hpsearch as hp
            try:
                hp.tune(lambda t: {"loss": 1.0}, {"x": hp.uniform(0, 1)}, max_trials=1, max_restarts=0)
            except hp.ExperimentFailed as error:
                print(error)
            """)
        self.assertIn("the function returned 'loss', without 'value', the metric of the search", said)

    def test_two_processes_share_no_local_state(self):
        holder = self.script("""
            import hpsearch as hp
            client = hp.local("mine")
            print("holds", flush=True)
            import time; time.sleep(1000)
            """, "holder")
        harness.wait_for(lambda: "holds" in holder.said(), "the first", holder.said)
        said = self.run_script("import hpsearch as hp\nhp.local('mine')\n", "other", expect=1)
        self.assertIn("Unreachable: the daemon of", said)
        self.assertRegex(said, r"in use|already|holds|process \d+")


if __name__ == "__main__":
    unittest.main()
