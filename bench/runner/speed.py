"""What decisions, states and messages cost, against floors of the same run."""

import json
import os
import re
import subprocess
import sys
import tempfile

from .report import NANOSECONDS, build, duration, markdown_table, output_of, provenance, publish

SHORT = "small sizes, little time, to the terminal: does it run?"
BENCHES = ("searchers_bench", "engine_bench", "proto_bench", "simulation_bench", "store_bench",
                 "access_bench")
AT_MOST = {"store_bench": 3}  # Repetitions: each of the largest takes many seconds.
FLOORS = {  # benches whose name begins so: the least that their work takes, in the same run of the same program
    "searchers/rung/": "searchers/floor/two_heaps",
    "searchers/schedule/": "searchers/floor/two_heaps",
    "searchers/asha/promotion/": "searchers/floor/two_heaps",
    "searchers/asha/stopping/": "searchers/floor/two_heaps",
    "searchers/adaptive_asha/": "searchers/floor/two_heaps",
    "engine/step/": "engine/floor/two_heaps",
    "engine/space/": "engine/floor/philox_blocks",
    "proto/": "proto/floor/copy",
    "store/replay": "store/scan",
}
GROWING = ("trials", "workers")  # Shown at the largest size alone; of other sizes the first and the last.
NOT_A_SIZE = re.compile(r"iterations:|repeats:|min_time:|min_warmup_time:|(real|manual|process)_time$")
COUNTERS = {"bytes_per_trial": "bytes per trial", "bytes": "bytes", "events_per_trial": "events per trial"}


def add_arguments(verb):
    verb.add_argument("--repetitions", type=int, default=5, help="of every bench; the medians are shown (default: 5)")


def run(arguments):
    directory = build(*BENCHES)
    made_by = provenance("scripts/bench speed")
    figures = {}  # name: {"program", "argument", "fit", "sizes": {size or None: {"time": ns per item, counters}}}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as stores:
        for bench in BENCHES:
            for run in run_speed_bench(directory, bench, arguments, stores):
                name, argument, size = taken_apart(run["run_name"])
                figure = figures.setdefault(name, {"program": bench, "argument": "", "fit": {}, "sizes": {}})
                if run.get("aggregate_name") in ("BigO", "RMS"):
                    figure["fit"].update(run)
                else:
                    figure["argument"] = argument
                    figure["sizes"][size] = median_of(run)
    load = max(load, os.getloadavg()[0])
    text = made_by + f"- load average of the machine, this bench included: {load:.1f}\n\n" + speed_section(figures)
    publish("speed", text, arguments.short, by_machine=True)


def taken_apart(run_name):
    """A bench's name with all arguments but the first, what the first one counts, and its number: of
    "engine/sim/events/workers:10/stop_once:1" "engine/sim/events/stop_once:1", "workers" and 10."""
    name, argument, size = [], "", None
    for part in run_name.split("/"):
        word, _, digits = part.partition(":")
        if NOT_A_SIZE.match(part):
            continue
        if size is None and digits.isdigit():
            argument, size = word, int(digits)
        else:
            name.append(part)
    return "/".join(name), argument, size


def run_speed_bench(directory, bench, arguments, stores):
    """The medians and fits of one program's benches, as Google Benchmark spells them. What is made in `stores` is made
    once."""
    found = [place / bench for place in (directory / "bench", directory / "bin") if (place / bench).exists()]
    if not found:
        sys.exit(f"bench: {bench} was not built")
    repetitions = min(arguments.repetitions, AT_MOST.get(bench, arguments.repetitions))
    command = [found[0], "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
               "--benchmark_report_aggregates_only=true"]
    command += ["--benchmark_min_time=0.01", "--benchmark_filter=-:[0-9]{5,}"] if arguments.short else []
    printed = output_of(*command, stderr=subprocess.PIPE, env={"HPSEARCH_BENCH_STORES": stores, **os.environ})
    runs = json.loads(printed)["benchmarks"]
    return [run for run in runs
            if run["run_type"] == "iteration" or run["aggregate_name"] in ("median", "BigO", "RMS")]


def median_of(run):
    """Nanoseconds per item: what the bench counted as one, else one turn of its loop."""
    figures = {name: run[name] for name in COUNTERS if name in run}
    figures["wall"] = re.search(r"/(real|manual)_time", run["name"]) is not None
    clock = "real_time" if figures["wall"] else "cpu_time"
    whole = run[clock] * NANOSECONDS[run["time_unit"]]
    figures["time"] = 1e9 / run["items_per_second"] if "items_per_second" in run else whole
    return figures


def speed_section(figures):
    """One table: a row for each bench at its largest size, before it one at its smallest where sizes are few."""
    rows = []
    for name, bench in figures.items():
        sizes = bench["sizes"]
        ordered = sorted(sizes, key=lambda size: size or 0)
        floor = figures.get(next((floor for begin, floor in FLOORS.items() if name.startswith(begin)), None))
        if floor is not None and (floor is bench or floor["program"] != bench["program"]):
            floor = None
        shown = dict.fromkeys([ordered[-1]] if bench["argument"] in GROWING else [ordered[0], ordered[-1]])
        for size in shown:
            figure = sizes[size]
            least = floor["sizes"].get(size) if floor else None
            growth = figure["time"] / sizes[10_000]["time"] if size == 1_000_000 and 10_000 in sizes else None
            also = ", ".join(f"{number:.3g} {COUNTERS[key]}" for key, number in figure.items()
                             if key in COUNTERS)
            rows.append([f"`{name}`", f"{size:,} {bench['argument']}" if size else "",
                         duration(figure["time"]) + (" (wall)" if figure["wall"] else ""),
                         f"{figure['time'] / least['time']:.1f}" if least else "", f"{growth:.2f}" if growth else "",
                         fitted(bench["fit"]) if size == ordered[-1] else "", also])
    return markdown_table(["bench", "size", "time per item", "times its floor", "growth 10^4 to 10^6",
                           "fitted growth of all items", "and"], rows, right_from=1)


def fitted(fit):
    """Google Benchmark's fit of a whole run's processor time to its size N: "66 ns NlgN (RMS 3 %)"."""
    if "cpu_coefficient" not in fit or "rms" not in fit:
        return ""
    size = "" if fit["big_o"] == "(1)" else " " + fit["big_o"]
    coefficient = duration(fit["cpu_coefficient"] * NANOSECONDS[fit["time_unit"]])
    return f"{coefficient}{size} (RMS {100 * fit['rms']:.0f} %)"
