"""Start of a trial of hpsearch.tune(): time that passes until the function's first line, which no import of its own adds to.

    HPSEARCH_BIN=build/release/bin python3 bench/python/trial_start.py [--preload torch]

Runs one trial after the other on one slot. Prints a table, in milliseconds:

- start: from the grant of the slot, by the daemon's clock, to the first line of the function;
- between: from the last line of the function to its first line in the next trial: end of the program, result, decision, and
  start;
- interpreter: `python3 -c pass` beside it.

With --preload MODULE the function imports this module, and `start` goes on until it has. Then follow trials with
tune(preload=[MODULE]), without the first one, which finds no interpreter that waits.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp


def train(x, *, times, module, seconds):
    import time
    if module:
        __import__(module)
    begin = time.time()
    time.sleep(seconds)
    with open(times, "a") as file:
        print(begin, time.time(), file=file)
    return x


def interpreter(rounds):
    out = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        out.append(time.perf_counter() - begin)
    return out


def measure(trials, folder, module="", preload=(), seconds=0.0):
    """Seconds of each start, and between two trials."""
    times = pathlib.Path(folder, "times" + str(len(list(pathlib.Path(folder).iterdir()))))
    experiment = hp.tune(train, {"x": hp.uniform(0, 1)}, max_trials=trials, slots=1, progress=False, preload=preload,
                         arguments={"times": str(times), "module": module, "seconds": seconds})
    called = [tuple(map(float, line.split())) for line in times.read_text().splitlines()]
    events = experiment._transport.get("/api/v1/events", {"experiment": experiment.id, "limit": 1000})["events"]
    granted = [event["at"] for event in events if event["type"] == "lease_granted"]
    assert len(called) == len(granted) == trials, (len(called), len(granted))
    return ([begin - at for at, (begin, _) in zip(granted, called)],
            [begin - end for (_, end), (begin, _) in zip(called, called[1:])])


def row(name, seconds):
    ordered = sorted(1000 * second for second in seconds)
    print("{:<22} {:>8.0f} {:>8.0f} {:>8.0f}".format(name, statistics.median(ordered), ordered[int(0.9 * len(ordered))],
                                                       ordered[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--preload", default="", metavar="MODULE")
    parser.add_argument("--preload-trials", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=8, help="how long a trial with MODULE trains: long enough to import it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HPSEARCH_STATE_HOME"] = folder
        starts, between = measure(options.trials, folder)
        preloaded, _ = measure(options.preload_trials, folder, preload=["json"], seconds=1)
        if options.preload:
            name = options.preload
            imported, _ = measure(options.preload_trials, folder, name)
            ahead, _ = measure(options.preload_trials, folder, name, [name], options.seconds)
    print("{:<22} {:>8} {:>8} {:>8}".format("milliseconds", "median", "p90", "most"))
    row("start", starts)
    row("between", between)
    row("start, preload", preloaded[1:])
    if options.preload:
        row("start, import " + name, imported)
        row("start, preload " + name, ahead[1:])
    row("interpreter", interpreter(20))


if __name__ == "__main__":
    main()
