"""hpsearch.Search in this process and a daemon decide the same for the same experiment file and seed."""

import os
import random
import sys
import unittest

import harness

LIBRARY = harness.BIN.parent / "lib" / "libhpsearch.so.0"
sys.path.insert(0, str(harness.ROOT / "clients" / "python"))
os.environ["HPSEARCH_LIBRARY"] = str(LIBRARY)

from hpsearch.search import Search

SEED = int(os.environ.get("E2E_SEED", "1"))
SLOTS = 3
SPACE = {"lr": {"type": "log", "base": 10, "minval": -4, "maxval": -1}, "width": {"type": "int", "minval": 8, "maxval": 64},
         "net": {"kind": {"type": "categorical", "vals": ["a", "b", None]},
                 "depth": {"type": "int", "minval": 1, "maxval": 4, "when": {"net.kind": "a"}}}}
SEARCHERS = {
    "random": {"name": "random", "max_trials": 20},
    "halving": {"name": "async_halving", "max_trials": 30, "num_rungs": 3, "divisor": 3},
    "halving that stops once": {"name": "async_halving", "max_trials": 30, "num_rungs": 3, "divisor": 3, "stop_once": True},
    "brackets": {"name": "adaptive_asha", "max_trials": 30, "mode": "conservative", "smaller_is_better": False},
    "brackets with tpe": {"name": "adaptive_asha", "max_trials": 30, "sampler": "tpe", "tpe": {"initial_results": 6}},
    "brackets with the model": {"name": "adaptive_asha", "max_trials": 24, "sampler": "model"},
}


def described(trial, params, length, seed):
    return {"trial": trial, "hparams": params, "length": length, "seed": seed}


class Daemon:
    """The search at a daemon, whose trials this program runs."""

    def __init__(self, cluster, file):
        self.cluster, self.path, self.leases = cluster, f"/api/v1/experiments/{cluster.submit(file)}", {}

    def post(self, path, body):
        status, answer = self.cluster.call("POST", self.path + path, body)
        assert status == 200, (status, answer)
        return answer

    def ask(self, count):
        asked = self.post("/ask", {"count": count, "lease_seconds": 600})["trials"]
        self.leases.update((each["trial"], each["lease"]) for each in asked)
        return [described(each["trial"], each["hparams"], each["length"], each["seed"]) for each in asked]

    def report(self, trial, step, metric):
        answer = self.post(f"/trials/{trial}/report", {"lease": self.leases[trial], "step": step, "metrics": {"loss": metric}})
        if answer["directive"] != "continue":
            self.post(f"/trials/{trial}/tell", {"lease": self.leases[trial], "state": "completed"})
        return answer["directive"], answer["length"]

    def tell(self, trial, state):
        self.post(f"/trials/{trial}/tell", {"lease": self.leases[trial], "state": state, "message": "by the test"})


class Library:
    """The search in this process."""

    def __init__(self, file):
        self.search, self.works = Search(file, SLOTS), {}

    def ask(self, count):
        works = []
        while len(works) < count and (work := self.search.ask()) is not None:
            works.append(work)
        self.works.update((work.trial, work) for work in works)
        return [described(work.trial, work.params, work.length, work.seed) for work in works]

    def report(self, trial, step, metric):
        directive = self.search.report(self.works[trial], step, metric)
        return directive.value, self.works[trial].length

    def tell(self, trial, state):
        self.search.tell(trial, state, "by the test")


@unittest.skipUnless(LIBRARY.exists(), f"there is no {LIBRARY}")
class SameDecisions(harness.Case):
    def run_both(self, daemon, library, rng):
        """How many reports there were, how many of them let a trial train on, and how many trials came back."""
        out, reports, went_on, came_back, seen = {}, 0, 0, 0, set()
        while True:
            given = daemon.ask(SLOTS - len(out)) if len(out) < SLOTS else []
            self.assertEqual(given, library.ask(SLOTS - len(out)))
            for work in given:
                came_back += work["trial"] in seen
                seen.add(work["trial"])
                out[work["trial"]] = work
            if not out:
                return reports, went_on, came_back
            trial = rng.choice(sorted(out))
            if rng.random() < 0.05:
                for side in (daemon, library):
                    side.tell(trial, "invalid_hyperparameters")
                del out[trial]
                continue
            work = out[trial]
            metric = rng.choice([0.5, rng.random(), rng.random() + work["hparams"]["lr"]])
            told = daemon.report(trial, work["length"], metric)
            self.assertEqual(told, library.report(trial, work["length"], metric), work)
            reports += 1
            if told[0] == "continue":
                went_on += 1
                work["length"] = told[1]
            else:
                del out[trial]

    def test_each_searcher_decides_the_same_in_both(self):
        print(f"seed {SEED}")
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        for name, searcher in SEARCHERS.items():
            file = {"name": name, "workers": "external", "hyperparameters": SPACE, "max_restarts": 0,
                    "searcher": dict({"metric": "loss", "max_length": {"epochs": 27}, "max_concurrent_trials": SLOTS}, **searcher),
                    "reproducibility": {"experiment_seed": SEED % 1000}}
            with self.subTest(name):
                daemon, library = Daemon(cluster, file), Library(file)
                reports, went_on, came_back = self.run_both(daemon, library, random.Random(SEED))
                self.assertTrue(library.search.finished)
                self.assertGreaterEqual(reports, searcher["max_trials"])
                if searcher["name"] != "random":
                    self.assertGreater(went_on + came_back, 0, "nothing was promoted")
                status, at_daemon = cluster.call("GET", daemon.path)
                self.assertEqual((status, at_daemon["state"]), (200, "COMPLETED"))
                self.assertEqual((at_daemon["best"]["trial"], at_daemon["best"]["metric"]),
                                 (library.search.best.trial, library.search.best.metric))
                self.assertEqual(at_daemon["trials"], library.search.state()["trials"])


if __name__ == "__main__":
    unittest.main()
