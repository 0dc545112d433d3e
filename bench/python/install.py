#!/usr/bin/env python3
"""From nothing to a result: seconds from `pip install` of the built wheels to the end of a search of 50 trials.

    scripts/wheel && python3 bench/python/install.py [--dist build/wheel/dist] [--runs 3]

Prints lines for docs/benchmarks.md. Each run has a fresh virtual environment, whose making isn't timed, and a fresh home. pip
has no index and no cache. All of it is bound to two cores. Processor seconds are those of all processes, daemon, worker and
trials too; they hardly depend on other work on the machine. The goal is 30 s; the exit status is 1 if the median misses it.
"""

import argparse
import ctypes
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOAL, TRIALS, CORES = 30, 50, 2
PR_SET_CHILD_SUBREAPER = 36
SEARCH = f"""
import hpsearch as hp
result = hp.tune(lambda t: (t["x"] - 2) ** 2, {{"x": hp.uniform(-10, 10)}}, max_trials={TRIALS})
assert len(result.trials) == {TRIALS}, len(result.trials)
print(result.best.params)
"""


def wheels(folder):
    found = sorted(folder.glob("hpsearch*.whl"))
    if len(found) != 2:
        sys.exit(f"{folder} has {len(found)} wheels of hpsearch; it must have 2: run scripts/wheel")
    return found


def processor_seconds():
    """Of all processes that have ended: those whose parents ended first, such as the daemon, became children of this one."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


def timed(command, **more):
    """Seconds until the command has ended, and processor seconds."""
    used, begun = processor_seconds(), time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    took = time.monotonic() - begun
    if done.returncode != 0:
        sys.exit(f"{command} failed with {done.returncode}\n{done.stdout}{done.stderr}")
    return took, processor_seconds() - used


def measure(files):
    """What pip install took, and the search: timed() of each."""
    with tempfile.TemporaryDirectory(prefix="hpsearch-install-") as scratch:
        folder = pathlib.Path(scratch)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        (folder / "home").mkdir()
        (folder / "search.py").write_text(SEARCH, encoding="utf-8")
        scripts = folder / "venv" / "bin"
        surroundings = {"PATH": f"{scripts}:/usr/bin:/bin", "HOME": str(folder / "home"), "LANG": "C.UTF-8"}
        install = timed([scripts / "pip", "install", "--no-index", "--no-cache-dir", "--disable-pip-version-check", *files],
                        env=surroundings)
        return install, timed([scripts / "python3", "search.py"], cwd=folder, env=surroundings)


def main():
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--dist", type=pathlib.Path, default=ROOT / "build" / "wheel" / "dist")
    reader.add_argument("--runs", type=int, default=3)
    asked = reader.parse_args()
    files = wheels(asked.dist.resolve())
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    load = os.getloadavg()[0]
    runs = [measure(files) for _ in range(asked.runs)]
    total = statistics.median(install[0] + search[0] for install, search in runs)
    print(f"- machine: {len(os.sched_getaffinity(0))} cores, {platform.system()}, Python {platform.python_version()}; "
          f"load average before the first run {load:.1f}")
    print(f"- wheel: {max(file.stat().st_size for file in files) / 1e6:.1f} MB")
    print("- runs (pip install + search of {} trials): {}".format(
        TRIALS, "; ".join(f"{install[0]:.1f} + {search[0]:.1f} s" for install, search in runs)))
    print("- processor seconds: {}".format("; ".join(f"{install[1]:.1f} + {search[1]:.1f}" for install, search in runs)))
    print(f"- median: {total:.1f} s; goal: below {GOAL} s")
    sys.exit(0 if total < GOAL else 1)


if __name__ == "__main__":
    main()
