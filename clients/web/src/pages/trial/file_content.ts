// The kind of a file, found by its bytes, and the part that a page shows. Nothing here is ever run or read as markup: a text stays text, and an
// image is one whose first bytes say so.
import {parseExact, printExact} from "../../api/exact";

/// Read of a file to find out what it is, and shown of a text or a table.
export const firstBytes = 256 * 1024;
/// Largest image and JSON that are read whole.
export const largestImage = 8 * 1024 * 1024;
export const largestJson = 1024 * 1024;
/// With the heading.
export const mostRows = 201;
export const mostColumns = 50;
const longestCell = 300;

export type Seen =
    | {readonly kind: "empty" | "binary"}
    | {readonly kind: "image"; readonly type: string}
    | {readonly kind: "json" | "text"; readonly text: string}
    | {readonly kind: "table"; readonly rows: readonly (readonly string[])[]; readonly isCut: boolean};

/// The images that browsers draw without running anything. An SVG is a text.
const images: readonly (readonly [type: string, at: number, first: readonly number[]])[] = [
    ["image/png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
    ["image/jpeg", 0, [0xff, 0xd8, 0xff]],
    ["image/gif", 0, [0x47, 0x49, 0x46, 0x38]],
    ["image/webp", 8, [0x57, 0x45, 0x42, 0x50]],
];

export function imageType(bytes: Uint8Array): string | undefined {
    return images.find(([, at, first]) => first.every((byte, index) => bytes[at + index] === byte))?.[0];
}

/// The text of bytes that may end within a letter; undefined if they are no text.
function decoded(bytes: Uint8Array): string | undefined {
    if (bytes.includes(0)) return undefined;
    try {
        return new TextDecoder("utf-8", {fatal: true}).decode(bytes, {stream: true});
    } catch {
        return undefined;
    }
}

/// Rows of comma or tab separated values, with quoted fields as RFC 4180 has them. `isWhole`: the text doesn't end within a row.
export function readTable(text: string, separator: string, isWhole: boolean): {rows: string[][]; isCut: boolean} {
    const rows: string[][] = [];
    let row: string[] = [];
    let cell = "";
    let quoted = false;
    const endCell = () => {
        if (row.length < mostColumns) row.push(cell.length > longestCell ? `${cell.slice(0, longestCell)}…` : cell);
        cell = "";
    };
    const endRow = () => {
        endCell();
        if (row.length > 1 || row[0] !== "") rows.push(row);
        row = [];
    };
    let at = 0;
    for (; at < text.length && rows.length < mostRows; at += 1) {
        const letter = text[at]!;
        if (quoted) {
            if (letter !== '"') cell += letter;
            else if (text[at + 1] === '"') {
                cell += '"';
                at += 1;
            } else quoted = false;
        } else if (letter === '"' && cell === "") quoted = true;
        else if (letter === separator) endCell();
        else if (letter === "\n") endRow();
        else if (letter !== "\r" || text[at + 1] !== "\n") cell += letter;
    }
    const isCut = at < text.length || !isWhole;
    if (!isCut && (cell !== "" || row.length > 0)) endRow();
    return {rows, isCut};
}

const ending = (name: string): string => /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
export const isJson = (name: string): boolean => ["json", "ipynb"].includes(ending(name));

/// JSON in lines, or undefined if it is none: then its text is shown.
function pretty(text: string): string | undefined {
    try {
        return printExact(parseExact(text), 2);
    } catch {
        return undefined;
    }
}

/// `size`: of the whole file, whose beginning `bytes` is.
export function seen(name: string, bytes: Uint8Array, size: number): Seen {
    if (size === 0) return {kind: "empty"};
    const type = imageType(bytes);
    if (type) return {kind: "image", type};
    const text = decoded(bytes);
    if (text === undefined) return {kind: "binary"};
    const isWhole = bytes.length >= size;
    const json = isJson(name) && isWhole ? pretty(text) : undefined;
    if (json !== undefined) return {kind: "json", text: json};
    const separator = {csv: ",", tsv: "\t"}[ending(name)];
    if (separator) {
        const {rows, isCut} = readTable(text, separator, isWhole);
        if (rows.length > 0) return {kind: "table", rows, isCut};
    }
    return {kind: "text", text: text.replaceAll("\r\n", "\n")};
}
