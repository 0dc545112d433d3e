/** Parts that pages with plots share: what the address holds, and small controls. */
import { effect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Query } from "../state/router";
import { selectionOf } from "../state/selection";
import { say } from "./frame";

/** Plots that need room scroll sideways on a phone. */
export const minWidthOf = (width: number) => Math.min(900, Math.max(320, width));

/** The chosen trials stand in the address, t=1,4,9, so that a colleague sees the same. */
export function useChosen(experiment: number, query: Query): void {
  useEffect(() => {
    const selection = selectionOf(experiment);
    const listed = query.list("t").map(Number).filter((trial) => Number.isInteger(trial) && trial >= 0);
    if (listed.length > 0) selection.selected.value = new Set(listed);
    let first = true;
    return effect(() => {
      const text = [...selection.selected.value].slice(0, 60).join(",");
      if (first && text === "") {
        first = false;
        return;
      }
      first = false;
      query.set({ t: text }, { replace: true });
    });
  }, [experiment]);
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly text: string;
}

/** A row of a few values, one of them chosen. */
export function Segments<Value extends string>(props: {
  readonly label: string; readonly value: Value; readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <div class="plot-segments" role="group" aria-label={props.label}>
      {props.choices.map(({ value, text }) => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>{text}</button>
      ))}
    </div>
  );
}

export function Choose<Value extends string>(props: {
  readonly label: string; readonly value: Value; readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <label class="plot-choose"><span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value as Value)}>
        {props.choices.map(({ value, text }) => <option key={value} value={value}>{text}</option>)}
      </select>
    </label>
  );
}

export function Switch(props: { readonly label: ComponentChildren; readonly on: boolean; readonly onChange: (on: boolean) => void; readonly title?: string }) {
  return (
    <label class="plot-switch" title={props.title}>
      <input type="checkbox" checked={props.on} onChange={(event) => props.onChange(event.currentTarget.checked)} />
      <span>{props.label}</span>
    </label>
  );
}

/** Linear, log or quantile; and whether outliers are clipped. Kept in the address as y and clip. */
export function ScaleChoice({ query, outside }: { query: Query; outside?: string }) {
  const kind = query.get("y") === "log" ? "log" : query.get("y") === "quantile" ? "quantile" : "linear";
  const clip = query.get("clip") === "on" ? "on" : query.get("clip") === "off" ? "off" : "auto";
  return (
    <>
      <Choose label={say("plot.scale")} value={kind} onChange={(value) => query.set({ y: value === "linear" ? undefined : value })}
        choices={(["linear", "log", "quantile"] as const).map((value) => ({ value, text: say(`plot.scale.${value}`) }))} />
      <Choose label={outside || say("plot.clip")} value={clip} onChange={(value) => query.set({ clip: value === "auto" ? undefined : value })}
        choices={(["auto", "on", "off"] as const).map((value) => ({ value, text: say(`plot.clip.${value}`) }))} />
    </>
  );
}
