"""What programs/witness.* saw when they were started, and what the job contract says they have to see.

The latter is worked out here from the specification and what the test asked for, never by asking the product.
"""

import json
import os
import pathlib
import shlex

import harness

PROGRAMS = harness.HERE / "programs"
PYTHON = ["/usr/bin/python3", "-B", str(PROGRAMS / "witness.py")]
SHELL = ["sh", str(PROGRAMS / "witness.sh")]
CPP = [str(harness.BIN / "contract_witness")]
LANGUAGES = {"python": PYTHON, "shell": SHELL, "cpp": CPP}
# All of them one after the other, each with {args}; steps end at 2, so that their first report decides nothing.
IN_TURN = " && ".join(f"{shlex.join(program)} {{args}}" for program in LANGUAGES.values())
END = """echo 'HPSEARCH {{"step": 2, "loss": 0.5}}'"""
ALL = f"{IN_TURN} && {END}"

# What a worker never hands down from its own environment: it may itself be somebody's job.
IDENTITY = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT",
            "NPROC_PER_NODE", "WORKER_ADDRS", "WORKER_PORT", "TF_CONFIG", "ELASTICBATCH_CONFIG", "ElASTICBATCH_CONFIG",
            "VK_TASK_INDEX", "PAI_HPS_STRANGER", "MA_STRANGER", "VC_STRANGER", "DET_STRANGER", "HPSEARCH_STRANGER",
            "DET_LATEST_CHECKPOINT", "HPSEARCH_WARM_START", "HPSEARCH_HOSTFILE", "NVIDIA_VISIBLE_DEVICES",
            "PYTHONUNBUFFERED", "OMP_NUM_THREADS")
STRANGER = {name: "somebody else's" for name in IDENTITY}
# A shell's own.
SHELL_KEEPS = ("PWD", "OLDPWD", "SHLVL", "_")


class Account:
    """What one program wrote down."""

    def __init__(self, folder):
        self.folder = folder
        self.language = folder.name.partition(".")[0]
        self.environment = dict(variable.split("=", 1) for variable in self.pieces("environment"))
        self.arguments = self.pieces("arguments")
        self.directory, = self.pieces("directory")

    def pieces(self, name):
        return [os.fsdecode(piece) for piece in (self.folder / name).read_bytes().split(b"\0")[:-1]]

    def text(self, name):
        return (self.folder / name).read_text()

    def job(self):
        return json.loads(self.text("training_job.json"))

    def was_given(self):
        """Its variables without those that it has from the machine, as the worker has them too."""
        machine = harness.environment()
        return {name: value for name, value in self.environment.items()
                if name not in SHELL_KEEPS and (name in IDENTITY or machine.get(name) != value)}


def accounts(folder):
    return [Account(done.parent) for done in sorted(pathlib.Path(folder).glob("*/done"))]


def flat(tree, prefix=""):
    """Name → value, nested names joined by dots, sorted."""
    out = {}
    for name, value in sorted(tree.items()):
        out |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return out


def argument(value):
    """Python's str(), but a negative real without exponent."""
    return "-0.00001" if value == -1e-05 else str(value)


