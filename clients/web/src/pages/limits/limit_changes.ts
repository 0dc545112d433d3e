// Texts of the fields of limits, as what PATCH takes, and a refusal as sentences at the fields.
import {integerOf, parseExact, printExact} from "../../api/exact";

export type Config = Readonly<Record<string, unknown>>;
export type Texts = Readonly<Record<string, string>>;
export type Changes = Record<string, Record<string, unknown>>;

export function at(config: Config, path: string): unknown {
    let value: unknown = config;
    for (const part of path.split(".")) value = (value as Config | null | undefined)?.[part];
    return value;
}

export function textOf(value: unknown): string {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return "";
    return typeof value === "string" ? value : printExact(value);
}

/// Nothing is null, which is the default; a number or a list is itself, anything else is the text, which the daemon checks.
export function valueOf(text: string): unknown {
    const trimmed = text.trim();
    if (trimmed === "") return null;
    if (/^-?\d+$/.test(trimmed)) return integerOf(trimmed);
    if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed)) return Number(trimmed);
    if (trimmed.startsWith("[")) {
        try {
            return parseExact<unknown>(trimmed);
        } catch {
            return trimmed;
        }
    }
    return trimmed;
}

/// The limits whose text has changed, by section.
export function changesOf(before: Texts, after: Texts): Changes {
    const changes: Changes = {};
    for (const [path, text] of Object.entries(after)) {
        if (text.trim() === (before[path] ?? "").trim()) continue;
        const [section, name] = path.split(".") as [string, string];
        changes[section] = {...changes[section], [name]: valueOf(text)};
    }
    return changes;
}

export function changedConfig(config: Config, changes: Changes): Config {
    const changed: Record<string, unknown> = {...config};
    for (const [section, fields] of Object.entries(changes)) changed[section] = {...(config[section] as Config | undefined), ...fields};
    return changed;
}

/// The problems of an answer, a line for each.
export const linesOf = (problems: readonly {path: string; what: string; allowed: string}[]): string =>
    problems.map(({path, what, allowed}) => `${path}: ${what}${allowed && ` (${allowed})`}`).join("\n");

export interface Refusal {
    /// By path of a field.
    readonly fields: Texts;
    readonly rest: string;
}

/// Each line of a refusal stands at the field that it begins with, or at the only one that it names.
export function refusalOf(message: string, paths: readonly string[]): Refusal {
    const fields: Record<string, string> = {};
    const rest: string[] = [];
    for (const line of message.split("\n")) {
        const named = paths.filter((path) => line.includes(path));
        const place = paths.find((path) => line.startsWith(`${path}:`) || line.startsWith(`${path}[`)) ?? (named.length === 1 ? named[0] : undefined);
        if (place === undefined) rest.push(line);
        else {
            const said = line.startsWith(`${place}: `) ? line.slice(place.length + 2) : line;
            fields[place] = fields[place] === undefined ? said : `${fields[place]}\n${said}`;
        }
    }
    return {fields, rest: rest.join("\n")};
}
