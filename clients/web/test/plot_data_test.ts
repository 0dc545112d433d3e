import assert from "node:assert/strict";
import {test} from "node:test";
import {dragged, filterRows, normal, parse, press, print, withRanges, type Brushes} from "../src/plot/brush";
import {
    ColumnDecoder,
    columnOf,
    encode,
    fromJson,
    makeArray,
    missingOf,
    numbersOf,
    wordOf,
    type Columns,
    type ColumnType,
} from "../src/plot/data/columns";
import {binMeans} from "../src/plot/contour";
import {HitGrid} from "../src/plot/drawing/hit_grid";
import {bandDensity, binned, BINS, largest, paintDensity, pairCounts} from "../src/plot/data/pair_counts";
import {parallelModel, varyingNames} from "../src/plot/data/parallel_model";
import {bestFirst} from "../src/plot/data/kept";
import {makeRaster, stampMarks} from "../src/plot/drawing/raster";
import {absences, idleShare, type Timeline} from "../src/plot/timeline";
import {comparedColumns, nonfiniteText} from "../src/plot/data/compared";
import {declarationsOf} from "../src/plot/data/space";
import {brushedRanges, pointsYaml} from "../src/plot/data/search_next";
import {countStates} from "../src/plot/data/states_over_time";
import {csvText} from "../src/plot/drawing/figure";
import {Random, seed} from "./random";

const random = new Random();
const types: readonly ColumnType[] = ["f64", "i64", "u32", "u16", "u8"];

function someColumns(rows: number): Columns {
    const fields = Array.from({length: 1 + random.below(6)}, (_, index) => {
        const type = random.pick(types);
        const data = makeArray(type, rows);
        for (let row = 0; row < rows; ++row)
            data[row] = type === "i64" && row === 2 && rows > 3 ? 2 ** 53 : random.below(9) === 0 ? missingOf(type) : random.below(200);
        return {
            name: `field ${index} ${random.text(5)}`,
            type,
            ...(type === "u16" ? {words: ["a", "ü", 3, null, true]} : {}),
            data,
            ...(type === "i64" ? {integers: new Map(rows > 3 ? [[2, 2n ** 53n + 1n]] : [])} : {}),
        };
    });
    return {lsn: random.below(1000), rows, total: rows, filled: rows, fields};
}

test("binary columns come back from any pieces", () => {
    for (let i = 0; i < 60; ++i) {
        const columns = someColumns(random.below(200));
        const bytes = encode(columns, 1 + random.below(50));
        const decoder = new ColumnDecoder();
        for (let at = 0; at < bytes.length; ) {
            const size = 1 + random.below(97);
            decoder.push(bytes.slice(at, at + size));
            at += size;
        }
        const back = decoder.finish();
        assert.deepEqual(back.fields, columns.fields, `seed ${seed}`);
        assert.equal(back.filled, columns.rows);
    }
});

test("chunks are there before the last has come", () => {
    const columns: Columns = {
        lsn: 1,
        rows: 10,
        total: 10,
        filled: 10,
        fields: [{name: "trial", type: "u32", data: Uint32Array.from({length: 10}, (_, i) => i)}],
    };
    const bytes = encode(columns, 4);
    const decoder = new ColumnDecoder();
    assert.equal(decoder.push(bytes.slice(0, bytes.length - 1)), true);
    assert.equal(decoder.columns!.filled, 8);
    assert.equal(columnOf(decoder.columns!, "trial")!.data[9], missingOf("u32"), "what has not come is missing, not zero");
});

test("columns that end early or have an unknown type are refused", () => {
    const columns = someColumns(30);
    const cut = new ColumnDecoder();
    cut.push(encode(columns).slice(0, -8));
    assert.throws(() => cut.finish(), /end after/);
    assert.throws(() => new ColumnDecoder().finish(), /before their header/);
    assert.throws(() => new ColumnDecoder().push(new TextEncoder().encode('{"lsn":1,"rows":1,"fields":[{"name":"x","type":"i128"}]}\n')), /Reload/);
});

