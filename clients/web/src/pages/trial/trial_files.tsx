// The files of a trial in one list: what its programs left, and its checkpoints. One of them is shown beside it.
import {useEffect, useRef, useState} from "preact/hooks";
import {daemonNow} from "../../api/client";
import {saveFile} from "../../api/save_file";
import {isServed} from "../../api/served";
import type {Checkpoint, Explanation, Trial} from "../../api/shapes";
import type {CheckpointFiles, KeptFile, OtherFile, TrialCheckpointPage, TrialFiles} from "../../api/types";
import {Link} from "../../design/link";
import {SearchField} from "../../design/search_field";
import {View} from "../../design/states";
import {formatBytes, plain} from "../../i18n/format";
import {t, tCount} from "../../i18n/texts";
import {address} from "../../state/router";
import {useResource} from "../../state/resource";
import {attemptsOf} from "./attempts";
import {Download, Marks} from "./checkpoint_parts";
import {FilePreview} from "./file_preview";
import {checkpointPath, checkpointSource, keptSource, type Source} from "./file_source";
import {SaveButton} from "./save_button";
import {TrialHeader} from "./trial_header";
import type {ExperimentPageProps} from "../page_props";

const mostShown = 300;
/// No message announces the files that a worker hands over after the end of an attempt.
const often = 3000;
const handingOver = 600;

/// A row of the list.
interface Row {
    readonly key: string;
    readonly name: string;
    readonly bytes: number;
    readonly attempt: number | undefined;
    readonly note: string;
    readonly source: Source | undefined;
}

const Save = ({source}: {source: Source}) => (
    <SaveButton save={source.save} text={t("checkpoints.download")} label={t("files.download", {name: plain(source.path)})} />
);

/// The address of the page with a file chosen. `of`: the checkpoint that it belongs to.
function Name({row, of, chosen}: {row: Row; of: string; chosen: boolean}) {
    if (!row.source) return <span class="mono cut-anywhere">{plain(row.name)}</span>;
    const {path, query} = address.value;
    return (
        <Link class="mono cut-anywhere" to={{path, query: {...query, file: row.name, of}}} aria-current={chosen ? "true" : undefined}>
            {plain(row.name)}
        </Link>
    );
}

function Rows({rows, of, chosen}: {rows: readonly Row[]; of: string; chosen: string | undefined}) {
    const [all, setAll] = useState(false);
    return (
        <>
            {rows.slice(0, all ? undefined : mostShown).map((row) => (
                <tr key={row.key} class={row.source && row.name === chosen ? "chosen" : ""}>
                    <td>
                        <Name row={row} of={of} chosen={row.name === chosen} />
                        {row.note !== "" && <span class="row-sub">{plain(row.note)}</span>}
                    </td>
                    <td class="number nowrap">{formatBytes(row.bytes)}</td>
                    <td class="number">{row.attempt ?? ""}</td>
                    <td class="number">{row.source && <Save source={row.source} />}</td>
                </tr>
            ))}
            {!all && rows.length > mostShown && (
                <tr>
                    <td colSpan={4}>
                        <button class="link" onClick={() => setAll(true)}>
                            {tCount("files.show_all", rows.length)}
                        </button>
                    </td>
                </tr>
            )}
        </>
    );
}

interface GroupProps {
    readonly title: string;
    readonly rows: readonly Row[];
    readonly unnamed?: number;
    readonly chosen: string | undefined;
    /// Saves all of them.
    readonly save?: () => Promise<void>;
}

function Group({title, rows, unnamed = 0, chosen, save}: GroupProps) {
    if (rows.length + unnamed === 0) return null;
    return (
        <tbody>
            <tr class="group">
                <th scope="rowgroup" colSpan={3}>
                    {title} <span class="muted">{tCount("files.count", rows.length + unnamed)}</span>
                </th>
                <td class="number">{save && <SaveButton save={save} text={t("files.all_tar")} />}</td>
            </tr>
            <Rows rows={rows} of="" chosen={chosen} />
            {unnamed > 0 && (
                <tr>
                    <td colSpan={4} class="muted">
                        {tCount("files.unnamed", unnamed)}
                    </td>
                </tr>
            )}
        </tbody>
    );
}

interface Chosen {
    readonly file: string;
    readonly of: string;
}

