"""The manifests in deploy/kubernetes, and the chart that they are rendered from.

    manifests.py --write     renders them anew

HPSEARCH_HELM names helm; else it is build/kubernetes/helm (scripts/setup kubernetes), or that of PATH.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "hpsearch"
PLACE = ROOT / "deploy" / "kubernetes"
HEADING = "# Rendered from deploy/helm/hpsearch: python3 tests/kubernetes/manifests.py --write\n"
OLDEST = "1.30.0"  # The chart is for releases from this one on.
# File → what helm is given.
RENDERED = {
    "base/hpsearch.yaml": [],
    "static-workers/workers.yaml": ["--set", "workers.static.replicas=1", "--show-only", "templates/workers.yaml"],
}


def helm():
    named = os.environ.get("HPSEARCH_HELM")
    own = ROOT / "build" / "kubernetes" / "helm"
    return named or (str(own) if own.exists() else shutil.which("helm"))


def render(*options):
    done = subprocess.run([helm(), "template", "hpsearch", str(CHART), "--kube-version", OLDEST, *map(str, options)], capture_output=True, text=True,
                          timeout=120, env=os.environ | {"HELM_CACHE_HOME": "/nonexistent", "HELM_CONFIG_HOME": "/nonexistent",
                                                         "HELM_DATA_HOME": "/nonexistent"})
    if done.returncode != 0:
        raise AssertionError(f"helm refuses {options}: {done.stderr}")
    return done.stdout


def objects_in(text):
    return [one for one in yaml.safe_load_all(text) if one]


def committed(name):
    return objects_in((PLACE / name).read_text())


def stale():
    """The files that differ from what the chart renders now."""
    return [name for name, options in RENDERED.items() if (PLACE / name).read_text() != rendered(options)]


def rendered(options):
    return HEADING + render("--skip-tests", *options)


def main():
    if sys.argv[1:] != ["--write"]:
        print(__doc__, file=sys.stderr)
        return 2
    if helm() is None:
        print("no helm here (scripts/setup kubernetes)", file=sys.stderr)
        return 1
    for name, options in RENDERED.items():
        (PLACE / name).write_text(rendered(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
