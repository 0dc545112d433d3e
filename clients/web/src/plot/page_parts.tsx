/** Parts that pages with plots share: what the address holds, and small controls. */
import {effect} from "@preact/signals";
import type {ComponentChildren} from "preact";
import {useEffect, useState} from "preact/hooks";
import {copyText} from "../design/copy_text";
import type {Experiment} from "../api/shapes";
import type {Query} from "../state/router";
import {amount} from "../i18n/amount";
import {selectionOf} from "../state/selection";
import {say} from "./drawing/frame";
import type {Filter} from "./data/kept";

/** Plots that need room scroll sideways on a phone. */
export const minWidthOf = (width: number) => Math.min(900, Math.max(320, width));

/** The chosen trials stand in the address, t=1,4,9, so that a colleague sees the same. */
export function useChosen(experiment: number, query: Query): void {
    useEffect(() => {
        const selection = selectionOf(experiment);
        const listed = query
            .list("t")
            .map(Number)
            .filter((trial) => Number.isInteger(trial) && trial >= 0);
        if (listed.length > 0) selection.selected.value = new Set(listed);
        let first = true;
        return effect(() => {
            const text = [...selection.selected.value].slice(0, 60).join(",");
            if (first && text === "") {
                first = false;
                return;
            }
            first = false;
            query.set({t: text}, {replace: true});
        });
    }, [experiment]);
}

export interface Choice<Value extends string> {
    readonly value: Value;
    readonly text: string;
}

/** A row of a few values, one of them chosen. */
export function Segments<Value extends string>(props: {
    readonly label: string;
    readonly value: Value;
    readonly choices: readonly Choice<Value>[];
    readonly onChange: (value: Value) => void;
}) {
    return (
        <div class="plot-segments" role="group" aria-label={props.label}>
            {props.choices.map(({value, text}) => (
                <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
                    {text}
                </button>
            ))}
        </div>
    );
}

export function Choose<Value extends string>(props: {
    readonly label: string;
    readonly value: Value;
    readonly choices: readonly Choice<Value>[];
    readonly onChange: (value: Value) => void;
}) {
    return (
        <label class="plot-choose">
            <span>{props.label}</span>
            <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value as Value)}>
                {props.choices.map(({value, text}) => (
                    <option key={value} value={value}>
                        {text}
                    </option>
                ))}
            </select>
        </label>
    );
}

export function Switch(props: {
    readonly label: ComponentChildren;
    readonly on: boolean;
    readonly onChange: (on: boolean) => void;
    readonly title?: string;
}) {
    return (
        <label class="plot-switch" title={props.title}>
            <input type="checkbox" checked={props.on} onChange={(event) => props.onChange(event.currentTarget.checked)} />
            <span>{props.label}</span>
        </label>
    );
}

/** Whether the address has another scale than the usual one. */
export const scaleIsChosen = (query: Query): boolean => Boolean(query.get("y") || query.get("clip"));

/** Linear, log or quantile; and whether outliers are clipped. Kept in the address as y and clip. */
export function ScaleChoice({query}: {query: Query}) {
    const kind = query.get("y") === "log" ? "log" : query.get("y") === "quantile" ? "quantile" : "linear";
    const clip = query.get("clip") === "on" ? "on" : query.get("clip") === "off" ? "off" : "auto";
    return (
        <>
            <Choose
                label={say("plot.scale")}
                value={kind}
                onChange={(value) => query.set({y: value === "linear" ? undefined : value})}
                choices={(["linear", "log", "quantile"] as const).map((value) => ({value, text: say(`plot.scale.${value}`)}))}
            />
            <Choose
                label={say("plot.clip")}
                value={clip}
                onChange={(value) => query.set({clip: value === "auto" ? undefined : value})}
                choices={(["auto", "on", "off"] as const).map((value) => ({value, text: say(`plot.clip.${value}`)}))}
            />
        </>
    );
}

/** "Best k %" and "reached a length or longer", of the address: best and rung. */
export function readFilter(query: Query): Filter {
    const best = query.number("best");
    const rung = query.number("rung");
    return {
        bestShare: best !== undefined && best > 0 && best < 100 ? best / 100 : 1,
        fromRung: rung !== undefined && rung > 0 ? Math.floor(rung) : 0,
    };
}

export function FilterChoice({query, experiment, onlyRungs = false}: {query: Query; experiment: Experiment; onlyRungs?: boolean}) {
    const rungs = experiment.rungs.length;
    const {bestShare, fromRung} = readFilter(query);
    return (
        <>
            {!onlyRungs && (
                <Choose
                    label={say("plot.filter")}
                    value={bestShare < 1 ? String(Math.round(bestShare * 100)) : ""}
                    onChange={(value) => query.set({best: value})}
                    choices={[
                        {value: "", text: say("plot.filter.all")},
                        ...["50", "20", "10", "5", "1"].map((value) => ({value, text: say("plot.filter.best", {percent: value})})),
                    ]}
                />
            )}
            {rungs > 1 && (
                <Choose
                    label={say("plot.filter.rung")}
                    value={String(fromRung)}
                    onChange={(value) => query.set({rung: value === "0" ? undefined : value})}
                    choices={Array.from({length: rungs}, (_, rung) => ({
                        value: String(rung),
                        text:
                            rung === 0
                                ? say("plot.filter.any")
                                : say("plot.filter.from_length", {amount: amount(experiment.rungs[rung]!.length, experiment.unit)}),
                    }))}
                />
            )}
        </>
    );
}

/** Controls that most visits leave alone. They are there from the start where one of them is in use. */
export function Folded({used, children}: {used: boolean; children: ComponentChildren}) {
    const [open, setOpen] = useState(used);
    return (
        <details class="plot-fold" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{say("plot.more_controls")}</summary>
            <div class="plot-controls">{children}</div>
        </details>
    );
}

export function CopyButton(props: {readonly label: string; readonly title: string; readonly text: () => string}) {
    const [copied, setCopied] = useState(false);
    const copy = async () => {
        await copyText(props.text());
        setCopied(true);
        setTimeout(() => setCopied(false), 2000);
    };
    return (
        <button type="button" class="button" title={props.title} onClick={() => void copy()}>
            {copied ? say("plot.copied") : props.label}
        </button>
    );
}

export function Problem({text, again}: {text: string; again: () => void}) {
    return (
        <div class="state-note" role="alert">
            <p>{text}</p>
            <button type="button" class="button" onClick={again}>
                {say("plot.again")}
            </button>
        </div>
    );
}
