"""Trials of hpsearch.tune() with a large argument: what it costs on the disk, and at the start of each trial.

    HPSEARCH_BIN=build/release/bin build/python-genuine/bin/python3 bench/python/large_arguments.py [--megabytes 96]

Each kind of data that is installed is the argument of a search of trials one after the other on one slot, and so is a small
value of the same kind. Prints a table:

- disk: how much more the directory of the search has than that of the small value, in MB;
- start: milliseconds from the grant of the slot to the first line of the function, median; small is that of the small value;
- read: milliseconds of processor time in which a trial reads its function and the arguments, median; it is a part of the start.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp

READ = """
import pathlib, sys, time, types
for module in sys.argv[2:]: __import__(module)
from hpsearch._functions.loaded_function import LoadedFunction
begin = time.process_time()
LoadedFunction(pathlib.Path(sys.argv[1]), types.ModuleType("__main__"))
print(time.process_time() - begin)
"""


def train(x, *, data, times):
    import time
    with open(times, "a") as file:
        print(time.time(), file=file)
    return x


def kinds(nbytes):
    """Makers of data of so many bytes, with the modules that reading it imports."""
    made = {"bytes": (lambda size: os.urandom(size), [])}
    for module in ("numpy", "pandas", "polars"):
        try:
            __import__(module)
        except ImportError:
            return made
    import numpy
    import pandas
    import polars
    made["NumPy array"] = (lambda size: numpy.random.default_rng(0).random(size // 8), ["numpy"])
    made["pandas, 12 columns of numbers"] = (lambda size: pandas.DataFrame(
        {"c%d" % at: numpy.random.default_rng(at).random(max(1, size // 96)) for at in range(12)}), ["pandas"])
    made["polars, 12 columns of numbers"] = (lambda size: polars.DataFrame(
        {"c%d" % at: numpy.random.default_rng(at).random(max(1, size // 96)) for at in range(12)}), ["polars"])
    made["dict of 4 arrays"] = (lambda size: {"a%d" % at: numpy.random.default_rng(at).random(size // 32) for at in range(4)}, ["numpy"])
    return made


def size_of(directory):
    return sum(path.stat().st_size for path in pathlib.Path(directory).rglob("*") if path.is_file() and not path.is_symlink())


def measure(data, modules, trials, folder):
    """Median start and read in milliseconds, and the size of the directory in MB."""
    import subprocess
    times = pathlib.Path(folder, "times")
    times.unlink(missing_ok=True)
    experiment = hp.tune(train, {"x": hp.uniform(0, 1)}, max_trials=trials, slots=1, progress=False,
                         arguments={"data": data, "times": str(times)})
    begun = [float(line) for line in times.read_text().split()]
    events = experiment._transport.get("/api/v1/events", {"experiment": experiment.id, "limit": 1000})["events"]
    granted = [event["at"] for event in events if event["type"] == "lease_granted"]
    assert len(begun) == len(granted) == trials
    context = experiment.directory / "context"
    reads = [float(subprocess.run([sys.executable, "-c", READ, str(context), *modules], check=True, stdout=subprocess.PIPE, cwd=folder,
                                  env=dict(os.environ, PYTHONPATH=sys.path[0])).stdout) for _ in range(5)]
    return (1000 * statistics.median(begin - at for at, begin in zip(granted, begun)), 1000 * statistics.median(reads),
            size_of(experiment.directory) / 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--megabytes", type=int, default=96)
    parser.add_argument("--trials", type=int, default=8)
    options = parser.parse_args()
    print("| {} MB of | disk, MB | start, ms | start with a small value, ms | read, processor ms |\n|---|---:|---:|---:|---:|".format(options.megabytes))
    for name, (make, modules) in kinds(options.megabytes).items():
        rows = []
        for size in (1000, options.megabytes * 1_000_000):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # A daemon of results ends with this process.
                os.environ["HPSEARCH_STATE_HOME"] = folder
                rows.append(measure(make(size), modules, options.trials, folder))
        print("| {} | {:.1f} | {:.0f} | {:.0f} | {:.1f} |".format(name, rows[1][2] - rows[0][2], rows[1][0], rows[0][0], rows[1][1]), flush=True)


if __name__ == "__main__":
    main()
