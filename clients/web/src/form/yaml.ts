// The part of YAML that experiment files are written in: maps and lists in blocks or brackets, plain and quoted texts, block
// texts, comments. Anchors, tags and several documents are refused; then only the text can be edited.

import {exactText, integerOf, parseExact, printExact} from "../api/exact";

/// Integers that a number would round are bigint.
export type Yaml = null | boolean | number | bigint | string | Yaml[] | {[key: string]: Yaml};

export class YamlProblem extends Error {
    constructor(
        readonly line: number,
        message: string,
    ) {
        super(message);
    }
}

interface Line {
    readonly number: number;
    readonly indent: number;
    readonly text: string;
}

export function scalar(text: string): Yaml {
    if (text === "" || text === "~" || text === "null" || text === "Null" || text === "NULL") return null;
    if (/^(true|True|TRUE)$/.test(text)) return true;
    if (/^(false|False|FALSE)$/.test(text)) return false;
    if (/^[-+]?(\d[\d_]*)$/.test(text)) return integerOf(text.replaceAll("_", "").replace(/^\+/, ""));
    if (/^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/.test(text)) return Number(text);
    if (/^0x[0-9a-fA-F]+$/.test(text)) return Number(text);
    return text;
}

/// Cuts a comment off, outside of quotes.
function withoutComment(text: string): string {
    let quote = "";
    for (let i = 0; i < text.length; i += 1) {
        const char = text[i]!;
        if (quote !== "") {
            if (char === "\\" && quote === '"') i += 1;
            else if (char === quote) quote = "";
        } else if ((char === '"' || char === "'") && (i === 0 || /[\s[{,:]/.test(text[i - 1]!))) quote = char;
        else if (char === "#" && (i === 0 || /\s/.test(text[i - 1]!))) return text.slice(0, i);
    }
    return text;
}

class Flow {
    private at = 0;

    constructor(
        private readonly text: string,
        private readonly line: number,
    ) {}

    whole(): Yaml {
        const value = this.value();
        this.space();
        if (this.at < this.text.length) this.fail();
        return value;
    }

    private fail(): never {
        throw new YamlProblem(this.line, this.text.slice(this.at, this.at + 20));
    }

    private space(): void {
        while (/\s/.test(this.text[this.at] ?? "")) this.at += 1;
    }

    private quoted(): string {
        const quote = this.text[this.at]!;
        const from = this.at;
        for (this.at += 1; this.at < this.text.length; this.at += 1) {
            const char = this.text[this.at]!;
            if (quote === '"' && char === "\\") this.at += 1;
            else if (char === quote) {
                if (quote === "'" && this.text[this.at + 1] === "'") this.at += 1;
                else {
                    this.at += 1;
                    const inside = this.text.slice(from + 1, this.at - 1);
                    if (quote === "'") return inside.replaceAll("''", "'");
                    try {
                        return JSON.parse(`"${inside}"`) as string;
                    } catch {
                        this.fail();
                    }
                }
            }
        }
        return this.fail();
    }

    private plain(ends: RegExp): string {
        const from = this.at;
        while (this.at < this.text.length && !ends.test(this.text[this.at]!)) {
            if (this.text[this.at] === ":" && /[\s,\]}]|^$/.test(this.text[this.at + 1] ?? "")) break;
            this.at += 1;
        }
        return this.text.slice(from, this.at).trim();
    }

    private value(): Yaml {
        this.space();
        const char = this.text[this.at] ?? "";
        if (char === "[") {
            const list: Yaml[] = [];
            this.at += 1;
            for (;;) {
                this.space();
                if (this.text[this.at] === "]") break;
                list.push(this.value());
                this.space();
                if (this.text[this.at] === ",") this.at += 1;
                else if (this.text[this.at] !== "]") this.fail();
            }
            this.at += 1;
            return list;
        }
        if (char === "{") {
            const map: {[key: string]: Yaml} = {};
            this.at += 1;
            for (;;) {
                this.space();
                if (this.text[this.at] === "}") break;
                const key = /["']/.test(this.text[this.at] ?? "") ? this.quoted() : this.plain(/[,\]}[{]/);
                this.space();
                if (this.text[this.at] !== ":") this.fail();
                this.at += 1;
                define(map, key, this.value());
                this.space();
                if (this.text[this.at] === ",") this.at += 1;
                else if (this.text[this.at] !== "}") this.fail();
            }
            this.at += 1;
            return map;
        }
        if (char === '"' || char === "'") return this.quoted();
        return scalar(this.plain(/[,\]}[{]/));
    }
}

/// Sets a key, also one like __proto__.
function define(map: {[key: string]: Yaml}, key: string, value: Yaml): void {
    Object.defineProperty(map, key, {value, enumerable: true, configurable: true, writable: true});
}

const keyPattern = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#&*!|>%@`"'[{][^#]*?)\s*:(?:\s+(.*))?$/;

function keyOf(text: string, line: number): [string, string] | undefined {
    const found = keyPattern.exec(text);
    if (!found) return undefined;
    const key = found[1]!;
    return [/^["']/.test(key) ? String(new Flow(key, line).whole()) : key, (found[2] ?? "").trim()];
}

class Blocks {
    private next = 0;
    private readonly lines: Line[];

    constructor(private readonly raw: readonly string[]) {
        this.lines = [];
        raw.forEach((text, index) => {
            if (text.includes("\t") && /^\s*\t/.test(text)) throw new YamlProblem(index + 1, "tab");
            const bare = withoutComment(text).trimEnd();
            if (bare.trim() === "" || bare === "---") return;
            this.lines.push({number: index + 1, indent: bare.length - bare.trimStart().length, text: bare.trim()});
        });
    }

    whole(): Yaml {
        if (this.lines.length === 0) return {};
        const value = this.block(this.lines[0]!.indent);
        const rest = this.lines[this.next];
        if (rest) throw new YamlProblem(rest.number, rest.text.slice(0, 20));
        return value;
    }

    private block(indent: number): Yaml {
        const first = this.lines[this.next]!;
        if (first.text === "-" || first.text.startsWith("- ")) return this.list(indent);
        if (keyOf(first.text, first.number)) return this.map(indent);
        this.next += 1;
        return this.inline(first.text, first);
    }

    private list(indent: number): Yaml[] {
        const list: Yaml[] = [];
        for (
            let line = this.lines[this.next];
            line && line.indent === indent && (line.text === "-" || line.text.startsWith("- "));
            line = this.lines[this.next]
        ) {
            const rest = line.text.slice(1).trim();
            if (rest === "") {
                this.next += 1;
                list.push(this.nested(indent));
            } else if (keyOf(rest, line.number) || rest.startsWith("- ")) {
                // "- name: x": a block that begins on the line of the dash.
                const inner = indent + (line.text.length - line.text.slice(1).trimStart().length);
                this.lines[this.next] = {number: line.number, indent: inner, text: rest};
                list.push(this.block(inner));
            } else {
                this.next += 1;
                list.push(this.inline(rest, line));
            }
        }
        return list;
    }

    private map(indent: number): Yaml {
        const map: {[key: string]: Yaml} = {};
        for (let line = this.lines[this.next]; line && line.indent === indent; line = this.lines[this.next]) {
            const found = keyOf(line.text, line.number);
            if (!found) throw new YamlProblem(line.number, line.text.slice(0, 20));
            const [key, rest] = found;
            if (Object.hasOwn(map, key)) throw new YamlProblem(line.number, key);
            this.next += 1;
            if (/^[|>][+-]?$/.test(rest)) define(map, key, this.text(line, rest));
            else if (rest === "") {
                const after = this.lines[this.next];
                const isList = after && after.indent === indent && (after.text === "-" || after.text.startsWith("- "));
                define(map, key, isList ? this.list(indent) : this.nested(indent));
            } else define(map, key, this.inline(rest, line));
        }
        return map;
    }

    private nested(indent: number): Yaml {
        const after = this.lines[this.next];
        return after && after.indent > indent ? this.block(after.indent) : null;
    }

    /// A value on one line, or in brackets over several.
    private inline(text: string, line: Line): Yaml {
        if (/^[&*!%@`]/.test(text)) throw new YamlProblem(line.number, text.slice(0, 20));
        if (!/^[[{"']/.test(text)) {
            let whole = text;
            for (
                let more = this.lines[this.next];
                more && more.indent > line.indent && !keyOf(more.text, more.number) && !more.text.startsWith("- ");
                more = this.lines[this.next]
            ) {
                whole += ` ${more.text}`;
                this.next += 1;
            }
            return scalar(whole);
        }
        let whole = text;
        for (;;) {
            try {
                return new Flow(whole, line.number).whole();
            } catch (cause) {
                const more = this.lines[this.next];
                if (!more || more.indent < line.indent || (more.indent === line.indent && keyOf(more.text, more.number))) throw cause;
                whole += ` ${more.text}`;
                this.next += 1;
            }
        }
    }

    /// A block of text behind | or >.
    private text(line: Line, style: string): string {
        const from = line.number;
        let to = from;
        while (to < this.raw.length && (this.raw[to]!.trim() === "" || this.raw[to]!.length - this.raw[to]!.trimStart().length > line.indent))
            to += 1;
        const body = this.raw.slice(from, to);
        while (this.lines[this.next] && this.lines[this.next]!.number <= to) this.next += 1;
        const margin = Math.min(...body.filter((each) => each.trim() !== "").map((each) => each.length - each.trimStart().length));
        const lines = body.map((each) => each.slice(Number.isFinite(margin) ? margin : 0));
        while (lines.at(-1)?.trim() === "") lines.pop();
        const joined = style[0] === "|" ? lines.join("\n") : lines.join("\n").replace(/([^\n])\n(?=[^\n])/g, "$1 ");
        return style.endsWith("-") ? joined : `${joined}\n`;
    }
}

export const parseYaml = (text: string): Yaml => new Blocks(text.split(/\r?\n/)).whole();

const isMap = (value: Yaml | undefined): value is {[key: string]: Yaml} => typeof value === "object" && value !== null && !Array.isArray(value);

function plainEnough(text: string): boolean {
    return (
        /^[A-Za-z_/.$][^\n:#,[\]{}"'`\\]*[^\s:#,[\]{}"'`\\]$|^[A-Za-z_]$/.test(text) &&
        typeof scalar(text) === "string" &&
        !/^(y|n|yes|no|on|off)$/i.test(text)
    );
}

export function printScalar(value: Yaml): string {
    if (typeof value === "string") return plainEnough(value) ? value : JSON.stringify(value);
    if (typeof value === "number" && !Number.isInteger(value) && !/[.]/.test(String(value)) && /e/.test(String(value)))
        return String(value).replace(/e/, ".0e");
    return typeof value === "number" || typeof value === "bigint" ? exactText(value) : JSON.stringify(value);
}

const flat = (value: Yaml): string =>
    Array.isArray(value)
        ? `[${value.map(flat).join(", ")}]`
        : isMap(value)
          ? `{${Object.entries(value)
                .map(([key, each]) => `${printScalar(key)}: ${flat(each)}`)
                .join(", ")}}`
          : printScalar(value);

const isFlat = (value: Yaml): boolean =>
    !isMap(value) || Object.values(value).every((each) => !isMap(each) && (!Array.isArray(each) || each.every((one) => !isMap(one))));

/// Blocks for maps, one line for what is short.
export function printYaml(value: Yaml, indent = ""): string {
    if (!isMap(value)) return `${indent}${flat(value)}\n`;
    return Object.entries(value)
        .map(([key, each]) => {
            const name = `${indent}${printScalar(key)}:`;
            if (typeof each === "string" && each.includes("\n")) {
                const lines = each
                    .replace(/\n$/, "")
                    .split("\n")
                    .map((line) => (line === "" ? "" : `${indent}  ${line}`))
                    .join("\n");
                return `${name} ${each.endsWith("\n") ? "|" : "|-"}\n${lines}\n`;
            }
            const short = flat(each);
            if (isMap(each) && Object.keys(each).length > 0 && (indent === "" || !isFlat(each) || short.length > 90))
                return `${name}\n${printYaml(each, `${indent}  `)}`;
            if (Array.isArray(each) && each.length > 0 && (short.length > 90 || each.some((one) => typeof one === "string" && one.includes("\n"))))
                return `${name}\n${each.map((one) => `${indent}  - ${flat(one)}\n`).join("")}`;
            return `${name} ${short}\n`;
        })
        .join("");
}

/// The text with one value changed. Other top-level keys stay as they are written, comments included.
export function setYaml(text: string, path: readonly string[], value: Yaml | undefined): string {
    const [top, ...rest] = path;
    if (top === undefined) return text;
    const whole = parseYaml(text);
    const map = isMap(whole) ? whole : {};
    let changed: Yaml | undefined = value;
    if (rest.length > 0) {
        const copy = isMap(map[top]) ? parseExact<{[key: string]: Yaml}>(printExact(map[top])) : {};
        let here = copy;
        for (const part of rest.slice(0, -1)) {
            if (!isMap(here[part])) define(here, part, {});
            here = here[part] as {[key: string]: Yaml};
        }
        if (value === undefined) delete here[rest.at(-1)!];
        else define(here, rest.at(-1)!, value);
        changed = Object.keys(copy).length === 0 ? undefined : copy;
    }
    const lines = text.split("\n");
    const isTop = (line: string) => /^[^\s#-]/.test(line) && keyOf(withoutComment(line).trim(), 0)?.[0];
    const from = lines.findIndex((line) => isTop(line) === top);
    const printed =
        changed === undefined
            ? []
            : printYaml({[top]: changed})
                  .replace(/\n$/, "")
                  .split("\n");
    if (from < 0) {
        const body = text.replace(/\s+$/, "");
        return printed.length === 0 ? text : `${body}${body === "" ? "" : "\n"}${printed.join("\n")}\n`;
    }
    let to = from + 1;
    while (to < lines.length && !isTop(lines[to]!)) to += 1;
    // Comments and empty lines before the next key belong to that key.
    while (to > from + 1 && /^\s*$|^#/.test(lines[to - 1]!)) to -= 1;
    lines.splice(from, to - from, ...printed);
    return lines.join("\n");
}
