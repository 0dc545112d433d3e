// A new experiment: a form beside the file that it writes. Both edit the same text.
import {useEffect, useMemo, useState} from "preact/hooks";
import {change, get, Problem, type FieldProblem} from "../api/client";
import type {Experiment, Status, Trial} from "../api/shapes";
import {useResource} from "../state/resource";
import {go} from "../state/router";
import {t} from "../i18n/texts";
import {draftOf, programOf, starter, textAt, valueAt, type Draft} from "../form/draft";
import {Editor} from "../form/editor";
import {FormFields} from "../form/form_fields";
import {PreviewNote} from "../form/preview";
import {ProgramFiles} from "../form/program_files";
import {narrow, readRanges, type Ranges} from "../form/narrow";
import {packTar, sha256, type PackedFile} from "../form/tar";
import {uploadContext, useCheck} from "../form/use_check";
import {printYaml, type Yaml} from "../form/yaml";
import type {PageProps} from "./page_props";

/// What only the daemon sets.
const derived = ["program_traits"];

/// The configuration of another experiment, with the points of some of its trials to begin with, and in narrower ranges.
async function forked(id: number, points: readonly string[], ranges: Ranges): Promise<{text: string; digest: string}> {
    const [config, experiment, trials] = await Promise.all([
        get<Record<string, Yaml>>(`experiments/${id}/config`),
        get<Experiment>(`experiments/${id}`),
        Promise.all(points.map((trial) => get<Trial>(`experiments/${id}/trials/${trial}`))),
    ]);
    for (const name of derived) delete config[name];
    if (trials.length > 0)
        config["searcher"] = {
            ...(config["searcher"] as Record<string, Yaml>),
            points_to_evaluate: trials.map((trial) => trial.hparams as Record<string, Yaml>),
        };
    if (config["hyperparameters"]) config["hyperparameters"] = narrow(config["hyperparameters"] as Record<string, Yaml>, ranges);
    return {text: printYaml(config), digest: experiment.context_digest};
}

function Starting({query, ready}: PageProps & {ready: (text: string, digest: string) => void}) {
    const fork = query.number("fork");
    const [problem, setProblem] = useState<string | undefined>();
    useEffect(() => {
        if (fork === undefined) ready(starter, "");
        else
            void forked(fork, query.list("points"), readRanges(query.get("narrow") ?? "")).then(
                ({text, digest}) => ready(text, digest),
                (cause: unknown) => setProblem(cause instanceof Problem ? cause.message : String(cause)),
            );
    }, [fork]);
    return problem ? (
        <p class="inline-problem" role="alert">
            {problem}
        </p>
    ) : null;
}

function Submit({draft, files, digest, blocked}: {draft: Draft; files: readonly PackedFile[]; digest: string; blocked: boolean}) {
    const [waits, setWaits] = useState(false);
    const [problem, setProblem] = useState<Problem | undefined>();
    const program = files.length === 0 && digest === "" ? programOf(valueAt(draft.tree, ["entrypoint"])) : "";
    const [asked, setAsked] = useState("");
    const asks = program !== "" && asked === program;
    const key = useMemo(() => crypto.randomUUID?.() ?? String(Math.random()), [draft.text, files]);
    const submit = async () => {
        setWaits(true);
        setProblem(undefined);
        try {
            let context = digest;
            if (files.length > 0) {
                const archive = packTar(files);
                context = await sha256(archive);
                await uploadContext(context, archive);
            }
            const name = textAt(draft.tree, ["name"]);
            const answer = draft.tree
                ? await change<{experiment: number}>(
                      "POST",
                      "experiments",
                      {config: draft.tree, ...(name ? {name} : {}), context_digest: context, file: {text: draft.text}},
                      {key},
                  )
                : await change<{experiment: number}>("POST", "experiments", draft.text, {key, type: "application/yaml"});
            go(`e/${answer.experiment}`);
        } catch (cause) {
            setProblem(cause instanceof Problem ? cause : new Problem(0, "", String(cause), undefined));
        } finally {
            setWaits(false);
        }
    };
    return (
        <div class="submit">
            {problem && (
                <div role="alert">
                    <p class="field-problem">{problem.message || t("state.unreachable")}</p>
                    {problem.problems.length > 0 && (
                        <ul class="problems">
                            {problem.problems.map((each, index) => (
                                <li key={index} class="bad">
                                    <span>
                                        <code>{each.path}</code> {each.what}{" "}
                                        <span class="muted">{each.allowed && t("form.allowed", {allowed: each.allowed})}</span>
                                    </span>
                                </li>
                            ))}
                        </ul>
                    )}
                </div>
            )}
            {asks && (
                <p class="note tone-waiting" role="alert">
                    {t("form.no_program", {program})}
                </p>
            )}
            <button
                class={`button primary${waits ? " waits" : ""}`}
                disabled={waits || blocked}
                onClick={() => {
                    if (program !== "" && !asks) setAsked(program);
                    else void submit();
                }}
            >
                {t(asks ? "form.submit_anyway" : "form.submit")}
            </button>
        </div>
    );
}

