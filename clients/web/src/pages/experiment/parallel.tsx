// Parallel coordinates: which values good trials have in common.
import {useMemo} from "preact/hooks";
import {useResource} from "../../state/resource";
import {selectionOf} from "../../state/selection";
import {printExact} from "../../api/exact";
import {t} from "../../i18n/texts";
import {formatNumber} from "../../i18n/format";
import {toldApart} from "../../i18n/names";
import {ToldName} from "../../design/told_name";
import {Link} from "../../design/link";
import {columnOf, type Columns} from "../../plot/data/columns";
import {valueText} from "../../plot/drawing/number";
import {ColumnsFrame, type ComparedProps} from "../../plot/data/columns_frame";
import {useLook} from "../../plot/drawing/frame";
import {LengthsKey} from "../../plot/lengths_key";
import type {Importance} from "../../plot/importance";
import {keepRows, makeScratch} from "../../plot/parallel";
import {ParallelPlot, useAxes, useBrushes, type AxesChoice} from "../../plot/parallel_plot";
import {labelOf, MOST_AXES, parallelModel, varyingNames, type ParallelModel} from "../../plot/data/parallel_model";
import {Choose, CopyButton, FilterChoice, Folded, readFilter, ScaleChoice, scaleIsChosen, useChosen} from "../../plot/page_parts";
import {brushedRanges, pointsYaml} from "../../plot/data/search_next";
import type {ExperimentPageProps} from "../page_props";

const headingLetters = 30;
const tableRows = 50;
const mostPoints = 20;

export default function Page({experiment, query}: ExperimentPageProps) {
    useChosen(experiment.id, query);
    return (
        <ColumnsFrame experiment={experiment} query={query}>
            {(compared) => <Axes experiment={experiment} query={query} captured={[]} {...compared} />}
        </ColumnsFrame>
    );
}

function Axes({experiment, query, columns, space, metricLabel, lengthChooser}: ExperimentPageProps & ComparedProps) {
    const varying = useMemo(() => varyingNames(columns), [columns]);
    // The most important parameters come first, and are the first axes where there are too many. The order stays while
    // the page is open, also if the search goes on.
    const importance = useResource<Importance>(query.get("axes") ? null : `experiments/${experiment.id}/importance`);
    const usual = useMemo(() => {
        const ranked = new Map((importance.data?.hyperparameters ?? []).map((each, index) => [`hparams.${each.name}`, index]));
        const first = [...varying].sort((a, b) => (ranked.get(a) ?? 1e9) - (ranked.get(b) ?? 1e9)).slice(0, MOST_AXES - 2);
        return [...first, ...(columnOf(columns, "reached") ? ["reached"] : []), "metric"];
    }, [varying, importance.data]);
    const ordered = !query.get("axes") && (importance.data?.hyperparameters.length ?? 0) > 1;
    const chosen = useAxes(query, usual, (name) => name === "metric" || columnOf(columns, name) !== undefined);
    const {names, setAxes} = chosen;
    const key = names.join(",");
    const logMetric = query.get("y") === "log";
    const model = useMemo(
        () =>
            parallelModel(columns, names, {
                smallerIsBetter: experiment.smaller_is_better,
                metricLabel,
                lengthLabel: experiment.unit || t("plot.length"),
                logMetric,
                space,
                rungCount: experiment.rungs.length,
                clip: query.get("clip") === "off" ? "off" : query.get("clip") === "on" ? "on" : "auto",
            }),
        [columns, columns.filled, key, logMetric, query.get("clip"), metricLabel, space],
    );
    const hidden = [...varying, "reached", "metric"].filter((name) => !names.includes(name));
    return (
        <Brushing
            experiment={experiment}
            query={query}
            captured={[]}
            columns={columns}
            model={model}
            chosen={chosen}
            ordered={ordered}
            lengthChooser={lengthChooser}
            choosers={
                <>
                    <Choose
                        label={t("plot.parallel.hide")}
                        value=""
                        onChange={(name) => name && names.length > 2 && setAxes(names.filter((each) => each !== name))}
                        choices={[{value: "", text: "–"}, ...names.map((name) => ({value: name, text: labelOf(name)}))]}
                    />
                    {hidden.length > 0 && (
                        <Choose
                            label={t("plot.parallel.show")}
                            value=""
                            onChange={(name) => name && setAxes([name, ...names])}
                            choices={[{value: "", text: "–"}, ...hidden.map((name) => ({value: name, text: labelOf(name)}))]}
                        />
                    )}
                    {query.get("axes") && (
                        <button type="button" class="plot-chip" onClick={() => setAxes([])}>
                            {t("plot.parallel.usual")} ×
                        </button>
                    )}
                </>
            }
        />
    );
}

