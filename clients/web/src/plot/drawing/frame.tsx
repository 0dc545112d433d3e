/**
 * The frame of a plot: two canvases in device pixels (the drawing, and what is stressed in front of it), the pointer,
 * the keys, the tip, the sentence, the table twin, the exports. Redraws when data, size, theme or language change.
 */
import type {ComponentChildren} from "preact";
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {effect} from "@preact/signals";
import {t, type TextKey} from "../../i18n/texts";
import {language, shownTheme} from "../../state/settings";
import {choose, selectionOf} from "../../state/selection";
import {go} from "../../state/router";
import {CanvasPen} from "./canvas_pen";
import {exportCsv, exportPng, exportSvg} from "./export";
import {MOST_SVG_MARKS, type Figure, type Hit, type Look, type Size, type Table} from "./figure";
import {valueText} from "./number";
import {readTheme} from "./theme";

export const say = (key: string, values: Readonly<Record<string, string | number>> = {}) => t(key as TextKey, values);

export function useLook(): Look {
    const dark = shownTheme.value === "dark";
    const spoken = language.value;
    return useMemo(() => {
        const style = getComputedStyle(document.documentElement);
        return {theme: readTheme(dark, (name) => style.getPropertyValue(name)), say};
    }, [dark, spoken]);
}

export interface PointerUse {
    /** Whether the press is taken: the frame then neither selects nor shows tips until it is released. */
    down(x: number, y: number, event: PointerEvent): boolean;
    move(x: number, y: number): void;
    up(x: number, y: number): void;
    wheel?(x: number, y: number, event: WheelEvent): void;
    /** Text of the cursor over a place, "" for the usual one. */
    cursor?(x: number, y: number): string;
    /** Whether a key is taken. */
    key?(event: KeyboardEvent): boolean;
    double?(x: number, y: number): boolean;
}

export interface PlotProps {
    readonly name: string;
    readonly label: string;
    readonly experiment?: number;
    readonly height: number | ((width: number) => number);
    /** Narrower than this, the plot scrolls sideways. */
    readonly minWidth?: number;
    readonly make: (size: Size, look: Look) => Figure;
    /** What `make` depends on besides size and look. */
    readonly deps: readonly unknown[];
    readonly controls?: ComponentChildren;
    readonly quiet?: boolean;
    /** Gets the figure that is shown, for brushes and zooms over it. */
    readonly pointer?: (figure: Figure) => PointerUse;
    readonly onHit?: (hit: Hit | null) => void;
    readonly onSelect?: (hit: Hit) => void;
}

/**
 * Measures the holder. On its own: what the observer keeps for as long as the plot is there would otherwise be all that the
 * first drawing had at hand, its controls among it, and through these every later drawing.
 */
function useWidth(holder: {readonly current: HTMLDivElement | null}, least: number, asTable: boolean, setWidth: (width: number) => void): void {
    useEffect(() => {
        const element = holder.current;
        if (!element) return;
        const measure = () => {
            // An element that has just left the page has no width.
            if (element.clientWidth > 0) setWidth(Math.floor(Math.max(least, element.clientWidth)));
        };
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        measure();
        return () => observer.disconnect();
    }, [least, asTable]);
}

