// Where values of a trial lie in the search space.
import type {ComponentChildren} from "preact";
import {exactText} from "../api/exact";
import {t} from "../i18n/texts";
import {formatNumber, formatValue, shortened} from "../i18n/format";
import {toldApart} from "../i18n/names";
import {ToldName} from "../design/told_name";
import {useState} from "preact/hooks";
import {flatHparams, inOrder} from "../state/hparams";
import {cutAt, nameLetters} from "./experiment/hparams";

interface Range {
    readonly low: number;
    readonly high: number;
    readonly log: boolean;
}

type Space = Readonly<Record<string, unknown>>;

function entryAt(space: Space, path: string): unknown {
    let here: unknown = space;
    for (const part of path.split(".")) here = typeof here === "object" && here !== null ? (here as Space)[part] : undefined;
    return here;
}

export function rangeOf(space: Space, path: string): Range | undefined {
    const entry = entryAt(space, path);
    if (typeof entry !== "object" || entry === null) return undefined;
    const {type, minval, maxval, base} = entry as {type?: string; minval?: unknown; maxval?: unknown; base?: unknown};
    if (typeof minval !== "number" || typeof maxval !== "number" || maxval <= minval) return undefined;
    if (type === "log") {
        const by = typeof base === "number" ? base : 10;
        return {low: by ** minval, high: by ** maxval, log: true};
    }
    return type === "int" || type === "double" ? {low: minval, high: maxval, log: false} : undefined;
}

function choicesOf(space: Space, path: string): readonly unknown[] | undefined {
    const entry = entryAt(space, path);
    const values = typeof entry === "object" && entry !== null ? (entry as {vals?: unknown}).vals : undefined;
    return Array.isArray(values) ? values : undefined;
}

function Place({range, value}: {range: Range; value: number}) {
    const scale = range.log ? Math.log : (x: number) => x;
    const share = (scale(value) - scale(range.low)) / (scale(range.high) - scale(range.low));
    return (
        <span
            class="place"
            role="img"
            aria-label={t("trial.place", {low: formatNumber(range.low), high: formatNumber(range.high)})}
            title={t("trial.place", {low: formatNumber(range.low), high: formatNumber(range.high)})}
        >
            <span class="place-line">
                <span class="place-mark" style={{left: `${100 * Math.max(0, Math.min(1, share))}%`}} />
            </span>
        </span>
    );
}

export function HparamPlaces({values, space}: {values: Space; space: Space}) {
    const [whole, setWhole] = useState(false);
    const all = inOrder(flatHparams(values));
    const shown = cutAt(all, whole);
    const told = toldApart(
        all.map(([name]) => name),
        nameLetters,
    );
    return (
        <>
            <table class="table places">
                <caption class="unseen">{t("trial.hparams")}</caption>
                <tbody>
                    {shown.map(([name, value]) => {
                        const range = rangeOf(space, name);
                        const choices = choicesOf(space, name);
                        let place: ComponentChildren = <span class="muted small">{t("trial.constant")}</span>;
                        if (range && typeof value === "number") place = <Place range={range} value={value} />;
                        else if (choices) place = <span class="muted small">{t("trial.one_of", {n: choices.length})}</span>;
                        const text = formatValue(value);
                        return (
                            <tr key={name}>
                                <th scope="row">
                                    <ToldName name={name} told={told.get(name)} />
                                </th>
                                <td class="mono" title={typeof value === "number" || typeof value === "bigint" ? exactText(value) : undefined}>
                                    {shortened(text, 80)}
                                </td>
                                <td class="place-cell">{place}</td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
            {shown.length < all.length && (
                <button class="link small" onClick={() => setWhole(true)}>
                    {t("hparams.all", {n: all.length})}
                </button>
            )}
        </>
    );
}
