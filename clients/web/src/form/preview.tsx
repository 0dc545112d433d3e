// What the search would cost.
import {t, tCount, tWord} from "../i18n/texts";
import {formatNumber, formatPercent} from "../i18n/format";

export interface PreviewAnswer {
    readonly trials: number;
    readonly total_length: number | null;
    readonly full_length: number | null;
    readonly brackets: readonly {readonly lengths: readonly number[]; readonly trials: number | null}[];
    readonly final_counts: Readonly<Record<string, number>>;
    readonly expected_length?: number | null;
    readonly warnings?: readonly string[];
}

export function PreviewNote({preview, unit}: {preview: PreviewAnswer; unit: string}) {
    const length = preview.expected_length ?? preview.total_length;
    const share = length !== null && preview.full_length ? length / preview.full_length : null;
    return (
        <div class="preview">
            <div class="figures">
                <div>
                    <div class="figure-label">{t("list.trials")}</div>
                    <div class="figure-value">{formatNumber(preview.trials)}</div>
                </div>
                <div>
                    <div class="figure-label">{t("form.training")}</div>
                    <div class="figure-value">{formatNumber(length)}</div>
                    <div class="figure-note">{tWord("unit", unit)}</div>
                </div>
                {share !== null && (
                    <div>
                        <div class="figure-label">{t("form.share")}</div>
                        <div class="figure-value">{formatPercent(share)}</div>
                        <div class="figure-note">{t("form.share_note")}</div>
                    </div>
                )}
            </div>
            {preview.brackets.length > 0 && (
                <p class="muted small">
                    {tCount("form.brackets", preview.brackets.length)}:{" "}
                    {preview.brackets.map((each) => each.lengths.map((one) => formatNumber(one)).join(" → ")).join("; ")}
                </p>
            )}
            {(preview.warnings ?? []).map((text, index) => (
                <p class="note tone-waiting" key={index}>
                    {text}
                </p>
            ))}
        </div>
    );
}
