/** The frame of pages that compare trials: at which length, on which axes, and what they show while columns load. */
import type {ComponentChildren} from "preact";
import {useMemo} from "preact/hooks";
import type {Experiment} from "../../api/shapes";
import {Empty, Loading} from "../../design/states";
import {formatNumber} from "../../i18n/format";
import {amount} from "../../i18n/amount";
import {t, tCount} from "../../i18n/texts";
import {useResource} from "../../state/resource";
import type {Query} from "../../state/router";
import {comparedColumns, readLength} from "./compared";
import type {Columns} from "./columns";
import {Choose, Problem} from "../page_parts";
import {declarationsOf, type Declarations} from "./space";
import {useColumns} from "./use_columns";

/** "loss at 9 epochs", or "best loss": what is compared, as every plot and table names it. */
export const comparedName = (experiment: Experiment, columns: Columns, any: boolean): string =>
    any
        ? t("plot.compared.best", {metric: experiment.metric})
        : columns.length
          ? t("plot.compared.at", {metric: experiment.metric, amount: amount(columns.length, experiment.unit)})
          : experiment.metric;

export function useDeclarations(experiment: Experiment): Declarations {
    const config = useResource<{hyperparameters?: unknown}>(`experiments/${experiment.id}/config`);
    return useMemo(() => declarationsOf(config.data?.hyperparameters), [config.data]);
}

export function LengthChooser({experiment, query, columns}: {experiment: Experiment; query: Query; columns: Columns}) {
    const choice = readLength(query.get("len"));
    if (!columns.lengths || columns.lengths.length === 0) return null;
    return (
        <Choose
            label={t("plot.compared.label")}
            value={choice === "any" ? "any" : String(columns.length ?? "")}
            onChange={(value) => query.set({len: value})}
            choices={[
                ...columns.lengths.map(({length, results}) => ({
                    value: String(length),
                    text: tCount("plot.compared.length", results, {amount: amount(length, experiment.unit)}),
                })),
                {value: "any", text: t("plot.compared.any")},
            ]}
        />
    );
}

export interface ComparedProps {
    readonly columns: Columns;
    readonly space: Declarations;
    readonly metricLabel: string;
    readonly lengthChooser: ComponentChildren;
}

/// How many trials the plots show while the others arrive.
export function LoadedSoFar({columns}: {columns: Columns}) {
    return (
        <p class="muted small" role="status">
            {t("plot.loaded", {n: formatNumber(columns.filled), total: formatNumber(columns.rows)})}
        </p>
    );
}

export function ColumnsFrame({
    experiment,
    query,
    children,
}: {
    experiment: Experiment;
    query: Query;
    children: (compared: ComparedProps) => ComponentChildren;
}) {
    const choice = readLength(query.get("len"));
    const {columns, problem, complete, reload} = useColumns(experiment, "", typeof choice === "number" ? choice : undefined);
    const space = useDeclarations(experiment);
    const compared = useMemo(() => (columns ? comparedColumns(columns, choice) : null), [columns, columns?.filled, choice]);
    if (problem && !columns) return <Problem text={problem.message} again={reload} />;
    if (!columns || !compared) return <Loading />;
    if (complete && columns.total === 0)
        return (
            <Empty title={t("plot.no_trials_title")} ways={[[`e/${experiment.id}`, "tab.overview"]]}>
                <p>{t("plot.no_trials_text")}</p>
            </Empty>
        );
    const lengthChooser = <LengthChooser experiment={experiment} query={query} columns={columns} />;
    return (
        <>
            {!complete && <LoadedSoFar columns={columns} />}
            {complete && compared.filled === 0 ? (
                <>
                    <div class="plot-bar">
                        <div class="plot-controls">{lengthChooser}</div>
                    </div>
                    <Empty title={t("plot.compared.none_title")} ways={[[`e/${experiment.id}/trials`, "tab.trials"]]}>
                        <p>{t("plot.compared.none_text")}</p>
                    </Empty>
                </>
            ) : (
                children({columns: compared, space, metricLabel: comparedName(experiment, columns, choice === "any"), lengthChooser})
            )}
        </>
    );
}
