/** A pen for a canvas' context, whose transform is already in CSS pixels. */
import type {LineStyle, Pen, Shape, TextStyle} from "./pen";
import type {Raster} from "./raster";

export const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
export const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

export class CanvasPen implements Pen {
    constructor(
        private readonly context: CanvasRenderingContext2D,
        private readonly sans = SANS,
    ) {}

    line(points: ArrayLike<number>, style: LineStyle): void {
        const c = this.context;
        c.strokeStyle = style.stroke;
        c.lineWidth = style.width ?? 1;
        c.globalAlpha = style.alpha ?? 1;
        c.setLineDash(style.dash ? [...style.dash] : []);
        c.lineJoin = "round";
        c.beginPath();
        let broken = true;
        for (let i = 0; i + 1 < points.length; i += 2) {
            const x = points[i]!;
            const y = points[i + 1]!;
            if (x - x !== 0 || y - y !== 0) broken = true;
            else if (broken) {
                c.moveTo(x, y);
                broken = false;
            } else c.lineTo(x, y);
        }
        c.stroke();
        c.globalAlpha = 1;
        c.setLineDash([]);
    }

    area(points: ArrayLike<number>, fill: string, alpha = 1): void {
        const c = this.context;
        c.fillStyle = fill;
        c.globalAlpha = alpha;
        c.beginPath();
        for (let i = 0; i + 1 < points.length; i += 2) {
            if (i === 0) c.moveTo(points[i]!, points[i + 1]!);
            else c.lineTo(points[i]!, points[i + 1]!);
        }
        c.closePath();
        c.fill();
        c.globalAlpha = 1;
    }

    rect(x: number, y: number, width: number, height: number, fill: string, radius = 0, alpha = 1): void {
        const c = this.context;
        c.globalAlpha = alpha;
        c.fillStyle = fill;
        if (radius > 0) {
            c.beginPath();
            c.roundRect(x, y, width, height, Math.min(radius, width / 2, height / 2));
            c.fill();
        } else c.fillRect(x, y, width, height);
        c.globalAlpha = 1;
    }

    frame(x: number, y: number, width: number, height: number, style: LineStyle, radius = 0): void {
        const c = this.context;
        c.strokeStyle = style.stroke;
        c.lineWidth = style.width ?? 1;
        c.globalAlpha = style.alpha ?? 1;
        c.setLineDash(style.dash ? [...style.dash] : []);
        c.beginPath();
        c.roundRect(x, y, width, height, radius);
        c.stroke();
        c.globalAlpha = 1;
        c.setLineDash([]);
    }

    mark(shape: Shape, x: number, y: number, size: number, colour: string, surface?: string): void {
        const c = this.context;
        const r = size / 2;
        c.fillStyle = colour;
        c.strokeStyle = colour;
        c.lineWidth = Math.max(1.25, size * 0.14);
        c.beginPath();
        switch (shape) {
            case "circle":
                c.arc(x, y, r, 0, 2 * Math.PI);
                c.fill();
                break;
            case "ring":
                c.arc(x, y, Math.max(0.5, r - c.lineWidth / 2), 0, 2 * Math.PI);
                if (surface) {
                    c.fillStyle = surface;
                    c.fill();
                }
                c.stroke();
                break;
            case "half":
                c.arc(x, y, Math.max(0.5, r - c.lineWidth / 2), 0, 2 * Math.PI);
                c.stroke();
                c.beginPath();
                c.arc(x, y, r, Math.PI / 2, 1.5 * Math.PI);
                c.fill();
                break;
            case "cross":
                for (const sign of [1, -1]) {
                    c.moveTo(x - r * 0.8, y - sign * r * 0.8);
                    c.lineTo(x + r * 0.8, y + sign * r * 0.8);
                }
                c.stroke();
                break;
            case "hatch":
                c.lineWidth = 1;
                c.strokeRect(x - r + 0.5, y - r + 0.5, size - 1, size - 1);
                for (const cut of [0.5, 1, 1.5]) {
                    c.moveTo(x - r + Math.max(0, cut - 1) * size, y - r + Math.min(1, cut) * size);
                    c.lineTo(x - r + Math.min(1, cut) * size, y - r + Math.max(0, cut - 1) * size);
                }
                c.stroke();
                break;
            case "square":
                c.fillRect(x - r, y - r, size, size);
                break;
            case "bar":
                c.fillRect(x - r, y - size * 2, size, size * 4);
                break;
            case "triangle":
                c.moveTo(x, y - r);
                c.lineTo(x + r * 0.95, y + r * 0.75);
                c.lineTo(x - r * 0.95, y + r * 0.75);
                c.fill();
                break;
            case "diamond":
                c.moveTo(x, y - r * 1.2);
                c.lineTo(x + r * 1.2, y);
                c.lineTo(x, y + r * 1.2);
                c.lineTo(x - r * 1.2, y);
                c.fill();
                break;
            case "pause":
                c.fillRect(x - r * 0.7, y - r, r * 0.45, size);
                c.fillRect(x + r * 0.25, y - r, r * 0.45, size);
                break;
            case "restart":
                c.arc(x, y, r * 0.75, -0.2 * Math.PI, 1.4 * Math.PI);
                c.stroke();
                c.beginPath();
                c.moveTo(x + r * 0.1, y - r * 1.15);
                c.lineTo(x + r * 0.1, y - r * 0.25);
                c.lineTo(x - r * 0.55, y - r * 0.7);
                c.fill();
                break;
        }
    }

    text(text: string, x: number, y: number, style: TextStyle): void {
        const c = this.context;
        c.font = this.font(style.size ?? 12, style.weight ?? 400, style.mono ?? false);
        c.textAlign = style.align ?? "left";
        c.textBaseline = style.base ?? "alphabetic";
        c.save();
        c.translate(x, y);
        if (style.turn) c.rotate((style.turn * Math.PI) / 180);
        if (style.halo) {
            c.strokeStyle = style.halo;
            c.lineWidth = 3;
            c.lineJoin = "round";
            c.strokeText(text, 0, 0);
        }
        c.fillStyle = style.fill;
        c.fillText(text, 0, 0);
        c.restore();
    }

    textWidth(text: string, size: number, weight = 400): number {
        this.context.font = this.font(size, weight, false);
        return this.context.measureText(text).width;
    }

    image(raster: Raster, x: number, y: number, width: number, height: number): void {
        const scratch = document.createElement("canvas");
        scratch.width = raster.width;
        scratch.height = raster.height;
        const bytes = new Uint8ClampedArray(raster.pixels.buffer as ArrayBuffer, 0, raster.width * raster.height * 4);
        scratch.getContext("2d")!.putImageData(new ImageData(bytes, raster.width, raster.height), 0, 0);
        this.context.drawImage(scratch, x, y, width, height);
    }

    clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
        this.context.save();
        this.context.beginPath();
        this.context.rect(x, y, width, height);
        this.context.clip();
        draw();
        this.context.restore();
    }

    private font(size: number, weight: number, mono: boolean): string {
        return `${weight} ${size}px ${mono ? MONO : this.sans}`;
    }
}
