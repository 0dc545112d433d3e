/** A pen that writes SVG. Pure: runs without a page, so tests read what figures draw. */
import {SANS, MONO} from "./canvas_pen";
import type {LineStyle, Pen, Shape, TextStyle} from "./pen";

const n = (value: number) => String(Number(value.toFixed(2)));
const escaped = (text: string) =>
    text
        .replace(/&/g, "&amp;")
        .replace(/</g, "&lt;")
        .replace(/>/g, "&gt;")
        .replace(/"/g, "&quot;")
        // Control characters may not stand in XML at all.
        .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

export class SvgPen implements Pen {
    /** How many elements were drawn. */
    marks = 0;
    private readonly parts: string[] = [];
    private clips = 0;

    line(points: ArrayLike<number>, style: LineStyle): void {
        let path = "";
        let broken = true;
        for (let i = 0; i + 1 < points.length; i += 2) {
            const x = points[i]!;
            const y = points[i + 1]!;
            if (x - x !== 0 || y - y !== 0) {
                broken = true;
                continue;
            }
            path += `${broken ? "M" : "L"}${n(x)} ${n(y)}`;
            broken = false;
        }
        if (path) this.add(`<path d="${path}" fill="none"${stroke(style)} stroke-linejoin="round"/>`);
    }

    area(points: ArrayLike<number>, fill: string, alpha = 1): void {
        let path = "";
        for (let i = 0; i + 1 < points.length; i += 2) path += `${i === 0 ? "M" : "L"}${n(points[i]!)} ${n(points[i + 1]!)}`;
        this.add(`<path d="${path}Z" fill="${fill}"${opacity(alpha)}/>`);
    }

    rect(x: number, y: number, width: number, height: number, fill: string, radius = 0, alpha = 1): void {
        this.add(
            `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}"${radius ? ` rx="${n(radius)}"` : ""} fill="${fill}"${opacity(alpha)}/>`,
        );
    }

    frame(x: number, y: number, width: number, height: number, style: LineStyle, radius = 0): void {
        this.add(`<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" rx="${n(radius)}" fill="none"${stroke(style)}/>`);
    }

    mark(shape: Shape, x: number, y: number, size: number, colour: string, surface?: string): void {
        const r = size / 2;
        const width = Math.max(1.25, size * 0.14);
        const path = (d: string, filled: boolean) =>
            this.add(filled ? `<path d="${d}" fill="${colour}"/>` : `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${n(width)}"/>`);
        const ring = (fill: string) =>
            this.add(
                `<circle cx="${n(x)}" cy="${n(y)}" r="${n(Math.max(0.5, r - width / 2))}" fill="${fill}" stroke="${colour}" stroke-width="${n(width)}"/>`,
            );
        switch (shape) {
            case "circle":
                this.add(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}" fill="${colour}"/>`);
                break;
            case "ring":
                ring(surface ?? "none");
                break;
            case "half":
                ring("none");
                path(`M${n(x)} ${n(y - r)}A${n(r)} ${n(r)} 0 0 0 ${n(x)} ${n(y + r)}Z`, true);
                break;
            case "cross":
                path([1, -1].map((s) => `M${n(x - r * 0.8)} ${n(y - s * r * 0.8)}L${n(x + r * 0.8)} ${n(y + s * r * 0.8)}`).join(""), false);
                break;
            case "hatch":
                this.frame(x - r, y - r, size, size, {stroke: colour});
                break;
            case "square":
                this.rect(x - r, y - r, size, size, colour);
                break;
            case "bar":
                this.rect(x - r, y - size * 2, size, size * 4, colour);
                break;
            case "triangle":
                path(`M${n(x)} ${n(y - r)}L${n(x + r * 0.95)} ${n(y + r * 0.75)}L${n(x - r * 0.95)} ${n(y + r * 0.75)}Z`, true);
                break;
            case "diamond":
                path(`M${n(x)} ${n(y - r * 1.2)}L${n(x + r * 1.2)} ${n(y)}L${n(x)} ${n(y + r * 1.2)}L${n(x - r * 1.2)} ${n(y)}Z`, true);
                break;
            case "pause":
                this.rect(x - r * 0.7, y - r, r * 0.45, size, colour);
                this.rect(x + r * 0.25, y - r, r * 0.45, size, colour);
                break;
            case "restart":
                ring("none");
                break;
        }
    }

    text(text: string, x: number, y: number, style: TextStyle): void {
        const anchor = style.align === "center" ? "middle" : style.align === "right" ? "end" : "start";
        const size = style.size ?? 12;
        const shift = style.base === "top" ? size * 0.8 : style.base === "middle" ? size * 0.35 : style.base === "bottom" ? -size * 0.2 : 0;
        const turn = style.turn ? ` transform="rotate(${style.turn} ${n(x)} ${n(y)})"` : "";
        const halo = style.halo ? ` stroke="${style.halo}" stroke-width="3" paint-order="stroke" stroke-linejoin="round"` : "";
        this.add(
            `<text x="${n(x)}" y="${n(y + shift)}" fill="${style.fill}" font-size="${size}"${style.weight ? ` font-weight="${style.weight}"` : ""}${style.mono ? ` font-family="${escaped(MONO)}"` : ""} text-anchor="${anchor}"${turn}${halo}>${escaped(text)}</text>`,
        );
    }

    /** Without a page nobody measures text; 0.56 em is the mean of Latin letters in sans fonts. */
    textWidth(text: string, size: number): number {
        return [...text].length * size * 0.56;
    }

    /** Pixels have no place among lines; figures that need them are exported as PNG. */
    image(): void {}

    clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
        const id = `clip${++this.clips}`;
        this.parts.push(
            `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}"/></clipPath><g clip-path="url(#${id})">`,
        );
        draw();
        this.parts.push("</g>");
    }

    document(width: number, height: number, background: string, title: string): string {
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" font-family="${escaped(SANS)}" role="img"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="${background}"/>${this.parts.join("\n")}</svg>\n`;
    }

    private add(part: string): void {
        ++this.marks;
        this.parts.push(part);
    }
}

function stroke(style: LineStyle): string {
    return ` stroke="${style.stroke}" stroke-width="${n(style.width ?? 1)}"${opacity(style.alpha ?? 1)}${style.dash ? ` stroke-dasharray="${style.dash.join(" ")}"` : ""}`;
}

function opacity(alpha: number): string {
    return alpha < 1 ? ` opacity="${n(alpha)}"` : "";
}
