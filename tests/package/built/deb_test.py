#!/usr/bin/python3
"""The Debian packages that scripts/package built: deb_test.py DIST

With DEB_TEST_BASE, a bare Debian 12 (debootstrap --variant=minbase bookworm DIR), they are also installed in a copy of it, used,
upgraded while a search runs, removed, purged and installed again, and the commands of docs/operating/install.md make a
cluster of them. No systemd runs there: the maintainer scripts enable the units, and the test starts the programs by the
units' commands.
"""

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
DEBIAN = f"{VERSION}-1~deb12u1"
SERVICE = ["hpsearch", "hpsearch-cli", "hpsearch-daemon", "hpsearch-worker", "libhpsearch0", "python3-hpsearch"]
PACKAGES = [*SERVICE, "libhpsearch-dev"]
WITH_PROGRAMS = ["hpsearch-cli", "hpsearch-daemon", "hpsearch-worker", "libhpsearch0"]
MOST_INSTALLED = 25_000_000  # Bytes of SERVICE, without debug symbols.
PATIENCE = 900
# Starts the commands of units as their users, in place of systemd.
SYSTEMCTL = """\
#!/bin/sh
set -eu
case "$*" in
  "restart hpsearchd prometheus" | "enable --now hpsearch-worker") ;;
  *) echo "the systemctl of the test can't $*" >&2; exit 1 ;;
esac
for unit; do
  file=/lib/systemd/system/$unit.service
  [ -e "$file" ] || continue
  command=$(sed -n 's/^ExecStart=//p' "$file")
  user=$(sed -n 's/^User=//p' "$file")
  install -d -o "$user" -m 755 "/run/$user"
  CONFIGURATION_DIRECTORY=/etc/hpsearch setsid runuser -u "$user" -- sh -c "exec $command" >"/tmp/$unit.log" 2>&1 </dev/null &
done
"""

if not list(DIST.glob("hpsearch-cli_*.deb")):
    print(f"skipped: {DIST} has no packages: run scripts/package deb")
    sys.exit(77)


def file_of(package):
    found = [path for path in DIST.glob(f"{package}_{DEBIAN}_*.deb")]
    assert len(found) == 1, f"{DIST} has {len(found)} files {package}_{DEBIAN}_*.deb"
    return found[0]


def field(package, name):
    return subprocess.run(["dpkg-deb", "--field", file_of(package), name], capture_output=True, text=True, check=True).stdout.strip()


def paths_in(package):
    listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", file_of(package)], capture_output=True, check=True).stdout
    names = subprocess.run(["tar", "--list"], input=listed, capture_output=True, check=True).stdout.decode()
    return [name.removeprefix(".") for name in names.splitlines() if not name.endswith("/")]


class Contents(unittest.TestCase):
    def test_all_packages_are_there(self):
        wanted = {f"{name}_{DEBIAN}" for name in PACKAGES + [f"{name}-dbgsym" for name in WITH_PROGRAMS]}
        self.assertEqual({path.name.rsplit("_", 1)[0] for path in DIST.glob("*.deb")}, wanted)

    def test_they_are_small(self):
        bytes_of = {name: 1024 * int(field(name, "Installed-Size")) for name in SERVICE}
        self.assertLessEqual(sum(bytes_of.values()), MOST_INSTALLED, bytes_of)

    def test_each_program_has_a_manual_page(self):
        for name in SERVICE:
            paths = paths_in(name)
            pages = {pathlib.Path(path).name.split(".")[0] for path in paths if path.startswith("/usr/share/man/")}
            programs = {pathlib.Path(path).name for path in paths if path.startswith("/usr/bin/")}
            self.assertLessEqual(programs, pages, name)

    def test_each_package_has_copyright_and_changelog(self):
        for name in PACKAGES:
            self.assertLessEqual({f"/usr/share/doc/{name}/copyright", f"/usr/share/doc/{name}/changelog.gz",
                                  f"/usr/share/doc/{name}/changelog.Debian.gz"}, set(paths_in(name)), name)

    def test_daemon_contains_its_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["dpkg-deb", "--extract", file_of("hpsearch-daemon"), folder], check=True)
            self.assertRegex((pathlib.Path(folder) / "usr/bin/hpsearchd").read_bytes(), rb"assets/[A-Za-z_.-]+\.[A-Za-z0-9]+\.js")


