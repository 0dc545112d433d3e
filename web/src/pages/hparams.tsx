// Hyperparameters of a trial, nested ones by their paths.
import {formatValue, shortened} from "../i18n/format";

/// {"a": {"b": 1}} as [["a.b", 1]].
export function flatHparams(values: Readonly<Record<string, unknown>>, before = ""): [string, unknown][] {
    return Object.entries(values).flatMap(([name, value]): [string, unknown][] =>
        typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
            ? flatHparams(value as Record<string, unknown>, `${before}${name}.`)
            : [[before + name, value]]);
}

export function Hparams({values}: {values: Readonly<Record<string, unknown>>}) {
    return (
        <dl class="facts hparams">
            {flatHparams(values).map(([name, value]) => {
                const text = formatValue(value);
                return <><dt key={name} title={name}>{shortened(name, 40)}</dt><dd class="mono" title={typeof value === "number" ? String(value) : text.length > 200 ? undefined : text}>{shortened(text, 200)}</dd></>;
            })}
        </dl>
    );
}
