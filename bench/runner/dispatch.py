"""Reports answered by a real daemon, each after its fdatasync."""

import json
import statistics
import subprocess

from .report import build, duration, load_line, markdown_table, output_of, provenance, publish

SHORT = "one worker, to the terminal: does it run?"
RUNS = 7


def run(arguments):
    program = build("dispatch_bench", "hpsearchd") / "bench" / "dispatch_bench"
    made_by = provenance("scripts/bench dispatch")
    command = [program, "--benchmark_format=json"]
    command += ["--benchmark_filter=report/workers:1/"] if arguments.short else []
    load = load_line()
    count = 1 if arguments.short else RUNS
    runs = {}
    for _ in range(count):
        for run in json.loads(output_of(*command, stderr=subprocess.PIPE))["benchmarks"]:
            runs.setdefault(run["name"], []).append(run)
    rows = []
    for name, of_it in runs.items():
        pace, workers = name.split("/")[1:3]
        run = {key: statistics.median(one[key] for one in of_it) for key, value in of_it[0].items()
               if isinstance(value, float)}

        def with_range(key, digits, factor=1, unit="", run=run, of_it=of_it):
            values = [factor * one[key] for one in of_it]
            spread = f" ({min(values):.{digits}f}–{max(values):.{digits}f})" if len(values) > 1 else ""
            return f"{factor * run[key]:.{digits}f}{unit}{spread}"

        rows.append([
            "1,000 a second" if pace == "steady" else "as fast as answered", f"{int(workers.split(':')[1]):,}",
            f"{run['items_per_second']:,.0f}", f"{run['echo_per_second']:,.0f}",
            with_range("of_echo", 0, 100, " %") if pace != "steady" else "",
            *(duration(1e3 * run[key]) for key in ("p50_us", "p99_us", "echo_p50_us", "sync_p50_us", "sync_p99_us")),
            with_range("p50_of_floor", 2) if pace != "steady" and workers == "workers:1" else "",
            with_range("p99_in_syncs", 1) if pace == "steady" else ""])
    table = markdown_table(
        ["reports", "workers", "answered a second", "echoed a second", "of the echo", "p50", "p99", "echo p50",
         "sync p50", "sync p99", "p50 / (echo + sync)", "p99 in syncs"], rows)
    text = made_by + load + f"- medians of {count} runs; ratios with the lowest and the highest of them\n\n" + table
    publish("dispatch", text, arguments.short)
