/** Legends with the very marks that plots draw. */
import {useEffect, useRef} from "preact/hooks";
import {CanvasPen} from "./canvas_pen";
import type {Shape} from "./pen";

export interface LegendEntry {
    readonly shape: Shape;
    readonly colour: string;
    readonly text: string;
}

function Key({shape, colour}: {shape: Shape; colour: string}) {
    const canvas = useRef<HTMLCanvasElement>(null);
    useEffect(() => {
        const ratio = Math.min(3, devicePixelRatio || 1);
        const element = canvas.current!;
        element.width = element.height = 14 * ratio;
        const context = element.getContext("2d");
        if (!context) return;
        context.scale(ratio, ratio);
        new CanvasPen(context).mark(shape, 7, 7, shape === "bar" ? 3 : 10, colour);
    }, [shape, colour]);
    return <canvas ref={canvas} class="plot-key" aria-hidden="true" />;
}

export function Legend({entries}: {entries: readonly LegendEntry[]}) {
    return (
        <ul class="plot-legend">
            {entries.map((entry) => (
                <li key={entry.text}>
                    <Key shape={entry.shape} colour={entry.colour} />
                    {entry.text}
                </li>
            ))}
        </ul>
    );
}
