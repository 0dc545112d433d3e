"""hpsearch.tune(on="inprocess"): the function runs in the process of the caller."""

import contextlib
import functools
import io
import math
import os
import pathlib
import sys
import threading
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[4] / "clients" / "python"), str(pathlib.Path(__file__).resolve().parents[1])]
LIBRARY = pathlib.Path(os.environ["E2E_BIN_DIR"]).parent / "lib" / "libhpsearch.so.0"
if not LIBRARY.exists():
    print(f"there is no {LIBRARY}; the programs are not built\nOK (skipped=1)")
    sys.exit(0)
os.environ["HPSEARCH_LIBRARY"] = str(LIBRARY)

import hpsearch as hp
from hpsearch._inprocess.run import _ENDED

LINE = {"x": hp.uniform(-1, 1)}


class Net:
    def __init__(self):
        self.weight = 0.0

    def state_dict(self):
        return {"weight": [self.weight]}

    def load_state_dict(self, state):
        self.weight = state["weight"].pop()  # A change of the loaded state must not change the checkpoint.


def train(trial, log=None, save=True):
    net = Net()
    start = trial.load(net)
    if log is not None:
        log.append((trial.number, start))
    for epoch in trial.epochs(start):
        net.weight += trial["lr"]
        trial.set_user_attr("last", epoch)
        trial.report(epoch, val_loss=abs(1 - net.weight) + 1 / epoch, epoch=epoch, save=net.state_dict if save else None)


class InProcess(unittest.TestCase):
    def tune(self, function, space=LINE, **more):
        with contextlib.redirect_stderr(io.StringIO()) as self.errors:
            return hp.tune(function, space, on="inprocess", **dict({"seed": 1, "max_trials": 20}, **more))

    def train(self, **more):
        log = []
        result = self.tune(functools.partial(train, log=log, **more.pop("function", {})), {"lr": hp.loguniform(1e-3, 1)}, metric="val_loss",
                           max_length=9, searcher="asha", **more)
        return result, log


