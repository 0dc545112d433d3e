// The fields of the form. Each edits one place of the text.
import {useId, useState} from "preact/hooks";
import type {ComponentChildren} from "preact";
import {t, type TextKey} from "../i18n/texts";
import type {Yaml} from "./yaml";
import {useResource} from "../state/resource";
import {joinCommand, splitCommand, textAt, valueAt, withValue, type Draft, type Tree} from "./draft";
import {SpaceTable} from "./space_table";

interface Props {
    readonly draft: Draft;
    readonly onChange: (draft: Draft) => void;
    /// Problems that the daemon found, by path.
    readonly wrong: ReadonlyMap<string, string>;
}

function Text({
    draft,
    onChange,
    wrong,
    path,
    label,
    number = false,
    hint,
    command = false,
}: Props & {path: readonly string[]; label: TextKey; number?: boolean; hint?: string; command?: boolean}) {
    // While it is typed, "1." stays as it is, though the text has 1.
    const [typed, setTyped] = useState<string | undefined>();
    const id = useId();
    const now = command ? joinCommand(valueAt(draft.tree, path)) : textAt(draft.tree, path);
    const problem = wrong.get(path.join("."));
    const put = (text: string) => {
        if (text === now) return;
        const value: Yaml | undefined =
            text.trim() === "" ? undefined : command ? splitCommand(text) : number && Number.isFinite(Number(text)) ? Number(text) : text;
        onChange(withValue(draft, path, value));
    };
    return (
        <label class={`field${command ? " span" : ""}`} for={id}>
            <span>{t(label)}</span>
            <input
                id={id}
                class={`input${command ? " mono" : ""}`}
                inputMode={number ? "decimal" : "text"}
                value={typed ?? now}
                placeholder={hint}
                aria-invalid={problem !== undefined}
                aria-describedby={problem ? `${id}-problem` : undefined}
                spellcheck={false}
                onInput={(event) => {
                    setTyped(event.currentTarget.value);
                    put(event.currentTarget.value);
                }}
                onBlur={() => setTyped(undefined)}
            />
            {problem && (
                <span class="field-problem" id={`${id}-problem`}>
                    {problem}
                </span>
            )}
        </label>
    );
}

function Choice({
    draft,
    onChange,
    path,
    label,
    options,
    fallback,
}: Props & {path: readonly string[]; label: TextKey; options: readonly (readonly [string, string])[]; fallback: string}) {
    const now = textAt(draft.tree, path) || fallback;
    const known = options.some(([value]) => value === now) ? options : [...options, [now, now] as const];
    return (
        <label class="field">
            <span>{t(label)}</span>
            <select
                class="select"
                value={now}
                onChange={(event) => {
                    const {value} = event.currentTarget;
                    onChange(withValue(draft, path, value === "true" ? true : value === "false" ? false : value));
                }}
            >
                {known.map(([value, text]) => (
                    <option key={value} value={value}>
                        {text}
                    </option>
                ))}
            </select>
        </label>
    );
}

/// {epochs: 27}: a number and its unit.
function Length(props: Props) {
    const {draft, onChange, wrong} = props;
    const path = ["searcher", "max_length"];
    const value = valueAt(draft.tree, path);
    const map = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
    const unit = Object.keys(map)[0] ?? "epochs";
    const problem = wrong.get("searcher.max_length");
    return (
        <label class="field">
            <span>{t("form.max_length")}</span>
            <span class="pair">
                <input
                    class="input"
                    inputMode="numeric"
                    aria-label={t("form.max_length")}
                    aria-invalid={problem !== undefined}
                    value={typeof value === "number" ? String(value) : String(map[unit] ?? "")}
                    onChange={(event) => onChange(withValue(draft, path, {[unit]: Number(event.currentTarget.value)}))}
                />
                <select
                    class="select"
                    aria-label={t("form.unit")}
                    value={unit}
                    onChange={(event) => onChange(withValue(draft, path, {[event.currentTarget.value]: map[unit] ?? 1}))}
                >
                    {["epochs", "batches", "records"].map((each) => (
                        <option key={each}>{each}</option>
                    ))}
                </select>
            </span>
            {problem && <span class="field-problem">{problem}</span>}
        </label>
    );
}

function Section({title, children}: {title: string; children: ComponentChildren}) {
    return (
        <fieldset class="form-section">
            <legend>{title}</legend>
            {children}
        </fieldset>
    );
}

const conditionExample = "batch_size * width <= 65536";