test("JSON columns give the same arrays", () => {
    const columns = fromJson({
        lsn: 3,
        rows: 3,
        total: 3,
        fields: [
            {name: "trial", type: "u32"},
            {name: "metric", type: "f64"},
            {name: "state", type: "u8", words: ["RUNNING", "FAILED"]},
            {name: "hparams.opt", type: "text"},
        ],
        columns: [
            [0, 1, 2],
            [0.5, null, 2],
            [0, 1, null],
            ["adam", null, "sgd"],
        ],
    });
    assert.deepEqual([...numbersOf(columnOf(columns, "metric")!)], [0.5, NaN, 2]);
    assert.deepEqual(
        [0, 1, 2].map((row) => wordOf(columnOf(columns, "state")!, row)),
        ["RUNNING", "FAILED", ""],
    );
    assert.deepEqual(
        [0, 1, 2].map((row) => wordOf(columnOf(columns, "hparams.opt")!, row)),
        ["adam", "", "sgd"],
    );
    assert.deepEqual(varyingNames(columns), ["hparams.opt"]);
});

const someRanges = () => Array.from({length: random.below(4)}, () => ({from: random.below(10001) / 10000, to: random.below(10001) / 10000}));

test("brushes come back from the address", () => {
    for (let i = 0; i < 500; ++i) {
        let brushes: Brushes = {};
        for (let axis = random.below(4); axis > 0; --axis) {
            const name = random.text(6).toWellFormed();
            if (name !== "" && name !== "__proto__") brushes = withRanges(brushes, name, someRanges());
        }
        assert.deepEqual(parse(print(brushes)), brushes, `seed ${seed}`);
    }
    assert.deepEqual(parse("lr:0.1-x;%zz:0-1;w:0.2-0.3;:1-2;q"), {w: [{from: 0.2, to: 0.3}]});
});

test("ranges are sorted and do not overlap, whatever is dragged", () => {
    for (let i = 0; i < 500; ++i) {
        const ranges = normal(someRanges());
        const drag = press(ranges, random.below(1001) / 1000, 0.02);
        const next = dragged(ranges, drag, (random.below(1401) - 200) / 1000);
        next.forEach((range, k) => {
            assert.ok(range.from >= 0 && range.to <= 1 && range.from < range.to);
            if (k > 0) assert.ok(range.from > next[k - 1]!.to, `seed ${seed}`);
        });
    }
});

test("brushes keep the rows that a plain filter keeps", () => {
    for (let i = 0; i < 50; ++i) {
        const rows = random.below(300);
        const axes = ["a", "b", "c"];
        const positions = axes.map(() => Float32Array.from({length: rows}, () => (random.below(9) === 0 ? -0.07 : random.below(1001) / 1000)));
        const brushes: Brushes = Object.fromEntries(axes.map((name) => [name, normal(someRanges())]).filter(([, ranges]) => ranges!.length > 0));
        const keep = new Uint8Array(rows).fill(1);
        const count = filterRows(brushes, axes, positions, keep);
        let expected = 0;
        for (let row = 0; row < rows; ++row) {
            const wanted = axes.every(
                (name, a) =>
                    !brushes[name] || brushes[name]!.some(({from, to}) => positions[a]![row]! >= from - 1e-6 && positions[a]![row]! <= to + 1e-6),
            );
            assert.equal(keep[row], wanted ? 1 : 0, `seed ${seed}`);
            if (wanted) ++expected;
        }
        assert.equal(count, expected);
    }
});

test("pair counts count every kept trial with a place once", () => {
    const rows = 3000;
    const left = Float32Array.from({length: rows}, () => (random.below(20) === 0 ? -0.07 : random.below(1001) / 1000));
    const right = Float32Array.from({length: rows}, () => (random.below(20) === 0 ? NaN : random.below(1001) / 1000));
    const keep = Uint8Array.from({length: rows}, () => random.below(2));
    const counts = new Uint32Array(BINS * BINS);
    pairCounts(binned(left), binned(right), keep, counts, rows);
    let expected = 0;
    for (let row = 0; row < rows; ++row) if (keep[row] && left[row]! >= 0 && right[row]! >= 0) ++expected;
    assert.equal(
        counts.reduce((a, b) => a + b, 0),
        expected,
        `seed ${seed}`,
    );
    const density = new Float32Array(20 * 64);
    bandDensity(counts, density, 20, 64);
    for (let x = 0; x < 20; ++x) {
        let column = 0;
        for (let y = 0; y < 64; ++y) column += density[y * 20 + x]!;
        assert.equal(column, expected, "no band is lost in any column of pixels");
    }
    const pixels = new Uint32Array(density.length);
    paintDensity(density, largest(density), pixels, 0xffffff);
    assert.ok(
        density.every((value, k) => value > 0 === (pixels[k] !== 0)),
        "one trial is seen, none is not",
    );
});

