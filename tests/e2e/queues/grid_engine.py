"""A real Grid Engine of one node on this machine, as the user who runs the test."""

import getpass
import pathlib
import shutil
import subprocess
import time

import harness

PROGRAMS = ("/usr/sbin/sge_qmaster", "/usr/sbin/sge_execd", "/usr/lib/gridengine/spoolinit", "/usr/bin/qsub")
SHARE = pathlib.Path("/usr/share/gridengine")
LIBRARY = pathlib.Path("/usr/lib/gridengine")
INSTALLED = pathlib.Path("/var/lib/gridengine")

BOOTSTRAP = """\
admin_user              none
default_domain          none
ignore_fqdn             true
spooling_method         classic
spooling_lib            libspoolc
spooling_params         {root}/default/common;{root}/qmaster
binary_path             /usr/sbin
qmaster_spool_dir       {root}/qmaster
security_mode           none
listener_threads        2
worker_threads          2
scheduler_threads       1
"""
CONFIGURATION = {"execd_spool_dir": "{root}/execd", "mailer": "/bin/true", "min_uid": "0", "min_gid": "0",
                 "load_report_time": "00:00:01"}
# SIGUSR2 comes 20 s before SIGKILL.
QUEUE = {"hostlist": "localhost", "slots": "4", "pe_list": "NONE", "load_thresholds": "NONE", "notify": "00:00:20"}
SCHEDULE = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1"}


def missing():
    """The programs of Grid Engine that this machine lacks."""
    return [name for name in PROGRAMS if not pathlib.Path(name).exists()]


def changed(text, settings):
    """Lines of `name value` with other values."""
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return "".join(f"{words[0]} {settings.get(words[0], words[-1])}\n" for words in lines if not words[0].startswith("#"))


class GridEngine:
    """Started by start(), ended by stop(). `environment` is for those who talk to it."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.processes = []
        self.environment = {"SGE_ROOT": str(self.root), "SGE_CELL": "default", "SGE_QMASTER_PORT": str(harness.free_port()),
                            "SGE_EXECD_PORT": str(harness.free_port()), "SGE_ND": "1"}

    def start(self):
        common = self.root / "default" / "common"
        for folder in (common, self.root / "qmaster" / "job_scripts", self.root / "execd" / "localhost"):
            folder.mkdir(parents=True)
        for name in ("util", "bin", "utilbin"):
            (self.root / name).symlink_to(INSTALLED / name)
        (common / "bootstrap").write_text(BOOTSTRAP.format(root=self.root))
        (common / "act_qmaster").write_text("localhost\n")
        (common / "host_aliases").write_text(f"localhost {self.ask('hostname').strip()}\n")
        configuration = self.root / "configuration"
        configuration.write_text(changed((SHARE / "default-configuration").read_text(),
                                         {name: value.format(root=self.root) for name, value in CONFIGURATION.items()}))
        self.ask(LIBRARY / "spoolinit", "classic", "libspoolc", f"{common};{self.root / 'qmaster'}", "init")
        for what, given in (("configuration", configuration), ("complexes", SHARE / "util/resources/centry"),
                            ("usersets", SHARE / "util/resources/usersets"), ("managers", getpass.getuser())):
            self.ask(LIBRARY / "spooldefaults", what, given)
        self.begin("/usr/sbin/sge_qmaster")
        self.until("qconf", "-sh")
        self.until("qconf", "-as", "localhost")
        self.begin("/usr/sbin/sge_execd")
        queue = self.root / "edit"  # qconf shows a queue with defaults in an editor, and takes what that leaves.
        queue.write_text("#!/bin/sh\nsed -i " + " ".join(f"-e 's#^{name} .*#{name} {value}#'" for name, value in QUEUE.items()) + ' "$1"\n')
        queue.chmod(0o700)
        self.ask("qconf", "-aq", "all.q", variables={"EDITOR": str(queue)})
        schedule = self.root / "schedule"
        schedule.write_text(changed(self.ask("qconf", "-ssconf"), SCHEDULE))
        self.ask("qconf", "-Msconf", schedule)
        self.until("sh", "-c", "qstat -f | grep -q 'all.q@localhost .* lx-[a-z0-9]* *$'")

    def begin(self, *command):
        with open(self.root / "log", "ab") as log:
            self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.root,
                                                   env=harness.environment() | self.environment))

    def ask(self, *command, variables=None, check=True):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, cwd=self.root,
                              env=harness.environment() | self.environment | (variables or {}))
        if check and done.returncode != 0:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def until(self, *command):
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.ask(*command)
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def unfinished(self):
        return [line.split()[0] for line in self.ask("qstat", "-u", "*").splitlines() if line.split()[0].isdigit()]

    def stop(self):
        for job in self.unfinished():
            self.ask("qdel", "-f", job, check=False)
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.root, ignore_errors=True)
