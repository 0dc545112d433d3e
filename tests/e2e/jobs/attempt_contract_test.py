"""Who an attempt is: its numbers, its seed, the checkpoint that it goes on from, its slots and devices, its share of the cores.

Programs in Python, shell and C++ write down what they find; tests/e2e/witness.py knows what that has to be.
"""

import pathlib
import unittest

import harness
import witness

LIBRARY = harness.BIN / "fake_nvml.so"
DRIVER = "".join(f"uuid=GPU-{letter * 4} name=Fake bus={number} memory=1000 free=1000\n"
                 for number, letter in enumerate("abcd"))
# Fails once, with a checkpoint behind it.
RESUMES = witness.IN_TURN + """ && if [ $HPSEARCH_ATTEMPT = 1 ]; then
  echo weights > "$HPSEARCH_CHECKPOINT_DIR/model" && hpsearch-report checkpoint "$HPSEARCH_CHECKPOINT_DIR" --step 1
  exit 3
fi && """ + witness.END


class AttemptContract(harness.Case):
    def setUp(self):
        super().setUp()
        self.maxDiff = None
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()

    def run_witnesses(self, name, entrypoint=witness.ALL, seed=5, slots=1, max_restarts=0, **variables):
        """Runs two trials of it; (experiment, its trials, all that its programs wrote down)."""
        folder = self.folder / name
        folder.mkdir()
        experiment = self.cluster.submit({
            "name": "witness",
            "entrypoint": entrypoint,
            "resources": {"slots_per_trial": slots},
            "hyperparameters": {"x": {"type": "categorical", "vals": [1, 2]}},
            "searcher": {"name": "grid", "metric": "loss", "max_length": {"epochs": 2}},
            "environment": {"environment_variables": {"WITNESS_DIR": str(folder)} | variables},
            "reproducibility": {"experiment_seed": seed},
            "data": {"url": "x"},
            "max_restarts": max_restarts,
        })
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
        return experiment, self.cluster.trials(experiment), witness.accounts(folder)

    def check(self, account, experiment, trial, run, entrypoint=witness.ALL, **more):
        given = {"experiment": experiment, "trial": trial["id"], "number": trial["trial"], "run": run, "length": 2,
                 "data": {"url": "x"}, "own": {"WITNESS_DIR": str(account.folder.parent)},
                 "command": ["/bin/sh", "-c", entrypoint.format(args='--x "$HPSEARCH_HP_X"')]}
        attempt = witness.Attempt(self.folder / "worker/attempts" / f"{experiment}-{trial['trial']}-{run}",
                                  trial["hparams"], **(given | more))
        self.assertEqual(account.was_given(), attempt.environment(account.environment))
        self.assertEqual(account.job(), attempt.training_job())

    def seeds(self, accounts):
        """Trial → the seeds that its programs were given."""
        seeds = {}
        for account in accounts:
            number = int(account.environment["HPSEARCH_TRIAL_NUMBER"])
            seeds.setdefault(number, set()).add(int(account.environment["HPSEARCH_TRIAL_SEED"]))
        return seeds

    def test_a_second_attempt_goes_on_from_the_checkpoint_of_the_first(self):
        self.cluster.start_worker(2, extra=witness.STRANGER)
        experiment, trials, accounts = self.run_witnesses("resumed", RESUMES, max_restarts=1)
        self.assertEqual(len(accounts), 2 * 2 * len(witness.LANGUAGES))
        seeds = self.seeds(accounts)
        self.assertEqual([len(given) for given in seeds.values()], [1, 1], "a trial's seed is that of all its attempts")
        self.assertTrue(all(0 <= seed < 2**32 for seed, in seeds.values()), seeds)
        self.assertNotEqual(seeds[0], seeds[1], "each trial has another")
        for account in accounts:
            number, run = (int(account.environment[name]) for name in ("HPSEARCH_TRIAL_NUMBER", "HPSEARCH_ATTEMPT"))
            trial = trials[number]
            resumed = {"latest": trial["checkpoint"], "done": 1} if run == 2 else {}
            self.check(account, experiment, trial, run, RESUMES, seed=min(seeds[number]), threads=witness.threads(1, 2),
                       slots=account.job()["resources"]["slots"], **resumed)
            self.assertEqual(pathlib.Path(trial["checkpoint"], "model").read_text(), "weights\n")

        _, _, accounts = self.run_witnesses("again", seed=5, PYTHONUNBUFFERED="0", OMP_NUM_THREADS="3")
        self.assertEqual(self.seeds(accounts), seeds, "the experiment's seed decides")
        for account in accounts:
            self.assertEqual(account.environment["OMP_NUM_THREADS"], "3", "the experiment's own word")
            self.assertEqual(account.environment["PYTHONUNBUFFERED"], "1", "or its lines would come at its end")
        _, _, accounts = self.run_witnesses("other", seed=6)
        self.assertNotEqual(self.seeds(accounts), seeds)

    @unittest.skipUnless(LIBRARY.exists(), "the driver's library for tests is not built")
    def test_slots_that_are_devices(self):
        (self.folder / "gpus").write_text(DRIVER)
        self.cluster.start_worker("GPU-bbbb,GPU-dddd", "worker", extra=witness.STRANGER | {
            "HPSEARCH_NVML_LIBRARY": str(LIBRARY), "FAKE_NVML": str(self.folder / "gpus")})
        harness.wait_for(lambda: self.cluster.get("/api/v1/workers")["workers"], "the worker")
        numbers = {0: 1, 1: 3}  # Slot → the device's number on the machine: what a program names it by.
        for slots in (1, 2):
            experiment, trials, accounts = self.run_witnesses(f"slots-{slots}", slots=slots)
            self.assertEqual(len(accounts), 2 * len(witness.LANGUAGES))
            for account in accounts:
                lent = account.job()["resources"]["slots"]
                self.assertEqual(len(lent), slots)
                self.check(account, experiment, trials[int(account.environment["HPSEARCH_TRIAL_NUMBER"])], 1,
                           seed=int(account.environment["DET_TRIAL_SEED"]), slots=lent, ids=lent,
                           devices=[numbers[slot] for slot in lent], threads=witness.threads(slots, 2),
                           own={"WITNESS_DIR": str(account.folder.parent), "FAKE_NVML": str(self.folder / "gpus")})


if __name__ == "__main__":
    unittest.main(verbosity=2)
