// The checkpoints of an experiment.
import {useState} from "preact/hooks";
import {numberOf, type Checkpoint} from "../../api/shapes";
import type {CheckpointPage} from "../../api/types";
import {get} from "../../api/client";
import {useResource} from "../../state/resource";
import {t, tCount} from "../../i18n/texts";
import {formatBytes, formatNumber} from "../../i18n/format";
import {Empty, View} from "../../design/states";
import {Link} from "../../design/link";
import {askToDelete, Download, Marks} from "./checkpoint_parts";
import type {ExperimentPageProps} from "../page_props";

interface Listed {
    readonly checkpoints: readonly Checkpoint[];
    readonly being_deleted: number;
    readonly more: boolean;
}

async function read(id: number, pages: number, signal: AbortSignal): Promise<Listed> {
    const checkpoints: Checkpoint[] = [];
    let after = "";
    let deleted = 0;
    for (let page = 0; page < pages; page += 1) {
        const answer: CheckpointPage = await get<CheckpointPage>(`experiments/${id}/checkpoints?limit=200${after}`, signal);
        checkpoints.push(...answer.checkpoints);
        deleted = answer.being_deleted;
        if (answer.next === null) return {checkpoints, being_deleted: deleted, more: false};
        after = `&after=${encodeURIComponent(String(answer.next))}`;
    }
    return {checkpoints, being_deleted: deleted, more: true};
}

/// The rule of the configuration in words.
function Retention({config}: {config: Readonly<Record<string, unknown>> | undefined}) {
    const storage = (config?.["checkpoint_storage"] ?? {}) as Readonly<Record<string, unknown>>;
    if (!config) return null;
    const whole = Number(storage["save_experiment_best"] ?? 0);
    return (
        <p class="muted lead">
            {t("checkpoints.rule", {best: String(storage["save_trial_best"] ?? 1), latest: String(storage["save_trial_latest"] ?? 1)})}
            {whole > 0 && <> {t("checkpoints.rule_experiment", {n: whole})}</>}
        </p>
    );
}

export default function Checkpoints({experiment, query}: ExperimentPageProps) {
    const [pages, setPages] = useState(5);
    const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
    const list = useResource<Listed>(`experiments/${experiment.id}/checkpoints#${pages}`, {
        topic: `experiment:${experiment.id}`,
        every: 3000,
        read: (_, signal) => read(experiment.id, pages, signal),
    });
    const config = useResource<Record<string, unknown>>(`experiments/${experiment.id}/config`);
    const bestOnly = query.get("show") === "best";
    const toggle = (path: string) => {
        const next = new Set(chosen);
        if (!next.delete(path)) next.add(path);
        setChosen(next);
    };
    return (
        <View resource={list}>
            {(data) => {
                if (data.checkpoints.length === 0)
                    return (
                        <Empty title={t("checkpoints.empty")} ways={[[`e/${experiment.id}/trials`, "tab.trials"]]}>
                            <p>{t("checkpoints.empty_text")}</p>
                        </Empty>
                    );
                const sign = experiment.smaller_is_better ? 1 : -1;
                const place = (metric: Checkpoint["metric"]) => {
                    const value = sign * numberOf(metric);
                    return Number.isNaN(value) ? Number.MAX_VALUE : value;
                };
                const shown = data.checkpoints.filter((each) => !bestOnly || each.best).sort((a, b) => place(a.metric) - place(b.metric));
                const bytes = data.checkpoints.reduce((sum, each) => sum + each.bytes, 0);
                const selected = shown.filter((each) => chosen.has(each.path));
                return (
                    <>
                        <Retention config={config.data} />
                        <div class="toolbar">
                            <button class="chip" aria-pressed={bestOnly} onClick={() => query.set({show: bestOnly ? "" : "best"})}>
                                {t("checkpoints.best_only")}
                            </button>
                            <span class="muted small">
                                {tCount("checkpoints.count", data.checkpoints.length, {bytes: formatBytes(bytes)})}
                                {data.being_deleted > 0 && ` · ${tCount("checkpoints.being_deleted", data.being_deleted)}`}
                            </span>
                            {selected.length > 0 && (
                                <button
                                    class="button danger push"
                                    onClick={() =>
                                        askToDelete(experiment.id, selected, () => {
                                            setChosen(new Set());
                                            list.reload();
                                        })
                                    }
                                >
                                    {tCount("checkpoints.delete_many", selected.length)}
                                </button>
                            )}
                        </div>
                        <div class="scroll-x">
                            <table class="table">
                                <caption class="unseen">{t("tab.checkpoints")}</caption>
                                <thead>
                                    <tr>
                                        <th class="check">
                                            <span class="unseen">{t("list.choose_all")}</span>
                                        </th>
                                        <th scope="col">{t("column.trial")}</th>
                                        <th scope="col">{t("checkpoints.checkpoint")}</th>
                                        <th scope="col" class="number">
                                            {t("checkpoints.metric_there", {metric: experiment.metric})}
                                        </th>
                                        <th scope="col" class="number">
                                            {t("checkpoints.step")}
                                        </th>
                                        <th scope="col" class="number">
                                            {t("checkpoints.files")}
                                        </th>
                                        <th scope="col" class="number">
                                            {t("checkpoints.size")}
                                        </th>
                                        <th scope="col">
                                            <span class="unseen">{t("checkpoints.download")}</span>
                                        </th>
                                    </tr>
                                </thead>
                                <tbody>
                                    {shown.map((each) => (
                                        <tr key={each.path} data-row class={chosen.has(each.path) ? "chosen" : ""}>
                                            <td class="check">
                                                <input
                                                    type="checkbox"
                                                    checked={chosen.has(each.path)}
                                                    onChange={() => toggle(each.path)}
                                                    aria-label={t("list.choose", {name: each.path})}
                                                />
                                            </td>
                                            <td>
                                                <Link to={`e/${experiment.id}/t/${each.trial}`} class="strong" data-open>
                                                    {each.trial}
                                                </Link>
                                            </td>
                                            <td>
                                                <span class="mono" title={each.path}>
                                                    {each.path.split("/").at(-1)}
                                                </span>{" "}
                                                <Marks checkpoint={each} />
                                            </td>
                                            <td class="number">{formatNumber(each.metric)}</td>
                                            <td class="number">{formatNumber(each.step)}</td>
                                            <td class="number">
                                                <Link
                                                    to={`e/${experiment.id}/t/${each.trial}/files`}
                                                    aria-label={t("files.of", {n: formatNumber(each.files), trial: each.trial})}
                                                >
                                                    {formatNumber(each.files)}
                                                </Link>
                                            </td>
                                            <td class="number nowrap">{formatBytes(each.bytes)}</td>
                                            <td class="number">
                                                <Download experiment={experiment.id} checkpoint={each} />
                                            </td>
                                        </tr>
                                    ))}
                                </tbody>
                            </table>
                        </div>
                        {data.more && (
                            <p>
                                <button class="button" onClick={() => setPages(pages * 4)}>
                                    {t("list.more")}
                                </button>
                            </p>
                        )}
                    </>
                );
            }}
        </View>
    );
}
