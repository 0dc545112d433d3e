// Hyperparameters as a table of name, type and range.
import {useState} from "preact/hooks";
import {printExact} from "../api/exact";
import {t} from "../i18n/texts";
import type {Yaml} from "./yaml";
import {valueAt, withValue, type Draft, type Tree} from "./draft";

const types = ["double", "log", "int", "categorical", "const"] as const;
type Kind = (typeof types)[number];
/// The first is the default.
const scales = ["linear", "log"] as const;

/// The kind of an entry, or undefined for one that only the text can express, such as nested spaces.
export function kindOf(entry: Yaml | undefined): Kind | undefined {
    if (typeof entry !== "object" || entry === null) return "const";
    if (Array.isArray(entry)) return "const";
    const {type} = entry;
    return types.find((each) => each === type);
}

const isNumber = (kind: Kind | undefined): boolean => kind === "int" || kind === "double";

const numberOr = (text: string): Yaml => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

function choices(text: string): Yaml[] {
    return text
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== "")
        .map((word) => (word === "true" ? true : word === "false" ? false : numberOr(word)));
}

function withField(fields: Tree, name: string, value: Yaml | undefined): Tree {
    const {[name]: _, ...others} = fields;
    return value === undefined ? others : {...others, [name]: value};
}

const initial: Readonly<Record<Kind, Yaml>> = {
    double: {type: "double", minval: 0, maxval: 1},
    log: {type: "log", base: 10, minval: -4, maxval: -1},
    int: {type: "int", minval: 1, maxval: 10},
    categorical: {type: "categorical", vals: ["a", "b"]},
    const: 1,
};

/// A field that keeps what is typed until it is left, so that "1." is not read as 1 too early.
function Cell({value, label, onChange, wide = false}: {value: string; label: string; onChange: (text: string) => void; wide?: boolean}) {
    const [text, setText] = useState<string | undefined>();
    return (
        <input
            class={`input${wide ? " wide" : ""}`}
            aria-label={label}
            value={text ?? value}
            onInput={(event) => setText(event.currentTarget.value)}
            onBlur={() => {
                if (text !== undefined && text !== value) onChange(text);
                setText(undefined);
            }}
            onKeyDown={(event) => {
                if (event.key === "Enter") event.currentTarget.blur();
            }}
        />
    );
}

export function SpaceTable({draft, onChange}: {draft: Draft; onChange: (draft: Draft) => void}) {
    const space = (valueAt(draft.tree, ["hyperparameters"]) ?? {}) as Tree;
    const names = typeof space === "object" && space !== null && !Array.isArray(space) ? Object.keys(space) : [];
    const hasNumbers = names.some((name) => isNumber(kindOf(space[name])));
    const put = (name: string, value: Yaml | undefined) => onChange(withValue(draft, ["hyperparameters", name], value));
    const rename = (from: string, to: string) => {
        if (to === "" || Object.hasOwn(space, to)) return;
        onChange(
            withValue(
                draft,
                ["hyperparameters"],
                Object.fromEntries(Object.entries(space).map(([name, entry]) => [name === from ? to : name, entry])),
            ),
        );
    };
    const add = () => {
        let name = "parameter";
        for (let n = 2; Object.hasOwn(space, name); n += 1) name = `parameter_${n}`;
        put(name, initial.double);
    };
    return (
        <>
            <div class="scroll-x">
                <table class="table space">
                    <caption class="unseen">{t("trial.hparams")}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{t("list.name")}</th>
                            <th scope="col">{t("form.type")}</th>
                            <th scope="col">{t("form.range")}</th>
                            {hasNumbers && <th scope="col">{t("form.step")}</th>}
                            {hasNumbers && <th scope="col">{t("form.scale")}</th>}
                            <th scope="col">
                                <span class="unseen">{t("form.remove")}</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {names.map((name) => {
                            const entry = space[name];
                            const kind = kindOf(entry);
                            const fields = (typeof entry === "object" && entry !== null && !Array.isArray(entry) ? entry : {}) as Tree;
                            return (
                                <tr key={name}>
                                    <td>
                                        <Cell value={name} label={t("list.name")} onChange={(text) => rename(name, text.trim())} />
                                    </td>
                                    <td>
                                        {kind === undefined ? (
                                            <span class="muted">{t("form.only_text")}</span>
                                        ) : (
                                            <select
                                                class="select"
                                                aria-label={t("form.type_of", {name})}
                                                value={kind}
                                                onChange={(event) => put(name, initial[event.currentTarget.value as Kind])}
                                            >
                                                {types.map((each) => (
                                                    <option key={each} value={each}>
                                                        {each}
                                                    </option>
                                                ))}
                                            </select>
                                        )}
                                    </td>
                                    <td>
                                        {kind === undefined ? (
                                            <code class="small">{printExact(entry).slice(0, 60)}</code>
                                        ) : kind === "const" ? (
                                            <Cell
                                                wide
                                                value={typeof entry === "object" && entry !== null ? printExact(entry) : String(entry)}
                                                label={t("form.value_of", {name})}
                                                onChange={(text) => put(name, numberOr(text))}
                                            />
                                        ) : kind === "categorical" ? (
                                            <Cell
                                                wide
                                                value={(Array.isArray(fields["vals"]) ? fields["vals"] : []).map(String).join(", ")}
                                                label={t("form.values_of", {name})}
                                                onChange={(text) => put(name, {...fields, vals: choices(text)})}
                                            />
                                        ) : (
                                            <span class="range">
                                                {kind === "log" && <span class="muted">{String(fields["base"] ?? 10)}^</span>}
                                                <Cell
                                                    value={String(fields["minval"] ?? "")}
                                                    label={t("form.from_of", {name})}
                                                    onChange={(text) => put(name, {...fields, minval: numberOr(text)})}
                                                />
                                                <span class="muted">{t("form.to")}</span>
                                                {kind === "log" && <span class="muted">{String(fields["base"] ?? 10)}^</span>}
                                                <Cell
                                                    value={String(fields["maxval"] ?? "")}
                                                    label={t("form.to_of", {name})}
                                                    onChange={(text) => put(name, {...fields, maxval: numberOr(text)})}
                                                />
                                            </span>
                                        )}
                                    </td>
                                    {hasNumbers && (
                                        <td>
                                            {isNumber(kind) && (
                                                <Cell
                                                    value={String(fields["step"] ?? "")}
                                                    label={t("form.step_of", {name})}
                                                    onChange={(text) =>
                                                        put(name, withField(fields, "step", text.trim() === "" ? undefined : numberOr(text)))
                                                    }
                                                />
                                            )}
                                        </td>
                                    )}
                                    {hasNumbers && (
                                        <td>
                                            {isNumber(kind) && (
                                                <select
                                                    class="select"
                                                    aria-label={t("form.scale_of", {name})}
                                                    value={String(fields["scale"] ?? scales[0])}
                                                    onChange={(event) =>
                                                        put(
                                                            name,
                                                            withField(
                                                                fields,
                                                                "scale",
                                                                event.currentTarget.value === scales[0] ? undefined : event.currentTarget.value,
                                                            ),
                                                        )
                                                    }
                                                >
                                                    {scales.map((each) => (
                                                        <option key={each}>{each}</option>
                                                    ))}
                                                </select>
                                            )}
                                        </td>
                                    )}
                                    <td>
                                        <button
                                            type="button"
                                            class="icon-button"
                                            aria-label={t("form.remove_of", {name})}
                                            onClick={() => put(name, undefined)}
                                        >
                                            ×
                                        </button>
                                    </td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
            <button type="button" class="button" onClick={add}>
                {t("form.add")}
            </button>
        </>
    );
}