/// Conditions of `where`, one on each line.
function Conditions({draft, onChange, wrong}: Props) {
    const id = useId();
    const value = valueAt(draft.tree, ["where"]);
    const now = (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]).map(String).join("\n");
    const problem = [...wrong].find(([path]) => path === "where" || path.startsWith("where["))?.[1];
    return (
        <label class="field span" for={id}>
            <span>{t("form.where")}</span>
            <textarea
                id={id}
                class="input mono"
                rows={Math.max(1, now.split("\n").length)}
                placeholder={conditionExample}
                aria-invalid={problem !== undefined}
                spellcheck={false}
                value={now}
                onChange={(event) => {
                    const lines = event.currentTarget.value.split("\n").filter((line) => line.trim() !== "");
                    onChange(withValue(draft, ["where"], lines.length === 0 ? undefined : lines));
                }}
            />
            {problem && <span class="field-problem">{problem}</span>}
        </label>
    );
}

/// The samplers that the searcher takes, as its schema has them.
function Sampler(props: Props & {searcher: string}) {
    const schema = useResource<{properties: {sampler?: {enum: readonly (string | null)[]; default: string}}}>(`searchers/${props.searcher}/schema`);
    const sampler = schema.data?.properties.sampler;
    if (!sampler) return null;
    const names = sampler.enum.filter((name) => name !== null);
    return (
        <Choice
            {...props}
            path={["searcher", "sampler"]}
            label="form.sampler"
            fallback={sampler.default}
            options={names.map((name) => [name, name] as const)}
        />
    );
}

const early = (name: string) => name === "adaptive_asha" || name === "async_halving";

export function FormFields(props: Props & {searchers: readonly string[]; files: ComponentChildren}) {
    const {draft} = props;
    const searcher = textAt(draft.tree as Tree, ["searcher", "name"]) || "adaptive_asha";
    return (
        <>
            <Section title={t("form.what")}>
                <div class="form-grid">
                    <Text {...props} path={["name"]} label="list.name" />
                    <Text {...props} path={["description"]} label="form.description" />
                    <Text {...props} path={["workspace"]} label="form.workspace" hint="default" />
                    <Text {...props} path={["project"]} label="form.project" hint="default" />
                </div>
            </Section>
            <Section title={t("form.program")}>
                <div class="form-grid">
                    <Text {...props} path={["entrypoint"]} label="form.entrypoint" command hint="python3 train.py" />
                </div>
                {props.files}
                <div class="form-grid">
                    <Text {...props} path={["resources", "slots_per_trial"]} label="form.slots" number hint="1" />
                    <Text {...props} path={["environment", "image"]} label="form.image" hint={t("form.no_image")} />
                </div>
            </Section>
            <Section title={t("trial.hparams")}>
                <SpaceTable draft={draft} onChange={props.onChange} />
                <div class="form-grid">
                    <Conditions {...props} />
                </div>
                {props.wrong.get("hyperparameters") && <p class="field-problem">{props.wrong.get("hyperparameters")}</p>}
            </Section>
            <Section title={t("form.search")}>
                <div class="form-grid">
                    <Choice
                        {...props}
                        path={["searcher", "name"]}
                        label="overview.searcher"
                        fallback="adaptive_asha"
                        options={props.searchers.map((name) => [name, name] as const)}
                    />
                    <Sampler {...props} searcher={searcher} />
                    <Text {...props} path={["searcher", "metric"]} label="overview.metric" />
                    <Choice
                        {...props}
                        path={["searcher", "smaller_is_better"]}
                        label="form.direction"
                        fallback="true"
                        options={[
                            ["true", t("overview.smaller")],
                            ["false", t("overview.larger")],
                        ]}
                    />
                    <Length {...props} />
                    {searcher !== "grid" && searcher !== "single" && (
                        <Text {...props} path={["searcher", "max_trials"]} label="form.max_trials" number />
                    )}
                    {early(searcher) && <Text {...props} path={["searcher", "divisor"]} label="form.divisor" number hint="4" />}
                    <Text {...props} path={["searcher", "max_concurrent_trials"]} label="form.concurrent" number hint="16" />
                </div>
            </Section>
            <Section title={t("form.limits")}>
                <div class="form-grid">
                    <Text {...props} path={["resources", "priority"]} label="form.priority" number hint="50" />
                    <Text {...props} path={["resources", "resource_pool"]} label="workers.pool" hint="default" />
                    <Text {...props} path={["max_restarts"]} label="form.restarts" number hint="5" />
                    <Text {...props} path={["budget", "max_slot_hours"]} label="form.slot_hours" number hint={t("form.no_limit")} />
                    <Text {...props} path={["checkpoint_storage", "save_trial_best"]} label="form.save_best" number hint="1" />
                    <Text {...props} path={["checkpoint_storage", "save_trial_latest"]} label="form.save_latest" number hint="1" />
                </div>
            </Section>
        </>
    );
}
