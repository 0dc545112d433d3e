"""What is compiled for some processors alone must not be shared with what runs on all of them.

Two sources that instantiate the same template have one function after linking, and which one it is is a matter of
chance. So the object of dense_avx2.cpp may define no weak symbol that is not of its own renamed library.

usage: dense_symbols.py OBJECT...
"""

import subprocess
import sys


def shared_symbols(path):
    listed = subprocess.run(["nm", "--demangle", "--defined-only", path], check=True, capture_output=True, text=True)
    for line in listed.stdout.splitlines():
        kind, _, name = line[17:].partition(" ")
        if kind in "WVu" and "EigenAvx2" not in name and not name.startswith("DW.ref."):
            yield name


def main():
    objects = [path for path in sys.argv[1:] if "dense_avx2" in path]
    if not objects:
        sys.exit("dense_avx2 is not among: " + " ".join(sys.argv[1:]))
    found = [name for path in objects for name in shared_symbols(path)]
    if found:
        sys.exit("compiled for AVX2, yet shared with every processor:\n  " + "\n  ".join(found))


main()
