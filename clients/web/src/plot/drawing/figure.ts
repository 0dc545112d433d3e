/** What a plot is: one drawing with its words, its table, and where its marks are. Pure. */
import {exactText} from "../../api/exact";
import {metricText} from "./number";
import type {Pen} from "./pen";
import type {Theme} from "./theme";

export interface Size {
    readonly width: number;
    readonly height: number;
}

/** The text of a key with {name} replaced. */
export type Say = (key: string, values?: Readonly<Record<string, string | number>>) => string;

/** Everything that a figure's looks depend on besides its data. */
export interface Look {
    readonly theme: Theme;
    readonly say: Say;
}

/** A mark that a pointer or a key has reached. */
export interface Hit {
    /** The trial, or -1 for a mark that stands for none. */
    readonly trial: number;
    readonly x: number;
    readonly y: number;
    readonly title: string;
    readonly lines: readonly (readonly [string, string])[];
    /** The mark's own index, for figures that look it up. */
    readonly index?: number;
}

/** Numbers are shown rounded and copied exactly; null is nothing. */
export type Cell = string | number | bigint | null;

export interface Table {
    readonly columns: readonly string[];
    readonly rows: readonly (readonly Cell[])[];
}

/** What is stressed in front of the drawing. */
export interface Stress {
    readonly hovered: number | null;
    readonly selected: ReadonlySet<number>;
    readonly hit: Hit | null;
}

export interface Figure extends Size {
    /** One sentence that says what the drawing shows. */
    readonly sentence: string;
    /** About how many marks there are: up to 5,000 go into SVG. */
    readonly marks: number;
    draw(pen: Pen): void;
    drawStress?(pen: Pen, stress: Stress): void;
    hitAt?(x: number, y: number): Hit | null;
    /** The mark beside `from` in the direction of an arrow key, Home or End. */
    moveBy?(from: Hit | null, key: string): Hit | null;
    table(): Table;
    /** What the file of the plot has, where it is more than the table. */
    csv?(): Table;
    /** The value of the x axis at a pixel, for zooms. */
    valueAtX?(x: number): number;
}

export const MOST_SVG_MARKS = 5000;

/** Moves along a list of marks in reading order. */
export function stepAlong(count: number, from: Hit | null, key: string, at: (index: number) => Hit | null): Hit | null {
    if (count === 0) return null;
    const now = from?.index ?? -1;
    const step = key === "ArrowRight" || key === "ArrowUp" ? 1 : key === "ArrowLeft" || key === "ArrowDown" ? -1 : 0;
    if (key === "Home") return at(0);
    if (key === "End") return at(count - 1);
    if (step === 0) return null;
    return at(now < 0 ? (step > 0 ? 0 : count - 1) : Math.min(count - 1, Math.max(0, now + step)));
}

/** RFC 4180, numbers with all their digits. A text that a spreadsheet would run as a formula gets a quote before it. */
export function csvText(table: Table): string {
    const cell = (value: Cell) => {
        if (value === null) return "";
        if (typeof value !== "string")
            return typeof value === "number" && !Number.isFinite(value) ? metricText(value).toLowerCase() : exactText(value);
        const text = /^[=+\-@\t\r]/.test(value) && !/^-?[\d.]+(e[+-]?\d+)?$/i.test(value) ? `'${value}` : value;
        return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
    };
    return `${[table.columns, ...table.rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}