interface BrushingProps extends ExperimentPageProps {
    readonly columns: Columns;
    readonly model: ParallelModel;
    readonly chosen: AxesChoice;
    /// The axes stand in the order of their importance.
    readonly ordered: boolean;
    readonly lengthChooser: preact.ComponentChildren;
    readonly choosers: preact.ComponentChildren;
}

function Brushing({experiment, query, columns, model, chosen, ordered, lengthChooser, choosers}: BrushingProps) {
    const look = useLook();
    const brushing = useBrushes(query, model, chosen);
    const {settled: inAddress, flipped} = brushing;
    const filter = readFilter(query);
    const rows = useMemo(() => {
        const own = makeScratch();
        keepRows(model, {brushes: inAddress, flipped, coarse: false, ...filter}, own);
        return Array.from(model.order).filter((row) => own.keep[row]);
    }, [model, inAddress, filter.bestShare, filter.fromRung]);
    const anyBrush = Object.keys(inAddress).length > 0;
    return (
        <>
            <ParallelPlot
                experiment={experiment.id}
                model={model}
                brushing={brushing}
                filter={filter}
                controls={
                    <>
                        <FilterChoice query={query} experiment={experiment} />
                        {lengthChooser}
                        <Folded used={scaleIsChosen(query) || Boolean(query.get("axes"))}>
                            <ScaleChoice query={query} />
                            {choosers}
                        </Folded>
                        {anyBrush && (
                            <button type="button" class="plot-chip" onClick={() => query.set({b: undefined})}>
                                {t("plot.parallel.clear")} ×
                            </button>
                        )}
                    </>
                }
            />
            <LengthsKey experiment={experiment} count={model.rungCount} dark={look.theme.dark} />
            <p class="muted small">
                {ordered && `${t("plot.parallel.ordered")} `}
                {t("plot.parallel.how")}
            </p>
            <section class="section">
                <div class="section-head">
                    <h2>{t("plot.parallel.kept", {n: formatNumber(rows.length), total: formatNumber(model.rows)})}</h2>
                    <span class="push" />
                    <CopyButton
                        label={t("plot.parallel.copy_points")}
                        title={t("plot.parallel.copy_points_title", {n: Math.min(mostPoints, rows.length)})}
                        text={() => pointsYaml(columns, rows.slice(0, mostPoints))}
                    />
                    <Link
                        class="button"
                        title={t("plot.parallel.next_title", {n: Math.min(mostPoints, rows.length)})}
                        to={{
                            path: ["new"],
                            query: {
                                fork: String(experiment.id),
                                points: rows
                                    .slice(0, mostPoints)
                                    .map((row) => model.trials[row])
                                    .join(","),
                                ...(anyBrush ? {narrow: printExact(brushedRanges(model, inAddress, columns))} : {}),
                            },
                        }}
                    >
                        {t("plot.parallel.next")}
                    </Link>
                </div>
                <KeptTable experiment={experiment.id} model={model} rows={rows} />
            </section>
        </>
    );
}

function KeptTable({experiment, model, rows}: {experiment: number; model: ParallelModel; rows: readonly number[]}) {
    const selection = selectionOf(experiment);
    const told = toldApart(
        model.axes.map((axis) => axis.label),
        headingLetters,
    );
    return (
        <div class="plot-twin" tabIndex={0} role="region" aria-label={t("plot.parallel.table")}>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{t("plot.column.trial")}</th>
                        {[...model.axes].reverse().map((axis) => (
                            <th scope="col" key={axis.name}>
                                <ToldName name={axis.label} told={told.get(axis.label)} />
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, tableRows).map((row) => {
                        const trial = model.trials[row]!;
                        return (
                            <tr
                                key={trial}
                                onPointerEnter={() => {
                                    selection.hovered.value = trial;
                                }}
                                onPointerLeave={() => {
                                    selection.hovered.value = null;
                                }}
                            >
                                <td>
                                    <Link to={`e/${experiment}/t/${trial}`}>{trial}</Link>
                                </td>
                                {[...model.axes].reverse().map((axis) => (
                                    <td key={axis.name}>{valueText(axis.value(row))}</td>
                                ))}
                            </tr>
                        );
                    })}
                </tbody>
            </table>
            {rows.length > tableRows && <p class="muted small">{t("plot.parallel.more", {shown: tableRows, total: formatNumber(rows.length)})}</p>}
        </div>
    );
}
