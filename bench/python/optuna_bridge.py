"""Time of hpsearch.optuna for 10,000 trials: to_study() of an experiment, and import_study() of that study.

    HPSEARCH_BIN=build/release/bin build/python-genuine/bin/python3 bench/python/optuna_bridge.py

Starts a private daemon and fills it by ask and tell, which is not measured. Prints a table.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp
import optuna

LENGTH = 3


def fill(client, trials, threads):
    """An experiment with that many completed trials, each with a report per epoch."""
    experiment = client.submit({
        "name": "filled", "workers": "external",
        "hyperparameters": {"lr": hp.log(1e-4, 1e-1), "width": hp.int(16, 256), "kind": hp.choice("sgd", "adam")},
        "searcher": hp.random(metric="loss", max_length={"epochs": LENGTH}, max_trials=trials,
                              max_concurrent_trials=min(trials, 512)), "reproducibility": {"experiment_seed": 1}})
    root = "/api/v1/experiments/{}/".format(experiment.id)

    def run():
        own = hp.Client(str(client.address))._transport
        while True:
            told = own.ask("POST", root + "ask", body={"count": 32}).json()
            for trial in told["trials"]:
                path = root + "trials/{}/".format(trial["trial"])
                for step in range(1, LENGTH + 1):
                    own.ask("POST", path + "report", body={"lease": trial["lease"], "step": step, "metrics": {
                        "loss": trial["hparams"]["lr"] + 1 / step}})
                own.ask("POST", path + "tell", body={"lease": trial["lease"], "state": "completed"})
            if told["state"] != "ACTIVE":
                return
            if not told["trials"]:
                time.sleep(0.05)

    running = [threading.Thread(target=run) for _ in range(threads)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    return experiment


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=8, help="that fill the daemon")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HPSEARCH_STATE_HOME"] = folder
        measure(options)


def measure(options):
    with hp.local("filled", slots=1) as client:
        begin = time.perf_counter()
        experiment = fill(client, options.trials, options.threads)
        filled = time.perf_counter() - begin
        begin = time.perf_counter()
        study = hp.optuna.to_study(experiment)
        exported = time.perf_counter() - begin
        assert len(study.get_trials(deepcopy=False)) == options.trials
        begin = time.perf_counter()
        found = hp.optuna.import_study(study, most=None)
        imported = time.perf_counter() - begin
        assert len(found) == options.trials
    print("Optuna {}, {:,} trials with {} reports each, load {:.1f}; filling the daemon took {:.0f} s\n".format(
        optuna.__version__, options.trials, LENGTH, os.getloadavg()[0], filled))
    print("| step | seconds |\n|---|---:|")
    for name, seconds in (("to_study", exported), ("import_study", imported), ("both", exported + imported)):
        print(f"| {name} | {seconds:.2f} |")


if __name__ == "__main__":
    main()
