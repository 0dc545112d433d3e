// What a trial's page reads from its history.
import assert from "node:assert/strict";
import {test} from "node:test";
import {storyOf} from "../src/pages/story";
import {attemptsOf, isFailed} from "../src/pages/trial/attempts";
import {curvesFigure, type Curves} from "../src/plot/curves";
import {csvText} from "../src/plot/drawing/figure";

// Of a gang, only the worker of rank 0 was shown.
test("an attempt of a gang has all its workers, by rank", () => {
    const [attempt] = attemptsOf([
        {
            lsn: 5,
            at: 1,
            type: "lease_granted",
            attempt: 1,
            worker: 3,
            slots: [0, 1],
            others: [
                {worker: 7, slots: [2]},
                {worker: 4, slots: []},
            ],
        } as never,
    ]);
    assert.deepEqual(attempt!.places, [
        {worker: 3, slots: [0, 1]},
        {worker: 7, slots: [2]},
        {worker: 4, slots: []},
    ]);
});

test("an event that the daemon has translated is shown so", () => {
    const report = {type: "exit", cause: "exited", code: 1, message: "exit status 1"};
    const history = [
        {lsn: 5, at: 1, type: "lease_granted", trial: 4, attempt: 1, worker: 3, slots: []},
        {lsn: 6, at: 2, type: "report_taken", trial: 4, attempt: 1, report, translated: {report: {...report, message: "退出码 1"}}},
    ] as never;
    assert.equal(attemptsOf(history)[0]!.message, "退出码 1");
    assert.match(storyOf(history, "loss", "epochs")[0]!.text, /退出码 1$/);
});

// The file of the curves had a line for each trial, and no curve.
test("the CSV of curves has their points, NaN where it was reported", () => {
    const curves = {
        metric: "loss",
        group: "",
        unit: "epochs",
        lsn: 1,
        rungs: [],
        trials: [
            {
                trial: 4,
                rung: 0,
                state: "STOPPED",
                step: [1, 3],
                time: [10, 30],
                min: [0.5, 0.25],
                max: [0.5, 0.3],
                last: [0.5, 0.1234567890123],
                nonfinite: [[2, "nan"]],
                events: [],
            },
        ],
    } as Curves;
    const look = {theme: {dark: false, states: {}, categories: []}, say: (key: string) => key} as never;
    const figure = curvesFigure(
        curves,
        null,
        {x: "step", logX: false, kind: "linear", clip: "auto", smooth: 0, startedAt: 0, best: null, zoom: null, small: false, colour: "rung"},
        {width: 600, height: 300},
        look,
    );
    assert.equal(csvText(figure.csv!()), "trial,epochs,time,loss,min,max\r\n4,1,10,0.5,0.5,0.5\r\n4,2,,nan,,\r\n4,3,30,0.1234567890123,0.25,0.3\r\n");
});

test("the attempt that failed last, whatever ended after it", () => {
    const at = (attempt: number, cause: string, code: number) => [
        {lsn: 1, at: 1, type: "lease_granted", attempt, worker: 1, slots: [0]},
        {lsn: 2, at: 2, type: "report_taken", attempt, report: {type: "exit", cause, code}},
    ];
    const history = [...at(1, "exited", 1), ...at(2, "signaled", 9), ...at(3, "ended_by_agent", 0), ...at(4, "exited", 0)] as never;
    assert.equal(attemptsOf(history).find(isFailed)!.attempt, 2);
});