const nameOf = (checkpoint: Checkpoint): string => checkpoint.id.split("/").at(-1)!;

function rowsOfCheckpoint(path: string, checkpoint: Checkpoint, {files}: CheckpointFiles): Row[] {
    return files.map((file) => ({
        key: file.path,
        name: file.path,
        bytes: file.bytes,
        attempt: Number(nameOf(checkpoint).split("-")[0]),
        note: file.link === null ? "" : t("files.link", {target: file.link}),
        source: checkpointSource(path, file),
    }));
}

/// A checkpoint, with its files below it.
function OneCheckpoint({
    experiment,
    checkpoint,
    chosen,
    filter,
}: {
    experiment: number;
    checkpoint: Checkpoint;
    chosen: Chosen;
    filter: (name: string) => boolean;
}) {
    const path = checkpointPath(experiment, checkpoint);
    const list = useResource<CheckpointFiles>(isServed("/{checkpoint}/files") ? `${path}/files` : null);
    const name = nameOf(checkpoint);
    const rows = list.data ? rowsOfCheckpoint(path, checkpoint, list.data).filter((row) => filter(row.name)) : [];
    return (
        <tbody>
            <tr class="group">
                <th scope="rowgroup" colSpan={3}>
                    {t("files.checkpoint", {name})} <Marks checkpoint={checkpoint} />{" "}
                    <span class="muted">
                        {tCount("files.count", checkpoint.files)}, {formatBytes(checkpoint.bytes)}
                    </span>
                </th>
                <td class="number">
                    <Download experiment={experiment} checkpoint={checkpoint} label={t("files.tar")} />
                </td>
            </tr>
            <Rows rows={rows} of={name} chosen={chosen.of === name ? chosen.file : undefined} />
            {list.problem && (
                <tr>
                    <td colSpan={4} class="bad">
                        {list.problem.message}
                    </td>
                </tr>
            )}
        </tbody>
    );
}

/// The file of a checkpoint that the address names.
function ChosenOfCheckpoint({experiment, checkpoint, file}: {experiment: number; checkpoint: Checkpoint; file: string}) {
    const path = checkpointPath(experiment, checkpoint);
    const list = useResource<CheckpointFiles>(`${path}/files`);
    return (
        <View resource={list} rows={4}>
            {(data) => <Beside source={rowsOfCheckpoint(path, checkpoint, data).find((row) => row.name === file)?.source} file={file} />}
        </View>
    );
}

function Beside({source, file}: {source: Source | undefined; file: string}) {
    const here = useRef<HTMLElement>(null);
    useEffect(() => here.current?.scrollIntoView({block: "nearest"}), []);
    return (
        <section ref={here} class="file-beside" aria-label={plain(file)}>
            <div class="section-head">
                <h2 class="mono cut-anywhere">{plain(file)}</h2>
                {source && (
                    <span class="muted small">
                        {formatBytes(source.bytes)} · <Save source={source} />
                    </span>
                )}
            </div>
            {source ? <FilePreview key={file} source={source} /> : <p class="muted">{t("files.gone")}</p>}
        </section>
    );
}

const otherRows = (files: readonly OtherFile[]): Row[] =>
    files.map(({path, bytes, why, worker}) => ({key: `${worker}:${path}`, name: path, bytes, attempt: undefined, note: why, source: undefined}));

