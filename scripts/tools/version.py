#!/usr/bin/python3
"""The version of hpsearch is the one of project() in CMakeLists.txt. Files that can't read it repeat it.

    version.py                prints the version
    version.py --check        names the files that repeat another version; exit 1 if there is one
    version.py --set VERSION  writes VERSION into CMakeLists.txt and into these files
    version.py --self-test    checks that another version is found and written
"""

import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ("CMakeLists.txt", r"^project\(hpsearch VERSION (\d+\.\d+\.\d+)\b")
WHOLE, MINOR = r"(\d+\.\d+\.\d+)", r"(\d+\.\d+)"
# File and pattern of what repeats the version, or its first two numbers. A pattern may occur several times in its file.
REPEATED = [
    ("README.md", rf"^This is hpsearch {WHOLE}\."),
    ("README.md", rf"hpsearch-{WHOLE}-"),
    ("clients/python/hpsearch/_local/programs.py", rf'^__version__ = "{WHOLE}"$'),
    ("deploy/helm/hpsearch/Chart.yaml", rf"^version: {WHOLE}$"),
    ("deploy/helm/hpsearch/Chart.yaml", rf"^appVersion: {WHOLE}$"),
    ("deploy/kubernetes/base/hpsearch.yaml", rf'app\.kubernetes\.io/version: "{WHOLE}"$'),
    ("deploy/kubernetes/base/hpsearch.yaml", rf"image: hpsearch:{WHOLE}$"),
    ("deploy/kubernetes/static-workers/workers.yaml", rf'app\.kubernetes\.io/version: "{WHOLE}"$'),
    ("deploy/kubernetes/static-workers/workers.yaml", rf"image: hpsearch:{WHOLE}$"),
    ("docs/clusters/kubernetes.md", rf"newTag: {WHOLE}\}}$"),
    ("docs/searchers/own-sampler.md", rf"find_package\(hpsearch {MINOR} REQUIRED\)"),
    ("examples/embed/CMakeLists.txt", rf"find_package\(hpsearch {MINOR} REQUIRED\)"),
    ("examples/own_sampler/CMakeLists.txt", rf"find_package\(hpsearch {MINOR} REQUIRED\)"),
]


def version_of(root):
    path, pattern = SOURCE
    found = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise SystemExit(f"{root / path}: no version of three numbers in project(hpsearch VERSION …)")
    return found[1]


def wanted(pattern, version):
    return version if WHOLE in pattern else version.rsplit(".", 1)[0]


def breaches(root):
    """One line for each place with another version, and for each file without any."""
    version = version_of(root)
    for path, pattern in REPEATED:
        text = (root / path).read_text(encoding="utf-8")
        places = list(re.finditer(pattern, text, re.MULTILINE))
        if not places:
            yield f"{path}: nothing fits {pattern}"
        for place in places:
            if place[1] != wanted(pattern, version):
                line = text.count("\n", 0, place.start()) + 1
                yield f"{path}:{line}: {place[1]} instead of {wanted(pattern, version)} (scripts/tools/version.py --set {version})"


def set_version(root, version):
    if not re.fullmatch(WHOLE, version):
        raise SystemExit(f'version.py: the version is "{version}"; it must be three numbers, as 0.2.0')
    for path, pattern in [SOURCE, *REPEATED]:
        file = root / path
        text = file.read_text(encoding="utf-8")
        new = wanted(pattern if pattern != SOURCE[1] else WHOLE, version)
        file.write_text(re.sub(pattern, lambda found: found[0].replace(found[1], new), text, flags=re.MULTILINE), encoding="utf-8")


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path in {path for path, _ in [SOURCE, *REPEATED]}:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, root / path)
        assert list(breaches(root)) == [], list(breaches(root))
        source = root / SOURCE[0]
        source.write_text(source.read_text(encoding="utf-8").replace(f"VERSION {version_of(root)}", "VERSION 98.7.65"), encoding="utf-8")
        found = list(breaches(root))
        missing = [path for path, _ in REPEATED if not any(line.startswith(path) for line in found)]
        assert not missing, f"the version of {missing} isn't compared"
        set_version(root, "98.7.65")
        assert list(breaches(root)) == [], list(breaches(root))
        set_version(root, "98.8.0")
        assert version_of(root) == "98.8.0" and list(breaches(root)) == []
    print(f"another version is found in {len(REPEATED)} places, and written there")


def main(arguments):
    if not arguments:
        print(version_of(ROOT))
    elif arguments == ["--check"]:
        found = list(breaches(ROOT))
        print("\n".join(found) or f"every file repeats {version_of(ROOT)}")
        return 1 if found else 0
    elif arguments == ["--self-test"]:
        self_test()
    elif len(arguments) == 2 and arguments[0] == "--set":
        set_version(ROOT, arguments[1])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
