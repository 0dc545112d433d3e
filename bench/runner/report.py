"""The build, where figures come from, and the sections of the pages that they are written to."""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
MODEL_PAGE = ROOT / "docs" / "searchers" / "model.md"
TPE_PAGE = ROOT / "docs" / "searchers" / "tpe.md"
PLOTS = ROOT / "docs" / "benchmarks"
BUILD = pathlib.Path(os.environ.get("HPSEARCH_BENCH_BUILD", ROOT / "build" / "release")).resolve()
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def build(*targets):
    """Builds these targets with the release preset; returns the build directory."""
    if "HPSEARCH_BENCH_BUILD" in os.environ:
        return BUILD
    run_quietly("cmake", "--preset", "release")
    run_quietly("cmake", "--build", "--preset", "release", "--target", *targets)
    return BUILD


def run_quietly(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed:\n{done.stdout[-4000:]}")


def machine():
    """One line: processor model and how many cores this process may use."""
    model = platform.machine()
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0))
    return f"{model}, {cores} {'core' if cores == 1 else 'cores'}, {platform.system()}"


def compiler():
    """What the release preset compiled with: "g++ 12.2.0"."""
    for line in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            program = line.split("=", 1)[1]
            version = subprocess.run([program, "-dumpfullversion"], capture_output=True, text=True, check=True)
            return f"{pathlib.Path(program).name} {version.stdout.strip()}"
    return "unknown compiler"


def provenance(command):
    """The lines that say where figures come from; `command` is what somebody types to get them again. Ask before the
    bench runs: the commit is that of now."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=ROOT, capture_output=True, text=True,
                            check=False).stdout.strip() or "no commit"
    today = datetime.date.today().isoformat()
    built = f"{BUILD.name} preset"
    if BUILD.name == "dev":
        built += " (-Og, -O1 where it decides, with assertions: upper bounds)"
    if "HPSEARCH_BENCH_BUILD" in os.environ:
        command = f"HPSEARCH_BENCH_BUILD={os.path.relpath(BUILD, ROOT)} {command}"
    return f"- command: `{command}`\n- machine: {machine()}\n- built: {built}, {compiler()}, {commit}\n- date: {today}\n"


def markdown_table(titles, rows, right_from=1):
    """A Markdown table; columns from `right_from` on are aligned right."""
    rule = ["---" if i < right_from else "---:" for i in range(len(titles))]
    return "".join("| " + " | ".join(map(str, row)) + " |\n" for row in [titles, rule, *rows])


def replace_section(name, text, by_machine=False, page=PAGE):
    """Puts `text` between the markers of section `name` in `page`, `by_machine` before what other kinds of machine have
    said there."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    whole = page.read_text(encoding="utf-8")
    if whole.count(begin) != 1 or whole.count(end) != 1:
        sys.exit(f"bench: {page} must have {begin} and {end} once each")
    before, rest = whole.split(begin)
    said, after = rest.split(end)
    if by_machine:
        others = [part for part in re.split(r"^(?=### )", said, flags=re.MULTILINE)
                  if part.startswith("### ") and not part.startswith(f"### {machine()}\n")]
        text = f"### {machine()}\n\n{text.strip()}\n\n" + "".join(others)
    page.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}", encoding="utf-8")
    print(f"bench: wrote section {name} of {page.relative_to(ROOT)}")


def output_of(*command, **options):
    """What the command prints. If it fails, the bench ends and shows its output."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"bench: {pathlib.Path(command[0]).name} ended with status {done.returncode}:\n"
                 f"{done.stdout[-4000:]}{(done.stderr or '')[-4000:]}")
    return done.stdout


def make_store(state, trials):
    """Makes a state directory with one experiment of so many trials."""
    run_quietly(str(BUILD / "tests" / "clients" / "web" / "make_store"), str(state), "--trials", str(trials))


def load_line():
    return f"- load average of the machine before: {os.getloadavg()[0]:.1f}\n"


def publish(name, text, short, by_machine=False, page=PAGE):
    """Replaces the section, or prints the figures of a short run."""
    if short:
        print(f"{text}\nbench: a short run; {page.relative_to(ROOT)} is as it was")
    else:
        replace_section(name, text, by_machine, page)


def duration(nanoseconds):
    for unit, size in reversed(NANOSECONDS.items()):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.2g} ns"
