// Conditions on trials, in the grammar of `hpsearch trials --where`: lr<0.01 and not optimizer=sgd.

export type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=";
export type Condition =
    | {readonly kind: "compare"; readonly name: string; readonly by: Comparison; readonly value: string}
    | {readonly kind: "in"; readonly name: string; readonly values: readonly string[]}
    | {readonly kind: "not"; readonly of: Condition}
    | {readonly kind: "and" | "or"; readonly left: Condition; readonly right: Condition};

export class WhereProblem extends Error {
    constructor(
        readonly at: number,
        readonly found: string,
    ) {
        super(found);
    }
}

const mostDepth = 32;
const mostTerms = 256;

interface Token {
    readonly text: string;
    readonly at: number;
    readonly quoted: boolean;
}

function tokens(text: string): Token[] {
    const list: Token[] = [];
    const pattern = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(<=|>=|!=|==|[=<>(),])|([^\s=<>!(),"']+))/gy;
    while (pattern.lastIndex < text.length) {
        const from = pattern.lastIndex;
        const found = pattern.exec(text);
        if (!found) {
            if (text.slice(from).trim() === "") break;
            throw new WhereProblem(from, text.slice(from, from + 10));
        }
        const at = pattern.lastIndex - (found[1] ?? found[2] ?? found[3])!.length;
        if (found[1] !== undefined) list.push({text: found[1].slice(1, -1).replace(/\\(.)/g, "$1"), at, quoted: true});
        else list.push({text: found[2] === "==" ? "=" : (found[2] ?? found[3])!, at, quoted: false});
    }
    return list;
}

/// Reads a condition; "" is none. Throws a WhereProblem with the place where it stops making sense.
export function parseWhere(text: string): Condition | undefined {
    const list = tokens(text);
    if (list.length === 0) return undefined;
    let at = 0;
    let terms = 0;
    const end = {text: "", at: text.length, quoted: false};
    const here = () => list[at] ?? end;
    const isWord = (word: string) => !here().quoted && here().text.toLowerCase() === word;
    const fail = (): never => {
        throw new WhereProblem(here().at, here().text);
    };
    const take = (): string => {
        const token = here();
        if (token === end || (!token.quoted && /^[=<>!(),]/.test(token.text))) fail();
        at += 1;
        return token.text;
    };
    const expect = (mark: string) => {
        if (here().quoted || here().text !== mark) fail();
        at += 1;
    };
    const or = (depth: number): Condition => {
        let left = and(depth);
        while (isWord("or")) {
            at += 1;
            left = {kind: "or", left, right: and(depth)};
        }
        return left;
    };
    const and = (depth: number): Condition => {
        let left = not(depth);
        while (isWord("and")) {
            at += 1;
            left = {kind: "and", left, right: not(depth)};
        }
        return left;
    };
    const not = (depth: number): Condition => {
        if (depth > mostDepth) fail();
        if (isWord("not")) {
            at += 1;
            return {kind: "not", of: not(depth + 1)};
        }
        if (!here().quoted && here().text === "(") {
            at += 1;
            const inside = or(depth + 1);
            expect(")");
            return inside;
        }
        terms += 1;
        if (terms > mostTerms) fail();
        const name = take();
        if (isWord("in")) {
            at += 1;
            expect("(");
            const values = [take()];
            while (here().text === ",") {
                at += 1;
                values.push(take());
            }
            expect(")");
            return {kind: "in", name, values};
        }
        const by = here();
        if (by.quoted || !["=", "!=", "<", "<=", ">", ">="].includes(by.text)) fail();
        at += 1;
        return {kind: "compare", name, by: by.text as Comparison, value: take()};
    };
    const whole = or(0);
    if (at < list.length) fail();
    return whole;
}

const spellValue = (value: string): string =>
    /^[^\s=<>!(),"'\\]+$/.test(value) && !/^(and|or|not|in)$/i.test(value) ? value : JSON.stringify(value);

/// The condition as text; parseWhere reads it back.
export function printWhere(condition: Condition): string {
    switch (condition.kind) {
        case "compare":
            return `${spellValue(condition.name)}${condition.by}${spellValue(condition.value)}`;
        case "in":
            return `${spellValue(condition.name)} in (${condition.values.map(spellValue).join(",")})`;
        case "not":
            return `not ${inner(condition.of, true)}`;
        case "and":
            return `${inner(condition.left)} and ${inner(condition.right, true)}`;
        case "or":
            return `${printWhere(condition.left)} or ${inner(condition.right, true)}`;
    }
}

const inner = (condition: Condition, right = false): string =>
    condition.kind === "or" || (right && condition.kind === "and") ? `(${printWhere(condition)})` : printWhere(condition);

/// The terms of a plain conjunction, each of which can be a chip; undefined for another condition.
export function chipsOf(condition: Condition | undefined): Condition[] | undefined {
    if (!condition) return [];
    if (condition.kind === "and") {
        const left = chipsOf(condition.left);
        const right = chipsOf(condition.right);
        return left && right ? [...left, ...right] : undefined;
    }
    return condition.kind === "or" ? undefined : [condition];
}

export const joinChips = (chips: readonly Condition[]): string => chips.map((chip) => inner(chip)).join(" and ");
