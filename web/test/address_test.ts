import assert from "node:assert/strict";
import {test} from "node:test";
import {changed, parseAddress, printAddress, type Address} from "../src/state/address";
import {Random, seed} from "./random";

test("a printed address is read back as it was", () => {
    const random = new Random();
    for (let round = 0; round < 5000; round += 1) {
        const path = Array.from({length: random.below(5)}, () => random.text(6)).filter((part) => part !== "" && part !== "." && part !== "..");
        const query: Record<string, string> = {};
        for (let n = random.below(5); n > 0; n -= 1) {
            const name = random.text(4);
            const value = random.text();
            if (name !== "" && value !== "") Object.defineProperty(query, name, {value, enumerable: true, configurable: true, writable: true});
        }
        const address: Address = {path, query};
        const printed = printAddress(address);
        assert.deepEqual(parseAddress(printed), address, `seed ${seed}, round ${round}: ${printed}`);
        assert.equal(printAddress(parseAddress(printed)), printed, `seed ${seed}, round ${round}`);
    }
});

test("a browser keeps a printed address as it is", () => {
    const random = new Random();
    for (let round = 0; round < 2000; round += 1) {
        const printed = printAddress({path: ["e", "3"], query: {q: `${random.text()}x`}});
        assert.equal(new URL(printed, "http://h/a/").href, `http://h/a/${printed}`.replaceAll("'", "%27"), `seed ${seed}, round ${round}`);
    }
});

test("a damaged address opens what can be read", () => {
    assert.deepEqual(parseAddress("e/3/%zz?q=%e0%a4&x=1&=y&z&&x2=%"), {path: ["e", "3"], query: {x: "1"}});
    assert.deepEqual(parseAddress(""), {path: [], query: {}});
    assert.deepEqual(parseAddress("//?#q=1"), {path: [], query: {}});
});

test("an empty value removes its parameter", () => {
    const address = parseAddress("e/1/trials?sort=metric&where=a%3C1");
    assert.equal(printAddress(changed(address, {sort: "", where: undefined, state: "FAILED"})), "e/1/trials?state=FAILED");
});