export default function New(props: PageProps) {
    const {query} = props;
    const [draft, setDraft] = useState<Draft | undefined>();
    const [digest, setDigest] = useState("");
    const [files, setFiles] = useState<readonly PackedFile[]>([]);
    const status = useResource<Status>("status");
    const checked = useCheck(draft?.text ?? "");
    const advanced = query.get("mode") === "advanced";
    if (!draft)
        return (
            <Starting
                {...props}
                ready={(text, context) => {
                    setDraft(draftOf(text));
                    setDigest(context);
                }}
            />
        );
    const own: readonly FieldProblem[] = draft.problem
        ? [{path: "", what: t("form.unreadable", {text: draft.problem.message}), allowed: "", line: draft.problem.line}]
        : [];
    const problems = checked.problems.length > 0 ? checked.problems : checked.valid === "yes" ? [] : own;
    const wrong = new Map(checked.problems.map((each) => [each.path, each.what]));
    const length = valueAt(draft.tree, ["searcher", "max_length"]);
    const unit = typeof length === "object" && length !== null && !Array.isArray(length) ? (Object.keys(length)[0] ?? "") : "";
    const file = (
        <div class="new-file">
            <h2>{t("form.file")}</h2>
            <Editor text={draft.text} problems={problems} notes={checked.notes} onChange={(text) => setDraft(draftOf(text))} />
            {checked.refused && (
                <p class="field-problem" role="alert">
                    {checked.refused}
                </p>
            )}
            {checked.preview && (
                <section class="section">
                    <h2>{t("form.preview")}</h2>
                    <PreviewNote preview={checked.preview} unit={unit} />
                </section>
            )}
            <Submit
                draft={draft}
                files={files}
                digest={digest}
                blocked={checked.valid === "no" || (draft.problem !== undefined && checked.valid !== "yes")}
            />
        </div>
    );
    return (
        <>
            <div class="section-head list-head">
                <h1>{query.get("fork") ? t("form.fork_title", {id: query.get("fork")!}) : t("nav.new")}</h1>
                <label class="inline-field push">
                    <input type="checkbox" checked={advanced} onChange={() => query.set({mode: advanced ? "" : "advanced"}, {replace: true})} />
                    <span>{t("form.advanced")}</span>
                </label>
            </div>
            {advanced ? (
                <>
                    {<ProgramFiles files={files} onChange={setFiles} kept={digest} />}
                    {file}
                </>
            ) : (
                <div class="new">
                    <div class="new-form">
                        {draft.tree ? (
                            <FormFields
                                draft={draft}
                                onChange={setDraft}
                                wrong={wrong}
                                searchers={status.data?.searchers ?? ["adaptive_asha", "random", "grid", "single"]}
                                files={<ProgramFiles files={files} onChange={setFiles} kept={digest} />}
                            />
                        ) : (
                            <p class="note tone-waiting">{t("form.only_text_all")}</p>
                        )}
                    </div>
                    {file}
                </div>
            )}
        </>
    );
}