test("the hit grid finds what a search over all marks finds", () => {
    for (let i = 0; i < 40; ++i) {
        const count = random.below(300);
        const xs = Float32Array.from({length: count}, () => (random.below(15) === 0 ? NaN : random.below(420) - 10));
        const ys = Float32Array.from({length: count}, () => random.below(220) - 10);
        const grid = new HitGrid(xs, ys, 400, 200);
        for (let k = 0; k < 30; ++k) {
            const [x, y, reach] = [random.below(400), random.below(200), 1 + random.below(30)];
            let best = -1;
            let least = reach * reach;
            for (let m = 0; m < count; ++m) {
                if (!(xs[m]! >= 0 && ys[m]! >= 0 && xs[m]! < 408 && ys[m]! < 204)) continue;
                const distance = (xs[m]! - x) ** 2 + (ys[m]! - y) ** 2;
                if (distance < least || (distance === least && m > best)) {
                    least = distance;
                    best = m;
                }
            }
            assert.equal(grid.nearest(x, y, reach), best, `seed ${seed}`);
        }
    }
});

test("stamped marks have their colour, add up, and stay inside the picture", () => {
    const raster = makeRaster(10, 10);
    const xs = [5, 5, -3, 10.4, NaN];
    stampMarks(raster, xs, [5, 5, 5, 5, 5], 0xff0000ff, 3, 0.5);
    const alpha = (x: number, y: number) => raster.pixels[y * 10 + x]! >>> 24;
    assert.ok(alpha(5, 5) > 180 && alpha(5, 5) < 200, `two halves are three quarters, got ${alpha(5, 5)}`);
    assert.equal(raster.pixels[5 * 10 + 5]! & 0xffffff, 0x0000ff);
    assert.equal(raster.pixels.filter((pixel) => pixel !== 0).length, 9);
});

test("the order of metrics is that of a plain sort; NaN is last", () => {
    for (const smaller of [true, false]) {
        const metric = Float64Array.from({length: 2000}, () => (random.below(30) === 0 ? NaN : Math.fround((random.below(4001) - 2000) / 7)));
        const key = (row: number) => (Number.isNaN(metric[row]!) ? Infinity : smaller ? metric[row]! : -metric[row]!);
        const expected = Array.from(metric, (_, row) => row).sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b));
        assert.deepEqual([...bestFirst(metric, smaller)], expected, `seed ${seed}`);
    }
});

test("means over cells leave empty cells empty", () => {
    const axis = (positions: number[]) => ({positions: Float32Array.from(positions)}) as never;
    const cells = binMeans(
        axis([0.1, 0.1, 0.9, 0.9, -0.07]),
        axis([0.1, 0.2, 0.9, 0.9, 0.5]),
        Float64Array.from([1, 3, NaN, 5, 7]),
        new Uint8Array(5).fill(1),
        2,
        2,
    );
    assert.deepEqual([...cells.counts], [2, 0, 0, 1]);
    assert.deepEqual([...cells.means], [2, NaN, NaN, 5]);
});

test("trials are counted in exactly one state at any moment", () => {
    const rows = 400;
    const created = Float64Array.from({length: rows}, () => random.below(1000));
    const started = created.map((time) => (random.below(5) === 0 ? NaN : time + random.below(50)));
    const ended = created.map((time, row) =>
        random.below(3) === 0 ? NaN : (Number.isNaN(started[row]!) ? time : started[row]!) + random.below(400),
    );
    const state = Array.from(ended, (time) => (Number.isNaN(time) ? "RUNNING" : random.pick(["COMPLETED", "STOPPED", "FAILED", "CANCELED"])));
    const times = Float64Array.from({length: 60}, (_, i) => i * 30);
    const counts = countStates({created, started, ended, state}, times);
    times.forEach((time, i) => {
        const sum = Object.values(counts).reduce((total, layer) => total + layer[i]!, 0);
        assert.equal(sum, created.filter((each) => each <= time).length, `at ${time}, seed ${seed}`);
    });
    const some = countStates({created, started, ended, state}, times, {edges: [0, 900, 1800], trials: [7, 0]});
    times.forEach((time, i) => {
        assert.equal(some.RUNNING[i]! + some.PAUSED[i]!, counts.RUNNING[i], `at ${time}, seed ${seed}`);
        assert.equal(some.RUNNING[i], Math.min(time < 900 ? 7 : 0, counts.RUNNING[i]!), `at ${time}, seed ${seed}`);
    });
});