def compact(tree):
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def threads(slots, of):
    """OMP_NUM_THREADS: the share of the machine's cores that so many of a worker's slots are."""
    return max(1, len(os.sched_getaffinity(0)) * slots // of)


def variable(name):
    """The part of a variable's name that a hyperparameter's or channel's becomes."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name).upper()


class Attempt:
    """What the test knows of an attempt; all that its programs have to find follows from it."""

    def __init__(self, root, hyperparameters, **more):
        self.root = pathlib.Path(root)  # Its directory on its worker.
        self.hyperparameters = hyperparameters
        self.experiment, self.name, self.trial, self.number, self.run = 1, "witness", 1, 0, 1
        self.seed = None
        self.length, self.done, self.unit, self.metric, self.latest = 1, 0, "epochs", "loss", ""
        self.max_length = None  # Of the experiment; None: the same as `length`.
        self.slots, self.ids, self.devices, self.threads = [0], [], [], 1
        self.nodes, self.rank, self.reports = ["127.0.0.1"], 0, True
        self.inputs, self.outputs, self.data, self.own = {}, [], {}, {}
        self.command, self.context, self.digest = [], "", ""
        for name, value in more.items():
            assert hasattr(self, name), name
            setattr(self, name, value)
        self.ml = self.root / "ml"

    def output_places(self):
        channels = ["model", "checkpoints", "tensorboard", "logs"] + self.outputs
        return {channel: f"{self.ml}/output/{channel}/" for channel in channels}

    def environment(self, found):
        """Exactly the variables that it is given. From `found` come only those that no one can know before."""
        values = flat(self.hyperparameters)
        params = compact(self.hyperparameters)
        ids, devices = ",".join(map(str, self.ids)), ",".join(map(str, self.devices))
        expected = {
            "HPSEARCH_EXPERIMENT_ID": self.experiment, "DET_EXPERIMENT_ID": self.experiment,
            "HPSEARCH_EXPERIMENT_NAME": self.name,
            "HPSEARCH_TRIAL_ID": self.trial, "DET_TRIAL_ID": self.trial, "HPSEARCH_TRIAL_NUMBER": self.number,
            "HPSEARCH_ATTEMPT": self.run, "DET_TRIAL_RUN_ID": self.run,
            "HPSEARCH_TRIAL_SEED": self.seed, "DET_TRIAL_SEED": self.seed,
            "HPSEARCH_LENGTH": self.length, "HPSEARCH_MAX_LENGTH": self.max_length or self.length, "HPSEARCH_UNIT": self.unit, "HPSEARCH_METRIC": self.metric,
            "HPSEARCH_CHECKPOINT_DIR": self.ml / "output/checkpoints", "HPSEARCH_OUTPUT_DIR": self.ml / "output",
            "HPSEARCH_LATEST_CHECKPOINT": self.latest,
            "HPSEARCH_PARAMS": params, "DET_HPARAMS": params, "HPSEARCH_PARAMS_FILE": self.root / "params.json",
            "HPSEARCH_DATA": compact(self.data),
            "HPSEARCH_SLOT_IDS": ids, "DET_SLOT_IDS": f"[{ids}]",
            "CUDA_VISIBLE_DEVICES": devices, "CUDA_DEVICE_ORDER": "PCI_BUS_ID", "ROCR_VISIBLE_DEVICES": "", "ASCEND_RT_VISIBLE_DEVICES": "",
            "PYTHONUNBUFFERED": 1, "OMP_NUM_THREADS": self.threads,
            "PAI_WORKING_DIR": self.ml / "usercode", "PAI_CONFIG_DIR": f"{self.ml}/input/config/",
            "PAI_HPS": json.dumps(values),
            "PAI_USER_ARGS": " ".join(f"--{name} {shlex.quote(argument(value))}" for name, value in values.items()),
            "MA_HOME": self.ml, "MA_JOB_DIR": self.ml / "input/job", "MA_MOUNT_PATH": self.ml, "MA_LOG_DIR": self.ml / "output/logs",
            "MA_CURRENT_IP": self.nodes[self.rank], "MA_NUM_GPUS": len(self.devices), "MA_TASK_NAME": "worker",
            "MA_SCRIPT_INTERPRETER": "", "VK_TASK_INDEX": self.rank,
            "MA_NUM_HOSTS": len(self.nodes), "VC_WORKER_NUM": len(self.nodes), "VC_TASK_INDEX": self.rank,
            "VC_WORKER_HOSTS": ",".join(self.nodes),
            "HPSEARCH_STORE": found.get("HPSEARCH_STORE"),
            "HPSEARCH_ATTEMPT_MARK": found.get("HPSEARCH_SOCKET", found.get("HPSEARCH_ATTEMPT_MARK")),
        }
        for prefix in ("HPSEARCH_HP_", "PAI_HPS_"):
            expected |= {f"{prefix}{variable(name)}": value for name, value in values.items()}
        expected |= {f"PAI_INPUT_{variable(name)}": place for name, place in self.inputs.items()}
        expected |= {f"PAI_OUTPUT_{variable(name)}": place for name, place in self.output_places().items()}
        if self.latest:
            expected["DET_LATEST_CHECKPOINT"] = self.latest
        if self.devices:
            expected["NVIDIA_VISIBLE_DEVICES"] = devices
        if "_STDBUF_O" in found:  # Of the machine: whether coreutils' library is there.
            expected |= {name: found.get(name) for name in ("_STDBUF_O", "LD_PRELOAD", "ASAN_OPTIONS")}
        if self.reports:
            expected["HPSEARCH_SOCKET"] = found.get("HPSEARCH_SOCKET")
        return {name: str(value) for name, value in (expected | self.own).items()}

    def training_job(self):
        return {
            "version": 1,
            "experiment": {"id": self.experiment, "name": self.name},
            "trial": {"id": self.trial, "number": self.number, "attempt": self.run, "seed": self.seed},
            "command": self.command,
            "context": {"directory": self.context, "sha256": self.digest},
            "hyperparameters": self.hyperparameters,
            "length": {"unit": self.unit, "until": self.length, "done": self.done},
            "metric": self.metric,
            "inputs": self.inputs,
            "outputs": self.output_places(),
            "resources": {"slots": self.slots, "devices": [str(device) for device in self.devices],
                          "instance_count": len(self.nodes), "instance_index": self.rank},
            "data": self.data,
        }