def why_no_chroot():
    if os.geteuid() != 0:
        return "only root can change its root"
    if not os.environ.get("DEB_TEST_BASE"):
        return "DEB_TEST_BASE names no bare Debian 12: run scripts/package --test as root, with debootstrap and a mirror"
    return None


if why_no_chroot():
    print(f"skipped: the packages in a bare Debian: {why_no_chroot()}")


@unittest.skipIf(why_no_chroot(), why_no_chroot())
class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="hpsearch-deb-")
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name) / "bookworm"
        subprocess.run(["cp", "-a", os.environ["DEB_TEST_BASE"], cls.root], check=True)
        shutil.copy("/etc/resolv.conf", cls.root / "etc" / "resolv.conf")
        (cls.root / "debs").mkdir()
        for name in PACKAGES:
            shutil.copy(file_of(name), cls.root / "debs")
        shutil.copy(ROOT / "deploy" / "debian" / "tests" / "search", cls.root / "debs" / "search")
        cls.run_in("apt-get -qq update; apt-get -qq install -y --no-install-recommends procps >/dev/null; useradd --create-home user")

    @classmethod
    def run_in(cls, script, expect=0):
        """The output of a script in the new root. Processes that it leaves end with it."""
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot", cls.root, "sh", "-ec",
             f"mount -t proc proc /proc; mount -t tmpfs tmpfs /dev/shm 2>/dev/null || true; {script}"],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                 **{name: value for name, value in os.environ.items() if name.lower() in ("http_proxy", "https_proxy", "no_proxy")}},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == expect, f"{script}: {done.returncode}\n{done.stdout[-5000:]}{done.stderr[-5000:]}"
        return done.stdout + done.stderr

    # In one order, since each begins where the one before ended.
    def test_life_of_the_packages(self):
        with self.subTest("install"):
            self.run_in("apt-get -qq install -y --no-install-recommends /debs/*.deb")
            said = self.run_in("for p in hpsearch hpsearchd hpsearch-worker hpsearch-report; do $p --version; done")
            self.assertEqual(said.split(), [word for name in ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-report")
                                            for word in (name, VERSION)])
            self.assertEqual(self.run_in("stat -c '%U %a' /var/lib/hpsearch /var/lib/hpsearch-worker").split(), ["hpsearch", "700"] * 2)
            wants = "/etc/systemd/system/multi-user.target.wants"
            self.run_in(f"test -L {wants}/hpsearchd.service; test ! -e {wants}/hpsearch-worker.service")
            self.assertEqual(self.run_in("find / -xdev -name '*.dpkg-*' -path '/etc/*'").strip(), "")
        with self.subTest("searches of an ordinary user"):
            self.assertIn("three searches completed", self.run_in("su user -c /debs/search"))
        with self.subTest("the daemon as in its unit"):
            self.run_in(f"{self.daemon()} su -s /bin/sh hpsearch -c '{self.submit()}'; {self.stop()}")
        with self.subTest("an upgrade while a search runs"):
            self.upgrade_while_a_search_runs()
        with self.subTest("remove, purge, and install again"):
            self.run_in(f"apt-get -qq remove -y {' '.join(PACKAGES)}")
            self.run_in("test ! -e /usr/bin/hpsearchd; test -d /var/lib/hpsearch")
            self.run_in(f"dpkg --purge {' '.join(PACKAGES)}")
            self.assertEqual(self.run_in("find /usr /lib /etc -xdev -iname '*hpsearch*'").strip(), "")
            self.assertEqual(self.run_in("dpkg -l '*hpsearch*' 2>/dev/null | grep -c '^[ir][ic]' || true").strip(), "0")
            self.run_in("apt-get -qq install -y --no-install-recommends /debs/*.deb")
            listed = self.run_in(f"{self.daemon()} su -s /bin/sh hpsearch -c 'hpsearch list --server unix:///run/hpsearch/api.sock'; {self.stop()}")
            self.assertIn("kept", listed)
        with self.subTest("the cluster of docs/operating/install.md"):
            self.make_a_cluster()

    def make_a_cluster(self):
        page = (ROOT / "docs/operating/install.md").read_text(encoding="utf-8")
        part = page.split("<!-- deb_test.py runs the blocks from here on -->")[1].split("<!-- to here -->")[0]
        blocks = [block.replace("HEAD", "127.0.0.1") for block in re.findall(r"```\n(.*?)```", part, re.S)]
        self.assertEqual(len(blocks), 3)
        counted = re.sub(r"<<END\n.*?\nEND\n", "\n", "".join(blocks[:2]), flags=re.S)
        self.assertLessEqual(len(counted.splitlines()), 10, counted)
        commands = "\n".join(blocks[:2])
        systemctl = self.root / "usr" / "local" / "bin" / "systemctl"
        systemctl.write_text(SYSTEMCTL, encoding="utf-8")
        systemctl.chmod(0o755)
        (self.root / "etc/apt/apt.conf.d/90test").write_text('APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n', encoding="utf-8")
        folder = self.root / "debs" / "submitted"
        folder.mkdir()
        (folder / "search.yaml").write_text(
            "name: cluster\nentrypoint: 'echo \"loss {x}\"'\nmetrics: {loss: 'loss {number}'}\n"
            "hyperparameters:\n  x: {type: double, minval: 0, maxval: 1}\n"
            "searcher: {name: random, metric: loss, max_length: 1, max_trials: 3}\n", encoding="utf-8")
        # The commands follow a service's start at once; a person takes longer than the daemon.
        commands = commands.replace("systemctl restart hpsearchd prometheus\n", "systemctl restart hpsearchd prometheus\n"
            "n=0; until [ -S /run/hpsearch/api.sock ]; do n=$((n + 1)); [ $n -lt 600 ] || { cat /tmp/hpsearchd.log; exit 1; }; sleep 0.1; done\n")
        said = self.run_in(
            f"rm -rf /run/hpsearch /var/lib/hpsearch/api.sock; export PATH=/usr/local/bin:$PATH; cd /debs\n{commands}\n"
            "number=$(hpsearch submit submitted/search.yaml | sed -n 's/^experiment //p'); "
            "timeout 120 hpsearch wait $number || { cat /tmp/hpsearchd.log /tmp/hpsearch-worker.log; hpsearch workers; exit 1; }; hpsearch show $number; "
            # A client of another machine, which knows the certificate and has the token.
            "print=$(python3 -c 'import hashlib, ssl; print(hashlib.sha256(ssl.PEM_cert_to_DER_cert(open(\"/var/lib/hpsearch/tls.crt\").read())).hexdigest())'); "
            "hpsearch context add cluster https://127.0.0.1:8077 --fingerprint $print --token-file /root/laptop.token; hpsearch list; "
            "n=0; until ls -d /var/lib/hpsearch-backups/hpsearch-*Z; do n=$((n + 1)); [ $n -lt 600 ] || { cat /tmp/hpsearchd.log; exit 1; }; sleep 0.1; done; "
            f"{blocks[2].splitlines()[0]}; {blocks[2].splitlines()[1]} || true; "
            "python3 -c 'import json, time, urllib.request\n"
            "for _ in range(600):\n"
            "    try:\n"
            "        found = json.load(urllib.request.urlopen(\"http://127.0.0.1:9090/api/v1/targets\"))[\"data\"][\"activeTargets\"]\n"
            "    except OSError:\n"
            "        found = []\n"
            "    if [one[\"health\"] for one in found] == [\"up\"]:\n"
            "        break\n"
            "    time.sleep(0.1)\n"
            "print(\"prometheus:\", found[0][\"health\"], len(json.load(urllib.request.urlopen(\"http://127.0.0.1:9090/api/v1/rules\"))[\"data\"][\"groups\"]))'")
        self.assertIn("COMPLETED", said)
        self.assertIn("cluster", said.split("COMPLETED")[1])
        self.assertIn("prometheus: up 1", said)
        self.assertNotRegex(said, r"(?m)^error\b")

    def daemon(self):
        """Starts the daemon in the background by the unit's command."""
        unit = (self.root / "lib/systemd/system/hpsearchd.service").read_text(encoding="utf-8")
        command = re.search(r"^ExecStart=(.*)$", unit, re.M)[1]
        return (f"rm -rf /run/hpsearch; install -d -o hpsearch -g hpsearch -m 700 /run/hpsearch; su -s /bin/sh hpsearch -c 'exec {command}' >/tmp/daemon.log 2>&1 & "
                "n=0; until [ -S /run/hpsearch/api.sock ]; do n=$((n + 1)); [ $n -lt 600 ] || { cat /tmp/daemon.log; exit 1; }; sleep 0.1; done;")

    def stop(self):
        return "pkill -TERM -x hpsearchd; while pgrep -x hpsearchd >/dev/null; do sleep 0.1; done"

    def submit(self):
        """Submits a search that no worker runs."""
        (self.root / "debs" / "kept.yaml").write_text(
            "name: kept\nentrypoint: [/bin/true]\nhyperparameters:\n  x: {type: double, minval: 0, maxval: 1}\n"
            "searcher: {name: random, metric: loss, max_length: 1, max_trials: 2}\n", encoding="utf-8")
        return "mkdir -p /tmp/kept && cd /tmp/kept && cp /debs/kept.yaml . && hpsearch submit kept.yaml --server unix:///run/hpsearch/api.sock"

    def upgrade_while_a_search_runs(self):
        """Packages replace all programs while trials run: every trial completes in its first attempt."""
        folder = self.root / "home" / "user" / "long"
        folder.mkdir()
        (folder / "train.py").write_text(
            "import pathlib, time, hpsearch\n"
            "params = hpsearch.params()\n"
            "for step in range(1, hpsearch.length() + 1):\n"
            "    hpsearch.report(step, loss=params['x'] + 1 / step)\n"
            "    pathlib.Path('/home/user/long/begun').touch()\n"
            "    while not pathlib.Path('/home/user/long/upgraded').exists():\n"
            "        time.sleep(0.05)\n", encoding="utf-8")
        (folder / "search.yaml").write_text(
            "name: long\nentrypoint: [/usr/bin/python3, train.py]\nhyperparameters:\n  x: {type: double, minval: 0, maxval: 1}\n"
            "searcher: {name: random, metric: loss, max_length: 3, max_trials: 4}\n", encoding="utf-8")
        self.run_in("chown -R user /home/user/long")
        said = self.run_in(
            "su user -c 'cd /home/user/long; hpsearch run search.yaml --slots 2 -o json >answer.json 2>error.txt' & search=$!; n=0; "
            "until [ -e /home/user/long/begun ]; do n=$((n + 1)); [ $n -lt 600 ] || { cat /home/user/long/error.txt; exit 1; }; sleep 0.1; done; "
            "before=$(stat -c %i /usr/bin/hpsearch-worker); dpkg -i /debs/*.deb >/dev/null; "
            "test $before != $(stat -c %i /usr/bin/hpsearch-worker); "
            "touch /home/user/long/upgraded; wait $search; cat /home/user/long/answer.json; "
            "su user -c 'cd /home/user/long; hpsearch trials --state-dir .hpsearch/search -o json'")
        self.assertIn("COMPLETED", said)
        restarts = [int(number) for number in re.findall(r'"restarts": (\d+)', said)]
        self.assertEqual(restarts, [0] * 4, said[-3000:])


if __name__ == "__main__":
    unittest.main(verbosity=2)
