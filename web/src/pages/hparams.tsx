// Hyperparameters of a trial, nested ones by their paths.
import {flatHparams} from "../state/hparams";
import {formatValue, shortened} from "../i18n/format";

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
