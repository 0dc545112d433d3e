/**
 * What figures draw with. A figure is drawn the same on a canvas and into SVG, so that an export shows what the page
 * shows. Units: CSS pixels.
 */
import type {Raster} from "./raster";

export type Shape = "circle" | "ring" | "cross" | "square" | "triangle" | "diamond" | "bar" | "pause" | "restart" | "half" | "hatch";

export interface TextStyle {
    readonly fill: string;
    readonly size?: number;
    readonly weight?: number;
    readonly align?: "left" | "center" | "right";
    readonly base?: "top" | "middle" | "bottom" | "alphabetic";
    /** Degrees, clockwise. */
    readonly turn?: number;
    /** A rim in this colour keeps text readable above lines. */
    readonly halo?: string;
    readonly mono?: boolean;
}

export interface LineStyle {
    readonly stroke: string;
    readonly width?: number;
    readonly alpha?: number;
    readonly dash?: readonly number[];
}

export interface Pen {
    /** Pairs x, y; NaN breaks the line. */
    line(points: ArrayLike<number>, style: LineStyle): void;
    /** A closed outline of pairs x, y. */
    area(points: ArrayLike<number>, fill: string, alpha?: number): void;
    rect(x: number, y: number, width: number, height: number, fill: string, radius?: number, alpha?: number): void;
    frame(x: number, y: number, width: number, height: number, style: LineStyle, radius?: number): void;
    /** `size`: width of the mark. Rings, crosses and half circles are lines in `colour`. */
    mark(shape: Shape, x: number, y: number, size: number, colour: string, surface?: string): void;
    text(text: string, x: number, y: number, style: TextStyle): void;
    textWidth(text: string, size: number, weight?: number): number;
    /** Stretched over the box. */
    image(raster: Raster, x: number, y: number, width: number, height: number): void;
    clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
}

/** Slanted lines inside a box, on one raster over the whole plot. */
export function hatch(pen: Pen, x: number, y: number, width: number, height: number, style: LineStyle, gap = 6): void {
    const points: number[] = [];
    for (let sum = Math.ceil((x + y) / gap) * gap; sum < x + width + y + height; sum += gap) {
        const left = Math.max(x, sum - y - height);
        const right = Math.min(x + width, sum - y);
        if (right > left) points.push(left, sum - left, right, sum - right, NaN, NaN);
    }
    if (points.length > 0) pen.line(points, style);
}

/** Cuts the beginning of a text until it fits. */
export function fitEnd(pen: Pick<Pen, "textWidth">, text: string, width: number, size: number): string {
    const letters = [...text];
    let cut = 0;
    while (cut < letters.length && pen.textWidth((cut > 0 ? "…" : "") + letters.slice(cut).join(""), size) > width) ++cut;
    return (cut > 0 && cut < letters.length ? "…" : "") + letters.slice(cut).join("");
}

/** Cuts a text in the middle until it fits. */
export function fitText(pen: Pen, text: string, width: number, size: number): string {
    if (pen.textWidth(text, size) <= width) return text;
    const letters = [...text];
    let low = 0;
    let high = letters.length;
    const cut = (count: number) => {
        const head = Math.ceil(count * 0.6);
        return `${letters.slice(0, head).join("")}…${count > head ? letters.slice(letters.length - (count - head)).join("") : ""}`;
    };
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (pen.textWidth(cut(middle), size) <= width) low = middle;
        else high = middle - 1;
    }
    return low > 0 ? cut(low) : "";
}