export function Plot(props: PlotProps) {
    const look = useLook();
    const holder = useRef<HTMLDivElement>(null);
    const base = useRef<HTMLCanvasElement>(null);
    const over = useRef<HTMLCanvasElement>(null);
    const tip = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(0);
    const [asTable, setAsTable] = useState(false);
    const selection = selectionOf(props.experiment ?? 0);

    useWidth(holder, props.minWidth ?? 0, asTable, setWidth);

    const height = typeof props.height === "number" ? props.height : props.height(width);
    const figure = useMemo(() => (width > 0 ? props.make({width, height}, look) : null), [width, height, look, ...props.deps]);

    useEffect(() => {
        if (!figure || !base.current) return;
        const pen = clear(base.current, figure);
        if (pen) figure.draw(pen);
        base.current.dataset["drawn"] = props.name;
    }, [figure, asTable]);

    const state = useRef<{hit: Hit | null; busy: boolean; frame: number; at: readonly [number, number] | null}>({
        hit: null,
        busy: false,
        frame: 0,
        at: null,
    });
    const live = useRef<{figure: Figure | null; use: PointerUse | undefined}>({figure: null, use: undefined});
    live.current = {figure, use: figure ? props.pointer?.(figure) : undefined};

    const drawOver = () => {
        const {figure: shown} = live.current;
        if (!shown || !over.current) return;
        const pen = clear(over.current, shown);
        if (pen) shown.drawStress?.(pen, {hovered: selection.hovered.peek(), selected: selection.selected.peek(), hit: state.current.hit});
    };

    useEffect(
        () =>
            effect(() => {
                selection.hovered.value;
                selection.selected.value;
                cancelAnimationFrame(state.current.frame);
                state.current.frame = requestAnimationFrame(drawOver);
            }),
        [figure, asTable],
    );

    const show = (hit: Hit | null) => {
        state.current.hit = hit;
        const trial = hit && hit.trial >= 0 ? hit.trial : null;
        if (selection.hovered.peek() !== trial) selection.hovered.value = trial;
        else requestAnimationFrame(drawOver);
        if (tip.current) fillTip(tip.current, hit, width);
        props.onHit?.(hit);
    };
    // New data under a pointer that rests: the mark there may be another now. A mark that a key reached stays.
    useEffect(() => {
        const at = state.current.at;
        if (!state.current.busy) show(at ? (figure?.hitAt?.(at[0], at[1]) ?? null) : state.current.hit);
    }, [figure]);

    const place = (event: MouseEvent): [number, number] => {
        const box = over.current!.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    };
    const pick = (hit: Hit, add: boolean) => {
        if (props.onSelect) props.onSelect(hit);
        else if (hit.trial >= 0) choose(selection, hit.trial, add);
    };
    const open = (hit: Hit) => {
        if (hit.trial >= 0 && props.experiment !== undefined) go(`e/${props.experiment}/t/${hit.trial}`);
    };

    const onKey = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const now = state.current.hit;
        if (live.current.use?.key?.(event)) event.preventDefault();
        else if (event.key === "Enter" && now) open(now);
        else if ((event.key === " " || event.key === "x") && now) {
            pick(now, event.shiftKey || event.key === "x");
            event.preventDefault();
        } else if (event.key === "Escape") show(null);
        else if (/^(Arrow|Home|End|Page)/.test(event.key)) {
            const next = figure?.moveBy?.(now, event.key);
            if (next) show(next);
            if (next || figure?.moveBy) event.preventDefault();
        } else return;
        event.stopPropagation();
    };

    return (
        <figure class={`plot${props.quiet ? " plot-quiet" : ""}`} data-plot={props.name}>
            <div class="plot-bar">
                <div class="plot-controls">{props.controls}</div>
                {!props.quiet && figure && (
                    <div class="plot-tools" role="group" aria-label={say("plot.tools")}>
                        <button type="button" class="plot-tool" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
                            {say("plot.table")}
                        </button>
                        <button type="button" class="plot-tool" onClick={() => exportPng(figure, look, props.name)}>
                            PNG
                        </button>
                        {figure.marks <= MOST_SVG_MARKS && (
                            <button type="button" class="plot-tool" onClick={() => exportSvg(figure, look, props.name)}>
                                SVG
                            </button>
                        )}
                        <button type="button" class="plot-tool" onClick={() => exportCsv(figure, props.name)}>
                            CSV
                        </button>
                    </div>
                )}
            </div>
            {asTable && figure ? (
                <TableTwin table={figure.table()} label={props.label} />
            ) : (
                <div class="plot-scroll" ref={holder}>
                    <div
                        class="plot-area"
                        tabIndex={0}
                        role="application"
                        aria-label={`${props.label}. ${say("plot.keys")}`}
                        style={{width: `${width}px`, height: `${height}px`}}
                        onKeyDown={onKey}
                        onBlur={() => show(null)}
                    >
                        <canvas ref={base} class="plot-canvas" aria-hidden="true" />
                        <canvas
                            ref={over}
                            class="plot-canvas plot-over"
                            aria-hidden="true"
                            onPointerDown={(event) => {
                                const [x, y] = place(event);
                                state.current.busy = live.current.use?.down(x, y, event) ?? false;
                                if (state.current.busy) {
                                    over.current!.setPointerCapture(event.pointerId);
                                    show(null);
                                }
                            }}
                            onPointerMove={(event) => {
                                const [x, y] = place(event);
                                state.current.at = [x, y];
                                if (state.current.busy) live.current.use!.move(x, y);
                                else {
                                    const hit = figure?.hitAt?.(x, y) ?? null;
                                    show(hit);
                                    over.current!.style.cursor = live.current.use?.cursor?.(x, y) || (hit ? "pointer" : "");
                                }
                            }}
                            onPointerUp={(event) => {
                                const [x, y] = place(event);
                                if (state.current.busy) live.current.use!.up(x, y);
                                else {
                                    const hit = figure?.hitAt?.(x, y) ?? null;
                                    show(hit);
                                    if (hit) pick(hit, event.shiftKey);
                                }
                                state.current.busy = false;
                            }}
                            onPointerLeave={() => {
                                state.current.at = null;
                                if (!state.current.busy) show(null);
                            }}
                            onWheel={(event) => live.current.use?.wheel?.(...place(event), event)}
                            onDblClick={(event) => {
                                const [x, y] = place(event);
                                if (live.current.use?.double?.(x, y)) return;
                                const hit = figure?.hitAt?.(x, y);
                                if (hit) open(hit);
                            }}
                        />
                        <div ref={tip} class="plot-tip" hidden />
                    </div>
                </div>
            )}
            {figure && <Sentence text={figure.sentence} hidden={props.quiet ?? false} />}
        </figure>
    );
}

