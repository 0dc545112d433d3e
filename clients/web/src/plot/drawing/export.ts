/** Files of a plot: what it shows as PNG, SVG or CSV. */
import {CanvasPen} from "./canvas_pen";
import {csvText, type Figure, type Look} from "./figure";
import {SvgPen} from "./svg_pen";

function save(blob: Blob, name: string): void {
    const url = URL.createObjectURL(blob);
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function svgText(figure: Figure, look: Look): string {
    const pen = new SvgPen();
    figure.draw(pen);
    return pen.document(figure.width, figure.height, look.theme.surface, figure.sentence);
}

export function exportSvg(figure: Figure, look: Look, name: string): void {
    save(new Blob([svgText(figure, look)], {type: "image/svg+xml"}), `${name}.svg`);
}

/** Twice the size on the page, for print. */
export function exportPng(figure: Figure, look: Look, name: string): void {
    const canvas = document.createElement("canvas");
    canvas.width = figure.width * 2;
    canvas.height = figure.height * 2;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(2, 2);
    context.fillStyle = look.theme.surface;
    context.fillRect(0, 0, figure.width, figure.height);
    figure.draw(new CanvasPen(context));
    canvas.toBlob((blob) => {
        if (blob) save(blob, `${name}.png`);
    }, "image/png");
}

export function exportCsv(figure: Figure, name: string): void {
    save(new Blob([csvText(figure.csv?.() ?? figure.table())], {type: "text/csv;charset=utf-8"}), `${name}.csv`);
}