function searchColumns(): Columns {
    return {
        lsn: 1,
        rows: 3,
        total: 3,
        filled: 3,
        fields: [
            {name: "trial", type: "u32", data: Uint32Array.of(0, 1, 2)},
            {name: "metric", type: "f64", data: Float64Array.of(0.5, 0.25, NaN)},
            {name: "hparams.net.lr", type: "f64", data: Float64Array.of(0.001, 0.1, 1)},
            {name: "hparams.opt", type: "u16", words: ["sgd", "a: b"], data: Uint16Array.of(0, 1, 1)},
        ],
    };
}

test("brushed trials become points and ranges of the next search", () => {
    const columns = searchColumns();
    assert.equal(
        pointsYaml(columns, [1, 0]),
        'searcher:\n  points_to_evaluate:\n    - {net: {lr: 0.1}, opt: "a: b"}\n    - {net: {lr: 0.001}, opt: "sgd"}\n',
    );
    const model = parallelModel(columns, ["hparams.net.lr", "hparams.opt", "metric"], {
        smallerIsBetter: true,
        metricLabel: "loss",
        lengthLabel: "epochs",
        logMetric: false,
        clip: "auto",
        rungCount: 1,
        space: declarationsOf({net: {lr: {type: "log", base: 10, minval: -3, maxval: 0}}, opt: {type: "categorical", vals: ["sgd", "a: b"]}}),
    });
    assert.deepEqual([...model.order], [1, 0, 2]);
    assert.equal(model.axes[0]!.scale.kind, "log");
    assert.deepEqual(brushedRanges(model, {"hparams.net.lr": [{from: 0, to: 0.5}], "hparams.opt": [{from: 0.5, to: 1}]}, columns), {
        "net.lr": [0.001, 0.0316228],
        opt: {vals: ["a: b"]},
    });
});

test("CSV quotes what needs it", () => {
    assert.equal(
        csvText({
            columns: ["a", "b"],
            rows: [
                [1, 'x "y"'],
                [0.1, "p,q\n"],
            ],
        }),
        'a,b\r\n1,"x ""y"""\r\n0.1,"p,q\n"\r\n',
    );
});

const axesOf = (columns: Columns, hyperparameters: unknown) =>
    parallelModel(columns, varyingNames(columns), {
        smallerIsBetter: true,
        metricLabel: "loss",
        lengthLabel: "epochs",
        logMetric: false,
        clip: "auto",
        rungCount: 1,
        space: declarationsOf(hyperparameters),
    }).axes;

// The scale and the ends of an axis were guessed from the values that trials happened to have.
test("axes have the scale and the ends that the file declares", () => {
    const numbers = (name: string, ...data: number[]) => ({name, type: "f64" as const, data: Float64Array.from(data)});
    const columns: Columns = {
        lsn: 1,
        rows: 3,
        total: 3,
        filled: 3,
        fields: [
            {name: "trial", type: "u32", data: Uint32Array.of(0, 1, 2)},
            numbers("metric", 1, 2, 3),
            numbers("hparams.lr", 0.01, 0.02, 0.03),
            numbers("hparams.decay", 1e-6, 1e-3, 0.9),
            {...numbers("hparams.width", 40, 50, 60), type: "i64", integers: new Map()},
            numbers("hparams.outside", 0.5, 2, 0.25),
            {name: "hparams.size", type: "u16", words: [16, 32, 64], data: Uint16Array.of(2, 0, 1)},
            {name: "hparams.grade", type: "u16", words: ["small", "large", "middle"], data: Uint16Array.of(2, 0, 1)},
            {name: "hparams.optimizer", type: "u16", words: ["sgd", "adam"], data: Uint16Array.of(0, 1, 1)},
        ],
    };
    const axes = axesOf(columns, {
        lr: {type: "log", base: 10, minval: -5, maxval: 0},
        decay: {type: "double", minval: 0, maxval: 1},
        width: {type: "int", minval: 1, maxval: 1024, scale: "log"},
        outside: {type: "double", minval: 0, maxval: 1},
        size: {type: "categorical", vals: [16, 32, 64]},
        grade: {type: "categorical", vals: ["small", "large", "middle"], ordered: true},
        optimizer: {type: "categorical", vals: ["sgd", "adam"]},
    });
    const of = (name: string) => axes.find((axis) => axis.name === `hparams.${name}`)!.scale;
    assert.deepEqual(
        [of("lr").kind, of("lr").lo, of("lr").hi].map((each) => (typeof each === "number" ? Number(each.toPrecision(9)) : each)),
        ["log", 1e-5, 1],
    );
    assert.deepEqual([of("decay").kind, of("decay").lo, of("decay").hi], ["linear", 0, 1], "spread over decades, but declared on a linear scale");
    assert.deepEqual([of("width").kind, of("width").lo, of("width").hi], ["log", 1, 1024]);
    assert.deepEqual([of("outside").lo, of("outside").hi], [0, 2], "a point of the file beyond the range is seen");
    assert.deepEqual([0, 1, 2].map((code) => of("size").at(code) * 3 - 0.5).map(Math.round), [0, 1, 2], "ascending numbers stay in their order");
    assert.deepEqual([0, 1, 2].map((code) => of("grade").at(code) * 3 - 0.5).map(Math.round), [0, 1, 2]);
    assert.ok(of("optimizer").at(0) > of("optimizer").at(1), "others stand in the order of their results");
});