class Results(InProcess):
    def test_the_best_trial_is_the_least_value(self):
        threads, values = set(), {}

        def square(trial):
            threads.add(threading.current_thread())
            values[trial.number] = (trial["x"] - 0.5) ** 2
            return values[trial.number]

        result = self.tune(square)
        self.assertIsInstance(result, hp.Experiment)
        self.assertEqual(threads, {threading.main_thread()})
        self.assertEqual((result.best.number, result.best.metric), min((number, value) for number, value in values.items()
                                                                       if value == min(values.values())))
        self.assertEqual([trial.metric for trial in result.trials], [values[number] for number in range(20)])
        self.assertEqual([trial.params["x"] for trial in result.trials.select(sort="metric")][0], result.best.params["x"])
        self.assertEqual(result.state, "COMPLETED")
        self.assertEqual(self.tune(lambda x: -x, smaller_is_better=False).best.params["x"],
                         min(trial.params["x"] for trial in self.tune(lambda x: x).trials))

    def test_parameters_arguments_and_dicts_of_metrics(self):
        result = self.tune(lambda x, *, data, trial: {"loss": x + data[0], "number": trial.number, "deep": {"er": 2}},
                           metric="loss", arguments={"data": [1]})
        table = result.frame()
        rows = table if isinstance(table, list) else table.to_dict("records")
        self.assertEqual(len(rows), 20)
        for number, row in enumerate(rows):
            self.assertEqual((row["trial"], row["metrics.number"], row["metrics.deep.er"], row["state"]), (number, number, 2, "COMPLETED"))
            self.assertEqual(row["metric"], row["hparams.x"] + 1)
        with self.assertRaisesRegex(ValueError, "no field 'lr'; there are trial, state"):
            result.frame(["lr"])

    def test_an_objective_of_optuna(self):
        def objective(trial):
            x = trial.suggest_float("x", -1, 1)
            trial.set_user_attr("twice", 2 * x)
            for step in range(4):
                trial.report(x + 1 / (step + 1), step)
                if trial.should_prune():
                    return x + 1 / (step + 1)
            return x
        result = self.tune(hp.optuna.objective(objective, LINE), None, metric="loss", max_length=4, searcher="asha")
        self.assertEqual(result.best.metric, 0.25 + min(trial.params["x"] for trial in result.trials if trial.reached == 4))
        self.assertGreater(result.now().trials["STOPPED"], 0)
        self.assertEqual([trial.user_attrs["twice"] for trial in result.trials], [2 * trial.params["x"] for trial in result.trials])

    def test_the_same_seed_gives_the_same_search(self):
        one, two, other = self.train(seed=5), self.train(seed=5), self.train(seed=6)
        self.assertEqual(one[1], two[1])
        self.assertEqual([trial.params for trial in one[0].trials], [trial.params for trial in two[0].trials])
        self.assertNotEqual(one[0].best.params, other[0].best.params)
        drawn = [self.tune(lambda x: x, seed=None, max_trials=1).best.params for _ in range(2)]
        self.assertNotEqual(*drawn)

    def test_decisions_are_those_of_the_engine(self):
        result, _ = self.train()
        search = hp.Search(result.config)
        while (work := search.ask()) is not None:
            weight, step, directive = work.start * work.params["lr"], work.start, hp.CONTINUE
            while directive is hp.CONTINUE:
                step += 1
                weight += work.params["lr"]
                directive = search.report(work, step, abs(1 - weight) + 1 / step)
        self.assertEqual(search.state()["trials"], result.now().trials)
        self.assertEqual(search.best.trial, result.best.number)

    def test_states_are_those_of_the_engine(self):
        def bad(x):
            if x < -0.5:
                raise ValueError("too small")
            return math.nan if x < 0 else x
        for result in (self.train()[0], self.train(slots=3)[0], self.tune(bad)):
            counts = result.search.state()["trials"]
            self.assertEqual(result.now().trials, counts)
            self.assertEqual({trial.state for trial in result.trials}, {state for state, count in counts.items() if count})
            self.assertLessEqual({trial.state for trial in result.trials}, set(_ENDED))

    def test_curves_and_history(self):
        result, _ = self.train()
        table = result.curves(trials="best:1", metric=["val_loss", "epoch"])
        rows = table if isinstance(table, list) else table.to_dict("records")
        best = result.best
        self.assertEqual([row["value"] for row in rows if row["metric"] == "epoch"], list(range(1, best.reached + 1)))
        self.assertEqual(min(row["value"] for row in rows if row["metric"] == "val_loss"), best.metric)
        self.assertEqual(result.history()["points"][-1]["metric"], best.metric)
        self.assertEqual(len(best.metrics()), best.reached)
        self.assertEqual(hp.Search.load(result.save()).best.metric, best.metric)

    def test_what_needs_a_daemon_says_so(self):
        result = self.tune(lambda x: x, max_trials=1)
        for call in (result.pause, result.best.log, result.best.files, lambda: result.best.save_files("files.tar"), lambda: result.set(max_trials=3),
                     lambda: result.frame(where="x<1"), lambda: list(result.trials.select("x<1"))):
            with self.assertRaisesRegex(NotImplementedError, "daemon"):
                call()
        for wrong in ({"name": "a"}, {"context": "."}, {"resources": {"gpus": 1}}, {"preload": ["json"]}, {"resume": "require"},
                      {"wait": False}):
            with self.assertRaisesRegex(ValueError, 'with on="inprocess" has none, because'):
                self.tune(lambda x: x, **wrong)
        for slots in (0, "auto", True):
            with self.assertRaisesRegex(ValueError, "slots is .*number of threads"):
                self.tune(lambda x: x, slots=slots)


