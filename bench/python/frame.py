"""Time and memory of Experiment.frame() for 100,000 trials and 12 columns, from a real daemon.

    HPSEARCH_BIN=build/release/bin build/python-genuine/bin/python3 bench/python/frame.py

The store is written by make_store (target make_store of the same build), which is not measured. Prints a table. The first
call of each library is shown alone; the others are medians of 5. "Processor s" is a median too, of this process and the
daemon together: it hardly depends on what else runs on the machine. "MB" is how much the most memory of this process has grown.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import resource
import statistics
import time

from stored import daemon_with

COLUMNS = 12


def most_memory():
    """MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def processor(process):
    """Seconds of another process."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(call, daemon):
    """A row of the table, without the library's name."""
    before = most_memory()
    wall, busy = [], []
    frame = None
    for _ in range(6):
        begin, begin_busy = time.perf_counter(), time.process_time() + processor(daemon)
        frame = call()
        wall.append(time.perf_counter() - begin)
        busy.append(time.process_time() + processor(daemon) - begin_busy)
    return (*frame.shape, wall[0], statistics.median(wall[1:]), statistics.median(busy[1:]), most_memory() - before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=100_000)
    options = parser.parse_args()
    with daemon_with(options.trials) as (daemon, experiment):
        measure(daemon, experiment)


def measure(daemon, experiment):
    import pandas
    names = list(experiment.frame(sample=10).columns)[:COLUMNS]
    rows = [("pandas " + pandas.__version__, *measured(lambda: experiment.frame(names), daemon))]
    try:
        import polars
    except ImportError:
        pass
    else:
        rows.append(("polars " + polars.__version__, *measured(lambda: experiment.frame(names, polars=True), daemon)))
    print("{}, {} processors, load {:.1f}, Python {}; columns {}\n".format(
        platform.machine(), os.cpu_count(), os.getloadavg()[0], platform.python_version(), ", ".join(names)))
    print("| frame | rows x columns | first, s | median, s | processor s | MB |\n|---|---|---:|---:|---:|---:|")
    for row in rows:
        print("| {} | {:,} x {} | {:.2f} | {:.2f} | {:.2f} | {:.0f} |".format(*row))


if __name__ == "__main__":
    main()
