// The form finds the program in a command, and begins with the search that is advised.
import assert from "node:assert/strict";
import {test} from "node:test";
import {draftOf, programOf, starter, valueAt} from "../src/form/draft";

test("the file that a command needs is known, and other words are none", () => {
    for (const [command, file] of [
        ["python3 train.py --lr {lr}", "train.py"],
        ["python3 -u src/train.py", "src/train.py"],
        ["./run --fast", "./run"],
        ["torchrun --nproc-per-node 2 main.py", "main.py"],
        ["python3 -m package.train", ""],
        ["/opt/train.py", ""],
        ["sleep 1.5", ""],
        ["", ""],
    ])
        assert.equal(programOf(command), file, command);
    assert.equal(programOf(["python3", "train.py"]), "train.py");
    assert.equal(programOf(undefined), "");
});

test("the form begins with the search that is advised", () => {
    const {tree} = draftOf(starter);
    assert.equal(valueAt(tree, ["searcher", "mode"]), "aggressive");
    assert.equal(valueAt(tree, ["searcher", "sampler"]), "model");
});
