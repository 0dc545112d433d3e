// The limits of a search in a dialog: what they are, what follows from others, and why the daemon refuses them.
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {change, get, Problem} from "../../api/client";
import type {ExperimentSummary} from "../../api/shapes";
import type {Experiment} from "../../api/types";
import {announce} from "../../design/announce";
import {openDialog, type Frame} from "../../design/dialog";
import {Loading} from "../../design/states";
import {t} from "../../i18n/texts";
import {reread} from "../../state/resource";
import {at, changesOf, linesOf, refusalOf, textOf, valueOf, type Config, type Refusal, type Texts} from "./limit_changes";
import {consequences, createsNone, planLines, usePlans} from "./limit_effects";
import {groupsOf, LimitField} from "./limit_fields";

const none: Refusal = {fields: {}, rest: ""};

function LimitsForm({experiment, config, frame, done}: {experiment: Experiment; config: Config; frame: Frame; done: () => void}) {
    const groups = useMemo(
        () =>
            groupsOf(experiment)
                .map((group) => ({...group, limits: group.limits.filter(({path}) => at(config, path) !== undefined)}))
                .filter(({limits}) => limits.length > 0),
        [],
    );
    const paths = groups.flatMap(({limits}) => limits.map(({path}) => path));
    const before = useMemo<Texts>(() => Object.fromEntries(paths.map((path) => [path, textOf(at(config, path))])), []);
    const [texts, setTexts] = useState(before);
    const [refusal, setRefusal] = useState(none);
    const [waits, setWaits] = useState(false);
    const form = useRef<HTMLFormElement>(null);
    useEffect(() => form.current?.querySelector<HTMLElement>(".input")?.focus(), []);
    const changes = changesOf(before, texts);
    const changed = paths.filter((path) => texts[path]!.trim() !== before[path]!.trim());
    const plans = usePlans(config, before, texts, paths, (fields) => setRefusal((old) => ({...old, fields: {...old.fields, ...fields}})));
    const isPlanned = !changed.includes("searcher.max_trials") || !createsNone(experiment, valueOf(texts["searcher.max_trials"]!));
    const lines = [...planLines(isPlanned ? plans : undefined, experiment), ...consequences(experiment, config, texts, changed)];
    const isEnded = experiment.ended_at !== null;
    const save = async (event: Event) => {
        event.preventDefault();
        if (waits || changed.length === 0) return;
        setWaits(true);
        setRefusal(none);
        frame.hold(true);
        try {
            await change("PATCH", `experiments/${experiment.id}`, changes);
            announce(t("limits.done"));
            reread(`experiments/${experiment.id}/config`);
            done();
            frame.hold(false);
            frame.close();
        } catch (cause) {
            frame.hold(false);
            setWaits(false);
            const said = cause instanceof Problem ? linesOf(cause.problems) || cause.message || t("state.unreachable") : String(cause);
            const {fields, rest} = refusalOf(said, paths);
            setRefusal({fields, rest: rest || t("limits.refused")});
            requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
        }
    };
    return (
        <form ref={form} onSubmit={save}>
            <p class="muted">{t(isEnded ? "limits.text_ended" : "limits.text")}</p>
            {groups.map(({title, limits}) => (
                <fieldset key={title}>
                    <legend>{title}</legend>
                    {limits.map((limit) => (
                        <LimitField
                            key={limit.path}
                            limit={limit}
                            text={texts[limit.path]!}
                            before={before[limit.path]!}
                            problem={refusal.fields[limit.path]}
                            onChange={(text) => {
                                setTexts({...texts, [limit.path]: text});
                                const {[limit.path]: _, ...others} = refusal.fields;
                                setRefusal({fields: others, rest: ""});
                            }}
                        />
                    ))}
                </fieldset>
            ))}
            <div class="dialog-foot">
                <div aria-live="polite">
                    {lines.length > 0 && (
                        <>
                            <h3>{t("limits.follows")}</h3>
                            <ul>
                                {lines.map((line) => (
                                    <li key={line}>{line}</li>
                                ))}
                            </ul>
                        </>
                    )}
                </div>
                <div role="alert">{refusal.rest !== "" && <p class="field-problem">{refusal.rest}</p>}</div>
                <div class="dialog-actions">
                    <button type="button" class="button" disabled={waits} onClick={frame.close}>
                        {t("dialog.back")}
                    </button>
                    <button type="submit" class={`button primary${waits ? " waits" : ""}`} disabled={waits || changed.length === 0}>
                        {t("limits.change")}
                    </button>
                </div>
            </div>
        </form>
    );
}

function Limits({experiment: {id, name}, frame, done}: {experiment: ExperimentSummary; frame: Frame; done: () => void}) {
    const [read, setRead] = useState<{experiment: Experiment; config: Config} | undefined>();
    const [problem, setProblem] = useState("");
    useEffect(() => {
        void Promise.all([get<Experiment>(`experiments/${id}`), get<Config>(`experiments/${id}/config`)]).then(
            ([experiment, config]) => setRead({experiment, config}),
            (cause: Error) => setProblem(cause.message || t("state.unreachable")),
        );
    }, [id]);
    return (
        <div class="dialog-body">
            <h2>{t("limits.title", {name})}</h2>
            {read ? (
                <LimitsForm {...read} frame={frame} done={done} />
            ) : problem === "" ? (
                <Loading rows={4} />
            ) : (
                <p class="field-problem" role="alert">
                    {problem}
                </p>
            )}
        </div>
    );
}

export function askForLimits(experiment: ExperimentSummary, done: () => void): void {
    openDialog((frame) => <Limits experiment={experiment} frame={frame} done={done} />, "wide");
}
