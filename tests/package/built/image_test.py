#!/usr/bin/python3
"""The images of deploy/container, built from the tarball that scripts/package made: image_test.py DIST

Needs root, buildah, and a bare Debian 12 as DEB_TEST_BASE (debootstrap --variant=minbase bookworm DIR): the base is no image of
a registry. The programs run as the images say, with a read-only root directory and without capabilities, in namespaces of
this machine.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIST = pathlib.Path(sys.argv.pop(1)).resolve()
VERSION = re.search(r"^project\(hpsearch VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
NAME = f"hpsearch-{VERSION}-linux-x86_64"
MOST_BYTES = {"daemon": 60_000_000, "worker": 90_000_000}  # Compressed, with the base.
PATIENCE = 900
BASE = "localhost/hpsearch-test-base:12"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


if not (DIST / f"{NAME}.tar.zst").exists():
    skip(f"{DIST} has no {NAME}.tar.zst: run scripts/wheel and scripts/package tarball")
if os.geteuid() != 0:
    skip("only root can make a Debian and change its root")
if not os.environ.get("DEB_TEST_BASE"):
    skip("the images: DEB_TEST_BASE names no bare Debian 12: run scripts/package --test as root, with debootstrap and a mirror")
if not shutil.which("buildah"):
    skip("the images: buildah is missing (scripts/setup package)")


def run(*words, expect=0, **more):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                          check=False, **more)
    assert expect is None or done.returncode == expect, f"{words}: {done.returncode}\n{done.stdout[-5000:]}{done.stderr[-5000:]}"
    return done.stdout


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="hpsearch-image-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.store = ["--storage-driver", "vfs", "--root", cls.folder / "graph", "--runroot", cls.folder / "run"]
        packed = subprocess.run(["zstd", "-q", "-d", "-c", DIST / f"{NAME}.tar.zst"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", cls.folder], input=packed, check=True)
        cls.make_base(os.environ["DEB_TEST_BASE"])
        for kind in MOST_BYTES:
            run("buildah", *cls.store, "build", "--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={BASE}",
                "--build-arg", f"VERSION={VERSION}", "-f", ROOT / "deploy" / "container" / f"Containerfile.{kind}",
                "-t", f"localhost/hpsearch-test-{kind}", cls.folder / NAME)

    @classmethod
    def make_base(cls, folder):
        """What images of Debian leave out is left out, too."""
        container = run("buildah", *cls.store, "from", "scratch").strip()
        mounted = run("buildah", *cls.store, "mount", container).strip()
        left_out = [f"--exclude=./{name}/*" for name in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man",
                                                        "usr/share/locale", "usr/share/info", "proc", "sys")]
        run("sh", "-c", 'from=$1; to=$2; shift 2; tar -C "$from" "$@" -c . | tar -C "$to" -x', "sh", folder, mounted, *left_out)
        run("buildah", *cls.store, "commit", "--rm", container, BASE)

    def config(self, kind):
        return json.loads(run("buildah", *self.store, "inspect", "--type", "image", f"localhost/hpsearch-test-{kind}"))["Docker"]["config"]

    def in_image(self, kind, state, script, expect=0):
        """The output of a script in the image, with a read-only root directory and without capabilities."""
        container = run("buildah", *self.store, "from", f"localhost/hpsearch-test-{kind}").strip()
        try:
            mounted = run("buildah", *self.store, "mount", container).strip()
            environment = dict(word.split("=", 1) for word in self.config(kind)["Env"])
            return run(
                "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec",
                'root=$1; state=$2; script=$3; mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"; '
                'mount -t tmpfs tmpfs "$root/tmp"; mount -t tmpfs -o uid=65532,gid=65532,mode=700 tmpfs "$root$state"; '
                'mount -t tmpfs tmpfs "$root/dev"; mkdir "$root/dev/shm"; mount -t tmpfs tmpfs "$root/dev/shm"; '
                'for device in null zero random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done; '
                'mount -t proc proc "$root/proc"; '
                'exec chroot "$root" setpriv --reuid 65532 --regid 65532 --clear-groups --bounding-set=-all --inh-caps=-all '
                '--no-new-privs sh -ec "$script"', "sh", mounted, state, script,
                expect=expect, env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": state, **environment})
        finally:
            run("buildah", *self.store, "rm", container)

    def test_they_are_small(self):
        for kind, most in MOST_BYTES.items():
            place = self.folder / f"oci-{kind}"
            run("buildah", *self.store, "push", "--format", "oci", f"localhost/hpsearch-test-{kind}", f"oci:{place}")
            size = sum(path.stat().st_size for path in (place / "blobs").rglob("*") if path.is_file())
            print(f"{kind}: {size // 1000} kB of {most // 1000} kB allowed")
            self.assertLessEqual(size, most, kind)

    def test_labels_name_the_version(self):
        for kind in MOST_BYTES:
            labels = self.config(kind)["Labels"]
            self.assertEqual(labels["org.opencontainers.image.version"], VERSION)
            self.assertEqual(labels["org.opencontainers.image.title"], f"hpsearch-{kind}")

    def test_they_run_as_an_ordinary_user(self):
        for kind in MOST_BYTES:
            self.assertEqual(self.config(kind)["User"], "65532:65532")

    def test_daemon_runs_without_writable_root_and_capabilities(self):
        config = self.config("daemon")
        command = " ".join(config["Entrypoint"] + config["Cmd"])
        health = " ".join(config["Healthcheck"]["Test"][1:])
        said = self.in_image("daemon", "/var/lib/hpsearch",
            f"! touch /written 2>/dev/null; grep -q '^CapBnd:[[:space:]]*0*$' /proc/self/status; "
            f"{command} >/tmp/log 2>&1 & daemon=$!; n=0; "
            f"until {health} >/tmp/health 2>&1; do n=$((n + 1)); [ $n -lt 300 ] || {{ cat /tmp/log /tmp/health; exit 1; }}; sleep 0.2; done; "
            "cat /tmp/health; kill -TERM $daemon; wait $daemon; echo ended well")
        self.assertIn('"workers"', said)
        self.assertIn("ended well", said)

    def test_worker_has_what_a_search_in_python_needs(self):
        said = self.in_image("worker", "/var/lib/hpsearch-worker",
            "! touch /written 2>/dev/null; cd /var/lib/hpsearch-worker; "
            "printf 'import hpsearch\\np = hpsearch.params()\\nhpsearch.report(1, loss=p[\"x\"])\\n' >train.py; "
            "printf 'name: image\\nentrypoint: [python3, train.py]\\nhyperparameters:\\n  x: {type: double, minval: 0, maxval: 1}\\n"
            "searcher: {name: random, metric: loss, max_length: 1, max_trials: 2}\\n' >search.yaml; "
            "hpsearch run search.yaml -o json; hpsearch-worker --version; rclone version | head -n 1; "
            "python3 -c 'import hpsearch; print(hpsearch.__version__, hpsearch.programs())'")
        self.assertIn("COMPLETED", said)
        self.assertIn(f"hpsearch-worker {VERSION}", said)
        self.assertIn(f"{VERSION} /usr/local/bin", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
