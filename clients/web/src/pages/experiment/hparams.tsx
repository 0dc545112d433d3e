// Hyperparameters of a trial, nested ones by their paths.
import {useState} from "preact/hooks";
import {exactText} from "../../api/exact";
import {flatHparams, inOrder} from "../../state/hparams";
import {t} from "../../i18n/texts";
import {formatValue, shortened} from "../../i18n/format";
import {toldApart} from "../../i18n/names";
import {ToldName} from "../../design/told_name";

/// Names with more letters give up what they share with others.
export const nameLetters = 28;
/// A few more than this are shown, too: a button for one line helps nobody.
export const firstHparams = 16;
export const cutAt = <T,>(all: readonly T[], whole: boolean): readonly T[] =>
    whole || all.length <= firstHparams + 3 ? all : all.slice(0, firstHparams);

export function Hparams({values}: {values: Readonly<Record<string, unknown>>}) {
    const [whole, setWhole] = useState(false);
    const all = inOrder(flatHparams(values));
    const shown = cutAt(all, whole);
    const told = toldApart(
        all.map(([name]) => name),
        nameLetters,
    );
    return (
        <>
            <dl class="facts hparams">
                {shown.map(([name, value]) => {
                    const text = formatValue(value);
                    return (
                        <>
                            <dt key={name}>
                                <ToldName name={name} told={told.get(name)} />
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
