"""hpsearch.tune(callbacks=[...]): what callbacks see of real searches, and how they end them."""

import contextlib
import io
import os
import sys
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "clients" / "python"))

import hpsearch as hp


class Seen(hp.SearchCallback):
    def __init__(self):
        self.best, self.ended = [], []

    def on_best(self, experiment, trial):
        self.best.append(trial.metric)

    def on_trial_end(self, experiment, trial):
        self.ended.append((trial.number, trial.state))


class PythonCallbacks(harness.Case):
    def setUp(self):
        super().setUp()
        os.environ.update(HPSEARCH_STATE_HOME=str(self.folder / "state"), HPSEARCH_BIN=str(harness.BIN))

    def tune(self, **more):
        with contextlib.redirect_stderr(io.StringIO()) as self.errors:
            if "on" not in more:
                more["slots"] = 2
            return hp.tune(lambda x: x * x, {"x": hp.uniform(-1, 1)}, seed=1, **more)

    def test_a_target_ends_the_search_and_the_same_call_goes_on(self):
        seen = Seen()
        result = self.tune(max_trials=60, name="target", callbacks=[seen, hp.stop_at(0.1)])
        self.assertEqual(result.state, "COMPLETED")
        count = len(result.trials)
        self.assertLess(count, 60)
        self.assertLessEqual(result.best.metric, 0.1)
        self.assertEqual(sorted(seen.ended), [(number, "COMPLETED") for number in range(count)])
        self.assertEqual(seen.best, sorted(seen.best, reverse=True))
        self.assertEqual(seen.best[-1], result.best.metric)
        self.assertIn("which is 0.1 or better; no new trial begins", self.errors.getvalue())
        again = Seen()
        more = self.tune(max_trials=count + 2, name="target", callbacks=[again])
        self.assertEqual(len(more.trials), count + 2)
        self.assertEqual(sorted(again.ended), [(count, "COMPLETED"), (count + 1, "COMPLETED")])

    def test_an_exception_pauses_the_search(self):
        def raising(experiment, trial):
            raise LookupError("of the callback")
        with self.assertRaisesRegex(LookupError, "of the callback"):
            self.tune(max_trials=6, name="raising", callbacks=[raising])
        self.assertIn("a callback raised LookupError; the search is paused", self.errors.getvalue())
        self.assertEqual(self.tune(max_trials=6, name="raising").now().trials["COMPLETED"], 6)

    def test_conditions_end_searches_of_a_daemon(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        with contextlib.redirect_stderr(io.StringIO()):
            grid = hp.tune(lambda x: 1.0, {"x": hp.uniform(0, 1, count=200)}, searcher="grid", on=hp.Client(cluster.server),
                           callbacks=[hp.stop_on_plateau(4)])
            timed = hp.tune(lambda x: 1.0, {"x": hp.uniform(0, 1)}, max_trials=2000, on=hp.Client(cluster.server),
                            callbacks=[hp.stop_after("2s")])
        self.assertEqual((grid.state, timed.state), ("COMPLETED", "COMPLETED"))
        self.assertLess(sum(trial.state == "COMPLETED" for trial in grid.trials), 200)
        self.assertLess(len(timed.trials), 2000)

    def test_a_search_of_a_daemon_that_goes_on_calls_for_new_trials_only(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        self.tune(max_trials=3, name="again", on=hp.Client(cluster.server))
        again = Seen()
        self.tune(max_trials=5, name="again", on=hp.Client(cluster.server), callbacks=[again])
        self.assertEqual(sorted(again.ended), [(3, "COMPLETED"), (4, "COMPLETED")])


if __name__ == "__main__":
    unittest.main()