/** The sentence under a plot. Screen readers get changes at most every ten seconds. */
function Sentence({text, hidden}: {text: string; hidden: boolean}) {
    const [spoken, setSpoken] = useState(text);
    useEffect(() => {
        if (text === spoken) return;
        const timer = setTimeout(() => setSpoken(text), 10000);
        return () => clearTimeout(timer);
    }, [text, spoken]);
    return (
        <figcaption class={hidden ? "unseen" : "plot-sentence"}>
            <span aria-hidden="true">{text}</span>
            <span class="unseen" aria-live="polite">
                {spoken}
            </span>
        </figcaption>
    );
}

const MOST_TABLE_ROWS = 1000;

function TableTwin({table, label}: {table: Table; label: string}) {
    return (
        <div class="plot-twin" tabIndex={0} role="region" aria-label={label}>
            <table>
                <thead>
                    <tr>
                        {table.columns.map((name) => (
                            <th scope="col" key={name}>
                                {name}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {table.rows.slice(0, MOST_TABLE_ROWS).map((row, index) => (
                        <tr key={index}>
                            {row.map((cell, column) => (
                                <td key={column} class={typeof cell === "string" ? "" : "number"}>
                                    {valueText(cell)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
            {table.rows.length > MOST_TABLE_ROWS && (
                <p class="muted small">{say("plot.table_more", {shown: MOST_TABLE_ROWS, total: table.rows.length})}</p>
            )}
        </div>
    );
}

/** A pen on an empty canvas that has as many pixels as the screen shows. */
function clear(canvas: HTMLCanvasElement, {width, height}: Size): CanvasPen | null {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const across = Math.max(1, Math.round(width * ratio));
    const down = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== across || canvas.height !== down) {
        canvas.width = across;
        canvas.height = down;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    if (!context) return null;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, across, down);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return new CanvasPen(context);
}

/** Texts only: names and reasons come from users. */
function fillTip(tip: HTMLDivElement, hit: Hit | null, width: number): void {
    tip.hidden = !hit;
    if (!hit) return;
    const title = document.createElement("strong");
    title.textContent = hit.title;
    const lines = hit.lines.map(([name, value]) => {
        const line = document.createElement("span");
        const left = document.createElement("span");
        left.className = "muted";
        left.textContent = name;
        const right = document.createElement("span");
        right.textContent = value;
        line.append(left, right);
        return line;
    });
    tip.replaceChildren(title, ...lines);
    const right = hit.x > width * 0.6;
    tip.style.left = right ? "" : `${hit.x + 14}px`;
    tip.style.right = right ? `${width - hit.x + 14}px` : "";
    tip.style.top = `${Math.max(0, hit.y - 12 - tip.offsetHeight / 2)}px`;
}
