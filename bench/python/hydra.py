#!/usr/bin/env python3
"""How busy Hydra's sweepers keep their slots when trials last 1 to 10 units: hpsearch, beside hydra-optuna-sweeper.

    HPSEARCH_BIN=build/release/bin build/python-genuine/bin/python3 bench/python/hydra.py

This Python has hydra-core. That of --optuna has hydra-optuna-sweeper and hydra-joblib-launcher, by default the one of
`scripts/setup python`; without it only hpsearch is measured. Tasks sleep, so they may be more than the machine has cores.

Busy is a slot whose trial runs. The window begins with the first trial and ends when the last one begins: afterwards there
is nothing to start for either. For hpsearch, "processes" counts a trial from the start of its process, which it needs for
each trial, to its end; "tasks" counts the task function alone. Optuna's sweeper has processes that stay: only tasks.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
APPLICATION = """
    import os, pathlib, time
    import hydra

    @hydra.main(config_path=None, config_name=None, version_base="1.3")
    def main(config):
        begun = time.time()
        # Durations by number, spread over 1 to 10 units; the same for each sweeper.
        time.sleep(float(os.environ["UNIT"]) * (1 + 9 * (config.hydra_number * 0.6180339887 % 1)))
        process = float(pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
        boot = time.time() - float(pathlib.Path("/proc/uptime").read_text().split()[0])
        with open(os.environ["LEDGER"], "a") as file:
            print(process + boot, begun, time.time(), file=file)
        return config.x

    if __name__ == "__main__":
        main()
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--unit", type=float, default=6.0, help="seconds; trials last 1 to 10 of them")
    parser.add_argument("--optuna", help="a Python with hydra-optuna-sweeper")
    asked = parser.parse_args()
    usual = ROOT / "build" / "python-hydra-optuna" / "bin" / "python3"
    asked.optuna = asked.optuna or (str(usual) if usual.exists() else None)
    if "HPSEARCH_BIN" in os.environ:  # Sweeps run in another directory.
        os.environ["HPSEARCH_BIN"] = os.path.abspath(os.environ["HPSEARCH_BIN"])
    print("{} trials, {} slots, load {:.1f}".format(asked.trials, asked.slots, os.getloadavg()[0]), flush=True)
    spans = measure(sys.executable, "hpsearch", asked)
    print("hpsearch: {:.1%} busy (processes), {:.1%} (tasks)".format(
        busy([(process, end) for process, _, end in spans], asked.slots),
        busy([(begun, end) for _, begun, end in spans], asked.slots)), flush=True)
    if asked.optuna:
        spans = measure(os.path.abspath(asked.optuna), "optuna", asked)
        print("hydra-optuna-sweeper: {:.1%} busy (tasks)".format(
            busy([(begun, end) for _, begun, end in spans], asked.slots)))
    else:
        print("hydra-optuna-sweeper: not measured; give a Python that has it as --optuna")


def measure(python, sweeper, asked):
    """Start of the process, start and end of the task, for each trial."""
    with tempfile.TemporaryDirectory(prefix="hpsearch-bench-") as folder:
        place = pathlib.Path(folder)
        (place / "app.py").write_text(textwrap.dedent(APPLICATION))
        ledger = place / "ledger"
        environment = dict(os.environ, LEDGER=str(ledger), UNIT=str(asked.unit), HPSEARCH_STATE_HOME=str(place / "state"),
                           PYTHONPATH=str(ROOT / "clients" / "python") if sweeper == "hpsearch" else "")
        words = [python, "-B", "app.py", "-m", "hydra/sweeper=" + sweeper, "+x=interval(0.0,1.0)",
                 "+hydra_number=${hydra:job.num}", "hydra.sweeper.n_trials={}".format(asked.trials),
                 "hydra.sweeper.n_jobs={}".format(asked.slots)]
        if sweeper == "optuna":
            words += ["hydra/launcher=joblib", "hydra.launcher.n_jobs={}".format(asked.slots)]
        done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stdout)
        return [tuple(map(float, line.split())) for line in ledger.read_text().splitlines()]


def busy(spans, slots):
    """The share of the slots' time in which trials run, until the last one begins."""
    begin, end = min(start for start, _ in spans), max(start for start, _ in spans)
    return sum(max(0.0, min(stop, end) - start) for start, stop in spans) / (slots * (end - begin))


if __name__ == "__main__":
    main()