class Training(InProcess):
    def test_a_promoted_trial_goes_on_from_its_checkpoint(self):
        result, log = self.train()
        begun = {number for number, start in log if start is None}
        continued = [(number, start) for number, start in log if start is not None]
        self.assertEqual(begun, set(range(20)))
        self.assertTrue(continued)
        for number, start in continued:
            steps = [report["step"] for report in result.trials[number].metrics()]
            self.assertEqual(steps, list(range(1, len(steps) + 1)))
            self.assertGreater(len(steps), start)
        for trial in result.trials:
            self.assertEqual(trial.user_attrs, {"last": trial.reached})
            self.assertAlmostEqual(trial.metrics()[-1]["metrics"]["val_loss"],
                                   abs(1 - trial.params["lr"] * trial.reached) + 1 / trial.reached)

    def test_one_that_failed_after_its_promotion_begins_there_again(self):
        starts = []

        def function(trial):
            net = Net()
            start = trial.load(net)  # It empties its copy of the state.
            starts.append((trial.number, start))
            for epoch in trial.epochs(start):
                trial.report(epoch, value=trial["x"], save=net.state_dict)
                if start and trial.attempt < 3:
                    raise ValueError("once")
        result = self.tune(function, max_length=9, searcher="asha", max_restarts=1)
        self.assertEqual(result.now().trials["FAILED"], 0)
        promoted = [one for one in starts if one[1]]
        self.assertTrue(promoted)
        self.assertEqual(promoted[::2], promoted[1::2])

    def test_nan_ends_a_training(self):
        def function(trial):
            for epoch in trial.epochs():
                trial.report(epoch, value=math.nan if trial.number == 1 and epoch == 2 else trial["x"])
        result = self.tune(function, max_length=4, searcher="random", max_trials=3)
        self.assertEqual([(trial.state, trial.reached) for trial in result.trials], [("COMPLETED", 4), ("FAILED", 2), ("COMPLETED", 4)])
        self.assertEqual(result.trials[1].failure, "value is NaN at 2")

    def test_one_without_checkpoints_begins_anew(self):
        result, log = self.train(function={"save": False})
        again = [number for number in set(number for number, _ in log) if [one for one, _ in log].count(number) > 1]
        self.assertTrue(again)
        self.assertEqual({start for _, start in log}, {None})
        self.assertEqual(result.trials[again[0]].reached, result.trials[again[0]].length)

    def test_raise_ends_the_function(self):
        def function(trial):
            for step in range(1, 100):
                trial.report(step, value=trial["x"], raise_=True)
            raise AssertionError("it was not stopped")
        result = self.tune(function, max_length=4, searcher="asha")
        self.assertEqual(result.now().trials["FAILED"], 0)

    def test_a_function_may_end_before_its_length(self):
        def function(trial):
            trial.report(1, value=trial["x"])
        result = self.tune(function, max_length=4, searcher="random", max_trials=5)
        self.assertEqual([(trial.state, trial.reached) for trial in result.trials], [("COMPLETED", 1)] * 5)

    def test_threads_give_all_results(self):
        result, log = self.train(slots=4, max_trials=30)
        self.assertEqual(result.now().trials["FAILED"], 0)
        self.assertEqual(len(result.trials), 30)
        alone, _ = self.train(max_trials=30)
        self.assertEqual([trial.params for trial in result.trials], [trial.params for trial in alone.trials])

    def test_as_many_threads_as_slots_work_at_once(self):
        together = threading.Barrier(3, timeout=20)

        def function(x):
            together.wait()
            return x
        self.assertEqual(self.tune(function, slots=3, max_trials=6).now().trials["COMPLETED"], 6)