// A trial without a result made a red NaN strip, and one that reported NaN made none.
test("trials are compared at one length, and NaN is where it was reported", () => {
    const columns: Columns = {
        lsn: 1,
        rows: 5,
        total: 5,
        filled: 5,
        length: 9,
        lengths: [
            {length: 1, results: 5},
            {length: 9, results: 2},
        ],
        fields: [
            {name: "trial", type: "u32", data: Uint32Array.of(0, 1, 2, 3, 4)},
            {name: "result", type: "f64", data: Float64Array.of(0.3, 0.2, NaN, NaN, NaN)},
            {name: "metric", type: "f64", data: Float64Array.of(0.25, 0.1, 0.05, NaN, NaN)},
            {name: "nonfinite", type: "u8", words: ["nan", "inf", "-inf"], data: Uint8Array.of(255, 255, 255, 0, 255)},
        ],
    };
    const trials = (choice: number | "any" | undefined) => [...columnOf(comparedColumns(columns, choice), "trial")!.data];
    const metrics = (choice: number | "any" | undefined) => [...columnOf(comparedColumns(columns, choice), "metric")!.data];
    assert.deepEqual(
        [trials(undefined), metrics(undefined)],
        [
            [0, 1, 3],
            [0.3, 0.2, NaN],
        ],
        "trial 2 was stopped before, trial 4 has reported nothing",
    );
    assert.deepEqual(
        [trials("any"), metrics("any")],
        [
            [0, 1, 2, 3],
            [0.25, 0.1, 0.05, NaN],
        ],
    );
    assert.equal(nonfiniteText(comparedColumns(columns, undefined), 2), "NaN");
    const axes = axesOf(comparedColumns(columns, undefined), {});
    assert.equal(axes.length, 0);
});

// A slot that others held, that was in quarantine, or whose worker was away, counted as idle.
test("idle time is what nobody held while the worker was there and in service", () => {
    const slot = {worker: 1, name: "node", slot: 0, busy: 0.2, taken: 0.3, away: 0.1};
    const timeline = {
        from: 100,
        to: 200,
        now: 200,
        slots: [slot],
        taken: [],
        bars: [],
        presences: [{worker: 1, from: 110, to: null}],
        quarantines: [{worker: 1, from: 100, to: 120}],
    } as unknown as Timeline;
    assert.deepEqual(absences(timeline, 1), [[100, 110]]);
    assert.equal(idleShare(timeline, slot).toFixed(6), "0.300000", "10 s of the quarantine were before the worker joined");
    assert.deepEqual(
        absences(
            {
                ...timeline,
                presences: [
                    {worker: 1, from: 90, to: 130},
                    {worker: 1, from: 150, to: 180},
                ],
            },
            1,
        ),
        [
            [130, 150],
            [180, 200],
        ],
    );
    assert.deepEqual(absences({...timeline, presences: []}, 1), [], "nothing is known");
});
