"""A real Slurm of three nodes on this machine, as the user who runs the test: without munge, systemd and a database."""

import getpass
import pathlib
import shutil
import socket
import subprocess
import time

import harness

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol", "srun")
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")

CONFIG = """\
ClusterName=hptest
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
StateSaveLocation={root}/state
SlurmctldPidFile={root}/slurmctld.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdSpoolDir={root}/spool/%n
SlurmdPidFile={root}/slurmd.%n.pid
SlurmdLogFile={root}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
SlurmdTimeout=30
KillWait=30
MinJobAge=300
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=15
PartitionName=short Nodes=n1,n2,n3 MaxTime=10 State=UP PriorityTier=1
PartitionName=urgent Nodes=n1,n2,n3 MaxTime=INFINITE State=UP PriorityTier=10
"""
CGROUP = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"


def program(name):
    return shutil.which(name) or next((f"{folder}/{name}" for folder in SYSTEM_FOLDERS
                                       if pathlib.Path(folder, name).exists()), None)


def missing():
    """The programs of Slurm that this machine lacks."""
    return [name for name in PROGRAMS if program(name) is None]


class SlurmCluster:
    """Started by start(), ended by stop(). `environment` is for those who talk to it."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.processes = []
        self.environment = {"SLURM_CONF": str(self.root / "slurm.conf")}

    def start(self):
        for name in ("state", "spool", "log"):
            (self.root / name).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        nodes = "\n".join(f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={harness.free_port()} CPUs=4 "
                          "RealMemory=1000 State=UNKNOWN" for i in (1, 2, 3))
        config = self.root / "slurm.conf"
        config.write_text(CONFIG.format(host=host, user=getpass.getuser(), port=harness.free_port(), root=self.root,
                                        nodes=nodes))
        (self.root / "cgroup.conf").write_text(CGROUP)
        self.begin("slurmctld", "-D", "-c", "-f", config)
        for node in ("n1", "n2", "n3"):
            self.begin("slurmd", "-D", "-N", node, "-f", config)
        deadline = time.monotonic() + 60
        while set(self.ask("sinfo", "-N", "-h", "-o", "%T").split()) != {"idle"}:
            if time.monotonic() > deadline:
                raise AssertionError("Slurm does not come up:\n" + (self.root / "log" / "slurmctld.log").read_text()[-3000:])
            time.sleep(0.2)

    def begin(self, name, *arguments):
        with open(self.root / "log" / f"{len(self.processes)}.{name}", "ab") as log:
            self.processes.append(subprocess.Popen([program(name), *map(str, arguments)], stdin=subprocess.DEVNULL,
                                                   stdout=log, stderr=log, env=harness.environment() | self.environment))

    def ask(self, name, *arguments, check=False):
        done = subprocess.run([program(name), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              env=harness.environment() | self.environment, stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise AssertionError(f"{name} {arguments}: {done.stderr}")
        return done.stdout

    def jobs(self):
        """Job → state, of all that Slurm remembers."""
        lines = self.ask("squeue", "-h", "-t", "all", "-o", "%i %T").split("\n")
        return dict(line.split() for line in lines if line)

    def unfinished(self):
        over = {"COMPLETED", "CANCELLED", "TIMEOUT", "PREEMPTED", "FAILED", "NODE_FAIL"}
        return {job: state for job, state in self.jobs().items() if state not in over}

    def stop(self):
        self.ask("scancel", "--user", getpass.getuser())
        deadline = time.monotonic() + 20
        while self.unfinished() and time.monotonic() < deadline:
            time.sleep(0.2)
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
