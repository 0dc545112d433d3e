#!/usr/bin/python3 -IS
"""A training that trains nothing: it tells every step, checkpoints a number, and writes down in a ledger what it did.

The ledger is the test's own truth, independent of what daemon and worker say: one JSON line per start, step and end,
appended in one write. Behaviour comes from FAKE_* variables of the experiment.
"""

import json
import os
import signal
import socket
import sys
import time

ENV = os.environ
TRIAL = int(ENV["HPSEARCH_TRIAL_NUMBER"])
ATTEMPT = int(ENV["HPSEARCH_ATTEMPT"])
HPARAMS = json.loads(ENV["HPSEARCH_PARAMS"])
MODE = ENV.get("FAKE_MODE", "good")
STEP_SECONDS = float(ENV.get("FAKE_STEP_SECONDS", "0"))
CHECKPOINT_EVERY = int(ENV.get("FAKE_CHECKPOINT_EVERY", "0"))  # Steps; 0 = at its lengths only.


def note(what, **more):
    line = json.dumps({"what": what, "trial": TRIAL, "attempt": ATTEMPT, "at": time.monotonic(), **more}) + "\n"
    ledger = os.open(ENV["FAKE_LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(ledger, line.encode())
    os.close(ledger)


def end(why, code=0):
    note("end", why=why)
    sys.exit(code)


def metric(step):
    if MODE == "nan":
        return float("nan")
    if ENV.get("FAKE_METRIC") == "equal":
        return 0.5
    return (HPARAMS["x"] - 0.3) ** 2 + 1.0 / step


def meet_fate(step, tell):
    """With FAKE_FATES, a JSON map from a trial's number to how it ends early: after step 2, or before it begins."""
    fate = json.loads(ENV.get("FAKE_FATES", "{}")).get(str(TRIAL))
    if fate == "invalid" and step == 0:
        tell(type="invalid_hyperparameters", why="x does not please")
        end("invalid")
    elif fate == "dies" and step == 0:
        end("died", 3)
    elif fate == "fails" and step == 2:
        end("failed", 3)
    elif fate == "leaves" and step == 2:
        end("left")


def end_if_told():
    """With FAKE_END_WHEN: as soon as that file is there, in the way of the hyperparameter "code"."""
    if not os.path.exists(ENV.get("FAKE_END_WHEN", "")):
        return
    note("end", why="a file said so", code=HPARAMS["code"])
    if isinstance(HPARAMS["code"], int):
        os._exit(HPARAMS["code"])
    os.kill(os.getpid(), signal.Signals[HPARAMS["code"]])


def main():
    signal.signal(signal.SIGTERM, lambda *_: end("terminated"))
    if MODE == "dies":
        print("fake_training: cannot go on", file=sys.stderr)
        sys.exit(3)
    step = 0
    if ENV["HPSEARCH_LATEST_CHECKPOINT"]:
        with open(os.path.join(ENV["HPSEARCH_LATEST_CHECKPOINT"], "step")) as file:
            step = int(file.read())
    length = int(ENV["HPSEARCH_LENGTH"])
    with open("/proc/self/stat") as file:
        began = int(file.read().rpartition(") ")[2].split()[19])  # With its number it names one process.
    note("start", step=step, length=length, hparams=HPARAMS, seed=int(ENV["HPSEARCH_TRIAL_SEED"]), pid=os.getpid(),
         began=began)
    if MODE == "silent":
        end("finished")

    connection = socket.socket(socket.AF_UNIX)
    connection.connect(ENV["HPSEARCH_SOCKET"])
    stream = connection.makefile("rw")

    def tell(**message):
        stream.write(json.dumps(message) + "\n")
        stream.flush()
        line = stream.readline()
        if not line:
            end("socket closed", 1)
        return json.loads(line)

    def checkpoint():
        with open(os.path.join(ENV["HPSEARCH_CHECKPOINT_DIR"], "step"), "w") as file:
            file.write(str(step))
        tell(type="checkpoint", step=step)

    meet_fate(0, tell)
    while True:
        if step < length or MODE == "runs_past":
            time.sleep(STEP_SECONDS)
            end_if_told()
            step += 1
            note("step", step=step, length=length)
        if MODE == "hangs" and ATTEMPT == 1 and step == 2:
            time.sleep(3600)
        if step >= length or (CHECKPOINT_EVERY and step % CHECKPOINT_EVERY == 0):
            checkpoint()
        answer = tell(type="report", step=step, metrics={"loss": metric(max(step, 1))})
        if "error" in answer:
            end("refused: " + answer["error"], 1)
        if answer["directive"] == "pause" and step < length:
            checkpoint()
        meet_fate(step, tell)
        if answer["directive"] != "continue" and MODE != "runs_past":
            end(answer["directive"])
        length = int(answer.get("length", length))


main()