export default function TrialFilesPage({experiment, query, captured}: ExperimentPageProps) {
    const base = `experiments/${experiment.id}/trials/${Number(captured[0])}`;
    const live = {topic: `trials:${experiment.id}`, every: 3000};
    const trial = useResource<Trial>(base, live);
    const left = useResource<TrialFiles>(`${base}/files`, live);
    const checkpoints = useResource<TrialCheckpointPage>(`${base}/checkpoints?limit=1000`, live);
    const explanation = useResource<Explanation>(`${base}/explain`, live);
    const isEnded = trial.data !== undefined && trial.data.ended_at !== null && daemonNow() - trial.data.ended_at > handingOver;
    useEffect(() => {
        if (isEnded) return;
        const timer = setInterval(left.reload, often);
        return () => clearInterval(timer);
    }, [base, isEnded]);
    const chosen: Chosen = {file: query.get("file") ?? "", of: query.get("of") ?? ""};
    const words = (query.get("q") ?? "").toLowerCase();
    const filter = (name: string) => name.toLowerCase().includes(words);
    const attempts = attemptsOf(explanation.data?.history ?? []);
    const attemptOf = ({worker}: KeptFile) => attempts.find(({places}) => places.some((place) => place.worker === worker))?.attempt;
    const kept = (left.data?.files ?? []).map<Row>((file) => ({
        key: file.path,
        name: file.path,
        bytes: file.bytes,
        attempt: attemptOf(file),
        note: file.digest ? "" : t("files.link", {target: String(file.link)}),
        source: keptSource(base, file),
    }));
    const all = checkpoints.data?.checkpoints ?? [];
    const checkpoint = all.find((each) => nameOf(each) === chosen.of);
    const shownOf = (rows: readonly Row[]) => rows.filter(({name}) => filter(name));
    const keptChosen = chosen.of === "" ? chosen.file : undefined;
    const hasFiles = kept.length + (left.data?.left.length ?? 0) + (left.data?.dropped.length ?? 0) + all.length > 0;
    const isRead = checkpoints.data !== undefined && (left.data !== undefined || left.problem !== undefined);
    return (
        <View top resource={trial}>
            {(data) => (
                <>
                    <TrialHeader experiment={experiment} trial={data} current="files" done={trial.reload} />
                    {left.problem && (
                        <div class="note tone-idle">
                            <p>{left.problem.message}</p>
                            <pre class="command">
                                <code>{`hpsearch files ${experiment.id} ${data.trial}`}</code>
                            </pre>
                        </div>
                    )}
                    {isRead && !hasFiles && !left.problem && <p class="muted">{t("files.none")}</p>}
                    {hasFiles && (
                        <div class="columns section">
                            <div>
                                <div class="toolbar">
                                    <SearchField
                                        value={query.get("q") ?? ""}
                                        label={t("files.filter")}
                                        onInput={(q) => query.set({q}, {replace: true})}
                                    />
                                </div>
                                <div class="scroll-x">
                                    <table class="table file-table">
                                        <caption class="unseen">{t("files.files")}</caption>
                                        <thead>
                                            <tr>
                                                <th scope="col">{t("files.name")}</th>
                                                <th scope="col" class="number">
                                                    {t("checkpoints.size")}
                                                </th>
                                                <th scope="col" class="number">
                                                    {t("log.attempt")}
                                                </th>
                                                <th scope="col">
                                                    <span class="unseen">{t("checkpoints.download")}</span>
                                                </th>
                                            </tr>
                                        </thead>
                                        <Group
                                            title={t("files.left")}
                                            rows={shownOf(kept)}
                                            chosen={keptChosen}
                                            save={() => saveFile(`${base}/files.tar`, "files.tar")}
                                        />
                                        <Group
                                            title={t("files.on_worker")}
                                            rows={shownOf(otherRows(left.data?.left ?? []))}
                                            unnamed={left.data?.left_unnamed ?? 0}
                                            chosen={undefined}
                                        />
                                        {all.map((each) => (
                                            <OneCheckpoint
                                                key={each.id}
                                                experiment={experiment.id}
                                                checkpoint={each}
                                                chosen={chosen}
                                                filter={filter}
                                            />
                                        ))}
                                        <Group
                                            title={t("files.dropped")}
                                            rows={shownOf(otherRows(left.data?.dropped ?? []))}
                                            unnamed={left.data?.dropped_unnamed ?? 0}
                                            chosen={undefined}
                                        />
                                    </table>
                                </div>
                            </div>
                            <div>
                                {chosen.file === "" ? (
                                    <p class="muted">{t("files.choose")}</p>
                                ) : checkpoint ? (
                                    <ChosenOfCheckpoint
                                        key={`${chosen.of}/${chosen.file}`}
                                        experiment={experiment.id}
                                        checkpoint={checkpoint}
                                        file={chosen.file}
                                    />
                                ) : (
                                    isRead && (
                                        <Beside key={chosen.file} source={kept.find(({name}) => name === keptChosen)?.source} file={chosen.file} />
                                    )
                                )}
                            </div>
                        </div>
                    )}
                </>
            )}
        </View>
    );
}
