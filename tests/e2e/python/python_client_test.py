"""The Python client with a real daemon and a real worker: what a notebook does, from submission to results."""

import asyncio
import json
import signal
import sys
import threading
import time
import unittest

import harness

PACKAGE = harness.ROOT / "clients" / "python"
sys.path.insert(0, str(PACKAGE))

import hpsearch as hp

PROGRAM = f"""
import sys
sys.path.insert(0, {str(PACKAGE)!r})
import hpsearch
params, step, directive = hpsearch.params(), 0, hpsearch.CONTINUE
if hpsearch.latest_checkpoint():
    step = int((hpsearch.latest_checkpoint() / "step").read_text())
print("attempt", hpsearch.trial().attempt, "from", step, flush=True)
while directive is hpsearch.CONTINUE:
    step += step < hpsearch.length()
    (hpsearch.checkpoint_dir() / "step").write_text(str(step))
    hpsearch.checkpoint(step=step)
    hpsearch.report_training(step, loss=1 / step)
    directive = hpsearch.report(step, loss=params["net"]["width"] + params["lr"] / step)
"""


class PythonClient(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.context = self.folder / "context"
        self.context.mkdir()
        (self.context / "train.py").write_text(PROGRAM)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.client = hp.Client(self.cluster.server)

    def start_worker(self, slots=2):
        self.cluster.start_worker(slots)

    def described(self, entrypoint=("/usr/bin/python3", "-IS", "train.py"), searcher=None, **more):
        space = {"lr": hp.loguniform(1e-4, 1e-1), "net": {"width": hp.int(1, 8), "kind": hp.choice("a", "b")}}
        return hp.experiment(entrypoint, space=space, searcher=searcher or hp.asha(
            metric="loss", max_length={"epochs": 9}, max_trials=6, divisor=3), **more)

    def test_from_submission_to_results(self):
        experiment = self.client.submit(self.described(), context=self.context, name="lr", seed=7)
        self.start_worker()
        changes = list(experiment.watch())
        self.assertEqual(changes[-1].state, "COMPLETED")
        self.assertEqual([change.lsn for change in changes], sorted(change.lsn for change in changes))
        self.assertIs(experiment.wait(), experiment)
        self.assertEqual((experiment.name, experiment.state, len(experiment.trials)), ("lr", "COMPLETED", 6))

        best = experiment.best
        trials = list(experiment.trials)
        self.assertEqual(best.metric, min(trial.metric for trial in trials if trial.metric is not None))
        self.assertEqual(best.number, changes[-1].best.trial)
        self.assertEqual(set(best.params), {"lr", "net"})
        copy = best.checkpoint.download(self.folder / "best")
        self.assertEqual((copy / "step").read_text(), str(best.checkpoint.step))
        with self.assertRaises(FileExistsError):
            best.checkpoint.download(copy)
        away = next(checkpoint for checkpoint in best.checkpoints() if checkpoint.path == best.checkpoint.path)
        away.path = str(self.folder / "another machine")
        fetched = away.download(self.folder / "fetched")
        self.assertEqual((fetched / "step").read_text(), (copy / "step").read_text())

        rows = experiment.frame()
        self.assertEqual([row["trial"] for row in rows], list(range(6)))
        self.assertEqual([row["hparams.net.width"] for row in rows], [trial.params["net"]["width"] for trial in trials])
        self.assertEqual([row["hparams.lr"] for row in experiment.frame(["hparams.lr"])],
                         [trial.params["lr"] for trial in trials])
        self.assertEqual({row["trial"] for row in experiment.frame(where="net.width<=4")},
                         {trial.number for trial in trials if trial.params["net"]["width"] <= 4})
        curves = experiment.curves(trials="best:2")
        self.assertEqual({row["trial"] for row in curves},
                         {trial.number for trial in sorted(trials, key=lambda one: one.metric)[:2]})
        of_best = [row for row in curves if row["trial"] == best.number]
        self.assertEqual([row["step"] for row in of_best], list(range(1, best.reached + 1)))
        self.assertEqual(of_best, [{"trial": best.number, "step": report["step"], "metric": "loss",
                                    "value": report["metrics"]["loss"]} for report in best.metrics()
                                   if "loss" in report["metrics"]])
        self.assertEqual({row["metric"] for row in experiment.curves([0], metric=["loss", "training.loss"])},
                         {"loss", "training.loss"})

        best.annotate(labels=["odd", "fast"], starred=True)
        self.assertEqual([one.number for one in experiment.trials.select("labels = odd and starred = true")], [best.number])
        self.assertEqual(best.refresh().annotation.labels, ("fast", "odd"))

        self.assertIn("attempt 1 from 0", experiment.trials[0].log(attempt=1))
        self.assertEqual("".join(experiment.trials[0].log(follow=True, attempt=1)), experiment.trials[0].log(attempt=1))
        self.assertIn("trial {}: {}".format(best.number, best.state), str(best.explain()))
        self.assertEqual(experiment.config["searcher"]["max_trials"], 6)
        self.assertEqual(experiment.history()["points"][-1]["metric"], best.metric)
        self.assertIn(("loss", 6), [(metric["name"], metric["trials"]) for metric in experiment.metrics()])
        self.assertTrue(experiment.rungs()["brackets"])
        self.assertTrue(experiment.timeline()["bars"])
        self.assertIn("COMPLETED", experiment._repr_html_())
        with self.assertRaises(IndexError):
            experiment.trials[6]
        with self.assertRaises(hp.NotFound):
            self.client.experiment(99)
        self.assertEqual([one.id for one in self.client.experiments(state="COMPLETED")], [experiment.id])

    def test_a_daemon_that_is_killed_interrupts_nobody(self):
        self.start_worker()
        (self.context / "train.py").write_text(PROGRAM + "    import time; time.sleep(0.05)\n")
        experiment = self.client.submit(self.described(), context=self.context, key="night")
        seen = []

        def disturb():
            while len(seen) < 2:
                time.sleep(0.01)
            self.cluster.kill_daemon()
            self.cluster.start_daemon()

        disturber = threading.Thread(target=disturb)
        disturber.start()
        for change in experiment.watch():
            seen.append((change.lsn, change.state))
        disturber.join()
        self.assertEqual(seen[-1][1], "COMPLETED")
        self.assertEqual([lsn for lsn, _ in seen], sorted(lsn for lsn, _ in seen))
        self.assertEqual(self.client.submit(self.described(), context=self.context, key="night").id, experiment.id,
                         "one key created two experiments")

    def test_all_mistakes_at_once_with_lines(self):
        file = self.folder / "wrong.yaml"
        file.write_text("name: [x]\nentrypoint: 5\nmax_restarts: -1\nfoo: 1\nhyperparameters:\n  lr: {type: log, minval: 3}\n"
                        "  n: {type: int, minval: 3, maxval: 1}\n  k: {type: categorical, vals: []}\nsearcher:\n"
                        "  name: adaptive_asha\n  max_trials: 0\n  divisor: 1\n  mode: fast\n  max_length: -3\n")
        with self.assertRaises(hp.BadRequest) as caught:
            self.client.submit(file)
        self.assertGreaterEqual(len(caught.exception.problems), 12, caught.exception)
        lines = {item.path: item.line for item in caught.exception.problems}
        self.assertEqual((lines["foo"], lines["searcher.divisor"]), (4, 12))
        self.assertIn("line 12: searcher.divisor", str(caught.exception))
        self.assertEqual(len(self.client.validate(file)), len(caught.exception.problems))
        self.assertEqual(self.client.experiments(), [])

    def test_a_file_of_yaml_with_secrets(self):
        file = self.context / "lr.yaml"
        program = ("import json, os; print('HPSEARCH', json.dumps(dict(step=1, "
                   "metrics=dict(loss=int(os.environ['SECRET'])))))")
        file.write_text(f"entrypoint: [/usr/bin/python3, -c, {json.dumps(program)}]\nhyperparameters: {{x: 1e-4}}\n"
                        "searcher: {name: single, metric: loss, max_length: 1}\n"
                        "environment: {environment_variables: {SECRET: \"17\"}}\n")
        self.start_worker()
        experiment = self.client.submit(file, context=self.context).wait()
        self.assertEqual((experiment.best.metric, experiment.best.params, experiment.name), (17, {"x": 1e-4}, "lr"))
        self.assertEqual(experiment.file, file.read_text().replace('"17"', '"<hidden>"'))

    def test_searches_that_fail_say_why(self):
        self.start_worker()
        (self.context / "broken.py").write_text("raise SystemExit('no such data')\n")
        broken = self.described(["/usr/bin/python3", "broken.py"], max_restarts=0)
        with self.assertRaises(hp.ExperimentFailed) as caught:
            self.client.submit(broken, context=self.context).wait()
        self.assertIn("no such data", str(caught.exception))
        (self.context / "silent.py").write_text(PROGRAM.replace("loss=params", "error=params") + "    directive = None\n")
        silent = self.described(["/usr/bin/python3", "silent.py"], searcher=hp.single(metric="loss", max_length=2))
        experiment = self.client.submit(silent, context=self.context)
        with self.assertRaises(hp.ExperimentFailed) as caught:
            experiment.wait(timeout=harness.PATIENCE)
            experiment.best
        self.assertIn("loss", str(caught.exception))

    def test_changes(self):
        experiment = self.client.submit(self.described(), context=self.context)
        experiment.pause()
        self.assertEqual(experiment.state, "PAUSED")
        with self.assertRaises(TimeoutError):
            experiment.wait(timeout=0.05)
        experiment.resume()
        experiment.set(max_trials=7, priority=3)
        self.assertEqual((experiment.config["searcher"]["max_trials"], experiment.config["resources"]["priority"]), (7, 3))
        with self.assertRaises(hp.Problem):
            experiment.set(max_trials=0)
        experiment.kill()
        with self.assertRaises(hp.ExperimentCanceled):
            experiment.wait()
        experiment.annotate(note="too slow", labels=["wide", "again"])
        experiment.annotate(starred=True)
        self.assertEqual(repr(experiment.annotation),
                         "Annotation(note='too slow', labels=('again', 'wide'), starred=True)")
        with self.assertRaisesRegex(hp.BadRequest, "note has 10001 bytes; it may have 10000"):
            experiment.annotate(note="x" * 10_001)
        other = self.client.submit(self.described(), context=self.context)
        other.cancel()
        with self.assertRaises(hp.ExperimentCanceled):
            other.wait()

    def test_a_grid_too_large_to_count_is_submitted_at_once(self):
        space = {f"x{at}": hp.uniform(0, 1, count=1000) for at in range(6)}
        described = hp.experiment(["true"], space=space, searcher=hp.grid(metric="loss", max_length=1))
        self.assertEqual(float(self.client.preview(described)["trials"]), 1e18)
        self.client.submit(described).kill()

    def test_asyncio(self):
        self.start_worker()

        async def search():
            async with hp.aio.Client(self.cluster.server) as client:
                experiments = [await client.submit(self.described(), context=self.context) for _ in range(2)]
                watched = await asyncio.gather(*[self.states(experiment) for experiment in experiments])
                for experiment in experiments:
                    await experiment.wait()
                return watched, [(await experiment.best()).metric for experiment in experiments]

        watched, metrics = asyncio.run(search())
        self.assertEqual([states[-1] for states in watched], ["COMPLETED", "COMPLETED"])
        self.assertEqual(metrics, [self.client.experiment(number).best.metric for number in (1, 2)])

    @staticmethod
    async def states(experiment):
        return [change.state async for change in experiment.watch()]

    def test_an_interrupted_wait_ends_no_search(self):
        self.start_worker()
        script = self.folder / "wait.py"
        script.write_text(f"import sys\nsys.path.insert(0, {str(PACKAGE)!r})\nimport hpsearch as hp\n"
                          f"experiment = hp.Client({self.cluster.server!r}).experiment(1)\n"
                          "print('waits', flush=True)\nexperiment.wait()\n")
        (self.context / "train.py").write_text(PROGRAM + "    import time; time.sleep(0.1)\n")
        experiment = self.client.submit(self.described(), context=self.context)
        waiting = self.start("/usr/bin/python3", "-B", script, log="wait.log")
        harness.wait_for(lambda: "waits" in waiting.said(), "the script to wait")
        time.sleep(0.3)
        waiting.end(signal.SIGINT)
        self.assertIn("experiment 1 goes on. To wait again: hpsearch.Client('unix://", waiting.said())
        experiment.wait()


if __name__ == "__main__":
    unittest.main()