class Failures(InProcess):
    def test_bad_trials_end_and_the_search_goes_on(self):
        def function(x):
            if x < 0:
                raise ValueError("x is below 0")
            return math.nan if x < 0.3 else math.inf if x < 0.4 else x
        result = self.tune(function, max_trials=30)
        failed = [trial for trial in result.trials if trial.state == "FAILED"]
        self.assertEqual([trial.number for trial in failed], [trial.number for trial in result.trials if trial.params["x"] < 0.4])
        self.assertGreaterEqual(result.best.params["x"], 0.4)
        texts = "".join(trial.failure for trial in failed)
        self.assertIn("ValueError: x is below 0", texts)
        self.assertIn("nan", texts)
        self.assertIn("inprocess_test.py", texts)
        self.assertNotIn("_inprocess", texts)
        self.assertRegex(self.errors.getvalue(), r"warning: \d+ of 30 trials failed")

    def test_first_trials_that_all_fail_alike_end_the_search(self):
        calls = []

        def function(x):
            calls.append(x)
            raise ZeroDivisionError("always")
        with self.assertRaisesRegex(hp.ExperimentFailed, "(?s)first 8 trials all failed alike.*ZeroDivisionError: always") as caught:
            self.tune(function)
        self.assertEqual(len(calls), 8)
        self.assertEqual(len(caught.exception.experiment.trials), 8)
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        with self.assertRaisesRegex(hp.ExperimentFailed, "every trial failed"):
            self.tune(function, pause_on_failures=None)
        self.assertEqual(len(calls), 28)

    def test_different_failures_and_later_ones_do_not(self):
        def function(trial):
            if trial.number % 2 or trial.number > 2:
                raise (ValueError if trial.number % 2 else KeyError)("odd")
            return trial["x"]
        self.assertEqual(self.tune(function).now().trials["FAILED"], 18)

    def test_first_trials_that_fail_in_two_ways_do_not(self):
        calls = []

        def function(trial):
            calls.append(trial.number)
            raise (ValueError if trial.number % 2 else KeyError)("odd")
        with self.assertRaisesRegex(hp.ExperimentFailed, "every trial failed"):
            self.tune(function)
        self.assertEqual(calls, list(range(20)))

    def test_a_search_of_failures_has_no_result(self):
        with self.assertRaisesRegex(hp.ExperimentFailed, "(?s)every trial failed.*KeyError"):
            self.tune(lambda x: {}["x"], max_trials=3)

    def test_a_failed_trial_is_tried_again_if_that_is_asked_for(self):
        attempts = []

        def function(trial):
            attempts.append((trial.number, trial.attempt))
            if trial.attempt < 3:
                raise ValueError
            return trial["x"]
        result = self.tune(function, max_restarts=2, max_trials=4)
        self.assertEqual(sorted(attempts), [(number, attempt) for number in range(4) for attempt in (1, 2, 3)])
        self.assertEqual(result.now().trials["COMPLETED"], 4)

    def test_invalid_hyperparameters_are_drawn_again(self):
        def function(x):
            if x < bound:
                hp.invalid_hyperparameters("x is too low")
            return x
        bound = -0.5
        result = self.tune(function, max_trials=8)
        self.assertEqual(result.now().trials["COMPLETED"], 8)
        self.assertEqual([trial.state for trial in result.trials], ["COMPLETED" if trial.params["x"] >= bound else "STOPPED" for trial in result.trials])

        bound = 1
        with self.assertRaisesRegex(hp.ExperimentFailed, "only 8 may be replaced"):
            self.tune(function, max_trials=8)

    def test_a_function_without_the_metric_fails_with_a_hint(self):
        for function, text in ((lambda x: None, "returned None and reported nothing"), (lambda x: {"loss": 1}, "without 'value'")):
            with self.assertRaisesRegex(hp.ExperimentFailed, text):
                self.tune(function)

    def test_an_interruption_keeps_the_results(self):
        def function(trial):
            if trial.number == 5:
                raise KeyboardInterrupt
            return trial["x"]
        with self.assertRaises(KeyboardInterrupt) as caught:
            self.tune(function)
        self.assertEqual(sum(trial.state == "COMPLETED" for trial in caught.exception.experiment.trials), 5)
        self.assertIn("interrupted", self.errors.getvalue())

    def test_a_wrong_experiment_lists_its_mistakes(self):
        with self.assertRaisesRegex(hp.BadRequest, "(?s)2 arguments are wrong.*max_trials is 0"):
            self.tune(lambda x: x, max_trials=0, max_length=-1)


if __name__ == "__main__":
    unittest.main()
