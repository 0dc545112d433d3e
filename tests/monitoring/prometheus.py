"""Prometheus' programs, which `scripts/setup test` unpacks, and what deploy/ has for them and for Grafana."""

import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "hpsearch.json"


def program(name):
    """Path of promtool or prometheus; None if this machine has none."""
    unpacked = ROOT / "build" / "prometheus" / name
    return str(unpacked) if unpacked.exists() else shutil.which(name)


def panels():
    """All panels of the dashboard that show data."""
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def without_variables(expression):
    """An expression of the dashboard as Prometheus gets it, with all daemons and a rate over a minute."""
    return expression.replace("$__rate_interval", "1m").replace("$instance", ".*")


def described():
    """{family: (type, labels)} of the daemon, from docs/metrics.md, whose table the daemon prints."""
    page = (ROOT / "docs" / "metrics.md").read_text().split("\n## Daemon\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", page, re.MULTILINE)
    return {name: (kind, set(filter(None, labels.split(", ")))) for name, kind, labels in rows}
