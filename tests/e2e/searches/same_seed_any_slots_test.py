"""Trial k's configuration is a function of seed and k: the number of slots and the order of events change nothing."""

import unittest

import harness


class SameSeedAnySlots(harness.Case):
    def configurations(self, slots, searcher):
        cluster = harness.Cluster(self)
        cluster.state = self.folder / f"daemon-{slots}-{searcher['name']}"
        cluster.start_daemon()
        cluster.wait_until_up()
        worker = cluster.start_worker(slots, name=f"worker-{slots}-{searcher['name']}")
        tree = harness.experiment(self.folder / f"ledger-{slots}", searcher, fake={"STEP_SECONDS": 0.002})
        experiment = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        trials = cluster.trials(experiment)
        worker.end()
        cluster.daemon.end()
        seen = {line["trial"]: (line["hparams"], line["seed"])
                for line in harness.Ledger(self.folder / f"ledger-{slots}").of("start")}
        self.assertEqual({trial["trial"]: trial["hparams"] for trial in trials},
                         {number: hparams for number, (hparams, _) in seen.items()})
        return seen

    def test_adaptive_asha_with_one_and_with_three_slots(self):
        searcher = {"name": "adaptive_asha", "max_length": 16, "max_trials": 30, "divisor": 4}
        self.assertEqual(self.configurations(1, searcher), self.configurations(3, searcher))


if __name__ == "__main__":
    unittest.main()
