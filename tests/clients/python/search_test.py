"""hpsearch.Search: the engine inside this process, through the C library that the build made."""

import math
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))
LIBRARY = pathlib.Path(os.environ["E2E_BIN_DIR"]).parent / "lib" / "libhpsearch.so.0"
if not LIBRARY.exists():
    print(f"there is no {LIBRARY}; the programs are not built\nOK (skipped=1)")
    sys.exit(0)
os.environ["HPSEARCH_LIBRARY"] = str(LIBRARY)

import hpsearch
from hpsearch.search import Search, SearchError

CONFIG = {
    "hyperparameters": {"x": {"type": "double", "minval": -4, "maxval": 4}, "kind": {"type": "categorical", "vals": ["a", "b"]}},
    "searcher": {"name": "adaptive_asha", "metric": "loss", "max_length": 27, "max_trials": 40},
    "max_restarts": 1,
    "reproducibility": {"experiment_seed": 5},
}


def loss(work, step):
    return (work.params["x"] - 1) ** 2 + (work.params["kind"] == "b") + 1 / step


def finish(search):
    """Trains what is asked for; the reports, and what each trial measured last."""
    reports, measured = 0, {}
    while (work := search.ask()) is not None:
        directive = hpsearch.CONTINUE
        while directive is hpsearch.CONTINUE:
            step = work.length
            measured[work.trial] = min(loss(work, step), measured.get(work.trial, math.inf))
            directive = search.report(work, step, loss(work, step))
            if directive is hpsearch.CONTINUE and work.length <= step:
                raise AssertionError("it is to train on, but not further")
            reports += 1
    return reports, measured


