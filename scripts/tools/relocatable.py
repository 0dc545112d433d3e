#!/usr/bin/python3
"""Unpacks what scripts/wheel has built into a directory that may lie anywhere: relocatable.py WHEEL CLIENT_WHEEL SOURCES DIRECTORY

The wheel has the programs with their libraries; this adds install.sh, the units, the documentation for administrators, and
the wheel of the client.
"""

import pathlib
import shutil
import sys
import zipfile

PROGRAMS = "hpsearch_programs/"
FOLDERS = {"bin": "bin", "lib": "lib", "share": "share", "licenses": "share/doc/hpsearch/licenses"}
COPIED = {
    "deploy/tarball/install.sh": "install.sh",
    "LICENSE": "share/doc/hpsearch/LICENSE",
    "README.md": "share/doc/hpsearch/README.md",
    "CHANGELOG.md": "share/doc/hpsearch/CHANGELOG.md",
    "deploy/debian/hpsearch-daemon.sysusers": "lib/sysusers.d/hpsearch.conf",
}
# Folders with units, and with what a monitoring server reads.
COPIED_FOLDERS = {
    "deploy/systemd": "lib/systemd/system",
    "deploy/systemd/user": "lib/systemd/user",
    "deploy/prometheus": "share/hpsearch/prometheus",
    "deploy/grafana": "share/hpsearch/grafana",
}
DOCUMENTED = ["docs/*.md", "docs/clusters/*.md", "docs/operating/*.md", "docs/python/*.md", "docs/searchers/*.md"]


def unpack(wheel, tree):
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            folder, _, name = entry.filename.removeprefix(PROGRAMS).partition("/")
            if entry.is_dir() or not entry.filename.startswith(PROGRAMS) or not name:
                continue
            if folder not in FOLDERS:
                raise SystemExit(f"relocatable.py: {wheel} has {entry.filename}; FOLDERS has no place for {folder}/")
            path = tree / FOLDERS[folder] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(entry))
            path.chmod(0o755 if entry.external_attr >> 16 & 0o111 else 0o644)


def copy(source, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)


def main(wheel, client, sources, tree):
    sources, tree = pathlib.Path(sources), pathlib.Path(tree)
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    unpack(wheel, tree)
    for source, path in COPIED.items():
        copy(sources / source, tree / path)
    for source, path in COPIED_FOLDERS.items():
        for file in sorted(entry for entry in (sources / source).iterdir() if entry.is_file()):
            copy(file, tree / path / file.name)
    for pattern in DOCUMENTED:
        for source in sorted(sources.glob(pattern)):
            copy(source, tree / "share/doc/hpsearch" / source.relative_to(sources))
    copy(client, tree / "share/hpsearch/python" / pathlib.Path(client).name)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: relocatable.py WHEEL CLIENT_WHEEL SOURCES DIRECTORY")
    main(*sys.argv[1:])
