// Hyperparameters of a trial, nested ones by their paths.
import {useState} from "preact/hooks";
import {exactText} from "../../api/exact";
import {flatHparams, inOrder} from "../../state/hparams";
import {t} from "../../i18n/texts";
import {formatValue, shortened} from "../../i18n/format";

/// A few more than this are shown, too: a button for one line helps nobody.
export const firstHparams = 16;
export const cutAt = <T,>(all: readonly T[], whole: boolean): readonly T[] =>
    whole || all.length <= firstHparams + 3 ? all : all.slice(0, firstHparams);

export function Hparams({values}: {values: Readonly<Record<string, unknown>>}) {
    const [whole, setWhole] = useState(false);
    const all = inOrder(flatHparams(values));
    const shown = cutAt(all, whole);
    return (
        <>
            <dl class="facts hparams">
                {shown.map(([name, value]) => {
                    const text = formatValue(value);
                    return (
                        <>
                            <dt key={name} title={name}>
                                {shortened(name, 40)}
                            </dt>
                            <dd
                                class="mono"
                                title={
                                    typeof value === "number" || typeof value === "bigint" ? exactText(value) : text.length > 200 ? undefined : text
                                }
                            >
                                {shortened(text, 200)}
                            </dd>
                        </>
                    );
                })}
            </dl>
            {shown.length < all.length && (
                <button class="link small" onClick={() => setWhole(true)}>
                    {t("hparams.all", {n: all.length})}
                </button>
            )}
        </>
    );
}