class SearchTest(unittest.TestCase):
    def test_a_search_ends_with_the_best_that_was_measured(self):
        with Search(CONFIG) as search:
            self.assertIsNone(search.best)
            self.assertEqual(search.preview()["trials"], 40)
            reports, measured = finish(search)
            self.assertTrue(search.finished)
            self.assertGreaterEqual(reports, 40)
            best = search.best
            self.assertEqual(best.metric, min(measured.values()))
            self.assertEqual(best.trial, min(measured, key=measured.get))
            self.assertEqual(set(best.params), {"x", "kind"})
            states = search.state()["trials"]
            self.assertEqual(sum(states.values()), 40)
            self.assertGreater(states["STOPPED"], 0)

    def test_the_same_seed_gives_the_same_search_for_any_number_of_calls_between(self):
        def trace(curious):
            with Search(CONFIG, slots=3) as search:
                events = []
                out = [search.ask() for _ in range(3)]
                while out:
                    work = out.pop(0)
                    if curious:
                        search.state(), search.explain(work.trial), search.save(), search.best
                    events.append((work.trial, work.start, work.length, work.seed, tuple(sorted(work.params.items()))))
                    while search.report(work, work.length, loss(work, work.length)) is hpsearch.CONTINUE:
                        pass
                    while (new := search.ask()) is not None:
                        out.append(new)
                return events
        self.assertEqual(trace(False), trace(True))

    def test_a_paused_trial_is_given_again_from_where_it_was(self):
        config = {**CONFIG, "searcher": {"name": "async_halving", "metric": "loss", "max_length": 9, "num_rungs": 2, "divisor": 3,
                                         "max_trials": 6}}
        with Search(config) as search:
            first = search.ask()
            self.assertEqual((first.trial, first.start, first.length), (0, 0, 3))
            self.assertIs(search.report(first, 3, 0.5), hpsearch.PAUSE)
            seeds = {first.seed}
            for _ in range(2):
                other = search.ask()
                seeds.add(other.seed)
                self.assertIs(search.report(other, 3, 1.0), hpsearch.PAUSE)
            self.assertEqual(len(seeds), 3)
            again = search.ask()
            self.assertEqual((again.trial, again.start, again.length, again.params, again.seed), (0, 3, 9, first.params, first.seed))
            self.assertIs(search.report(again, 9, 0.25), hpsearch.STOP)
            self.assertEqual((search.best.trial, search.best.metric, search.best.step, search.best.params), (0, 0.25, 9, first.params))

    def test_at_most_the_slots_are_out(self):
        with Search(CONFIG, slots=2) as search:
            one, two = search.ask(), search.ask()
            self.assertIsNone(search.ask())
            self.assertNotEqual(one.trial, two.trial)
            self.assertFalse(search.finished)

    def test_a_file_for_a_cluster_runs_with_the_slots_of_the_program(self):
        for more in ({"workers": "external"}, {"resources": {"slots_per_trial": 4}}, {"resources": {"max_slots": 1, "priority": 9}},
                     {"resources": {"slots_per_trial": 0}}):
            with self.subTest(more), Search({**CONFIG, **more}, slots=3) as search:
                self.assertEqual([search.ask() is None for _ in range(4)], [False, False, False, True])
        with self.assertRaisesRegex(SearchError, "resources.priority"):
            Search({**CONFIG, "resources": {"priority": "high"}})

    def test_a_saved_search_goes_on(self):
        first = Search(CONFIG)
        for _ in range(10):
            work = first.ask()
            while first.report(work, work.length, loss(work, work.length)) is hpsearch.CONTINUE:
                pass
        out = first.ask()
        saved = first.save()
        first.close()
        second = Search.load(saved)
        again = second.ask()
        self.assertEqual((again.trial, again.params, again.seed), (out.trial, out.params, out.seed))
        while second.report(again, again.length, loss(again, again.length)) is hpsearch.CONTINUE:
            pass
        finish(second)
        with Search(CONFIG) as whole:
            finish(whole)
            self.assertEqual((second.best.trial, second.best.metric), (whole.best.trial, whole.best.metric))

    def test_failed_work_comes_again_and_invalid_parameters_are_drawn_anew(self):
        with Search(CONFIG) as search:
            work = search.ask()
            search.tell(work, "failed", "no memory")
            self.assertEqual(search.ask().trial, work.trial)
            search.tell(work, "failed", "no memory")
            self.assertEqual(search.state()["trials"]["FAILED"], 1)
            other = search.ask()
            search.tell(other, "invalid_hyperparameters", "x is too small")
            self.assertNotEqual(search.ask().params["x"], other.params["x"])

    def test_failed_work_comes_again_at_once_as_often_as_the_search_says(self):
        with Search({**CONFIG, "max_restarts": 3}) as search:
            trials = []
            for _ in range(5):
                work = search.ask()
                self.assertIsNotNone(work, f"after {len(trials)} failures; {search.explain(0)}")
                trials.append(work.trial)
                search.tell(work, "failed", "no memory")
            self.assertEqual(trials, [0, 0, 0, 0, 1])
            self.assertEqual(search.state()["trials"]["FAILED"], 1)
            finish(search)
            self.assertTrue(search.finished)

    def test_metrics_that_are_no_numbers_rank_last(self):
        with Search({**CONFIG, "searcher": {**CONFIG["searcher"], "max_trials": 6}}) as search:
            while (work := search.ask()) is not None:
                metric = math.nan if work.trial == 0 else math.inf if work.trial == 1 else 1.0 + work.trial
                while search.report(work, work.length, metric) is hpsearch.CONTINUE:
                    pass
            self.assertEqual(search.best.trial, 2)

    def test_each_refusal_is_one_sentence_with_what_is_allowed(self):
        with self.assertRaises(SearchError) as caught:
            Search({"searcher": {"name": "rndom", "metric": "loss", "max_length": 0, "max_trials": 3}})
        self.assertEqual({each["path"] for each in caught.exception.problems}, {"searcher.name", "searcher.max_length"})
        self.assertIn('searcher.name: is "rndom"', str(caught.exception))
        self.assertIn("adaptive_asha", str(caught.exception))
        with Search(CONFIG) as search:
            for call, code in ((lambda: search.report(7, 1, 0.5), "not_found"), (lambda: search.explain(10**6), "not_found"),
                               (lambda: search.tell(0, "lost"), "bad_request")):
                with self.assertRaises(SearchError) as caught:
                    call()
                self.assertEqual(caught.exception.code, code)
                self.assertEqual(len(str(caught.exception).splitlines()), 1)
            self.assertIsNotNone(search.ask(), "a refusal changes nothing")
        with self.assertRaisesRegex(ValueError, "closed"):
            search.ask()
        with self.assertRaisesRegex(SearchError, "line 1 of saved"):
            Search.load("{}")
        with self.assertRaisesRegex(ValueError, "slots is 0"):
            Search(CONFIG, slots=0)
        with self.assertRaisesRegex(ValueError, "slots is -1"):
            Search(CONFIG, slots=-1)


if __name__ == "__main__":
    unittest.main()
