// The list of experiments.
import {useMemo, useState} from "preact/hooks";
import {daemonNow, get, Problem} from "../api/client";
import {isServed} from "../api/served";
import {numberOf, type ExperimentSummary} from "../api/shapes";
import type {Message} from "../live/stream";
import {useResource} from "../state/resource";
import type {Query} from "../state/router";
import {t, tCount, tWord, type TextKey} from "../i18n/texts";
import {toldApart} from "../i18n/names";
import {Link} from "../design/link";
import {Empty, View} from "../design/states";
import {toneOf} from "../design/state_mark";
import {SearchField} from "../design/search_field";
import {Menu} from "../design/menu";
import {useNow} from "../design/now";
import {bulkActions} from "./bulk_actions";
import {type experimentOrders, experimentStates} from "./page_state";
import {nameLetters, nameOf, Row} from "./experiment_row";
import type {PageProps} from "./page_props";

interface List {
    readonly experiments: readonly ExperimentSummary[];
    readonly more: boolean;
}

const pageSize = 500;
const firstPages = 4;

/// Pages of the list, the newest first. A daemon without sorted lists answers 400; then pages come by number.
async function readList(signal: AbortSignal, pages: number, archived: boolean): Promise<List> {
    const read = async (fixed: string) => {
        const experiments: ExperimentSummary[] = [];
        let after = "";
        for (let page = 0; page < pages; page += 1) {
            const answer = await get<{experiments: ExperimentSummary[]; next: number | string | null}>(
                `experiments?limit=${pageSize}${archived ? "&archived=true" : ""}${fixed}${after}`,
                signal,
            );
            experiments.push(...answer.experiments);
            if (answer.next === null) return {experiments, more: false};
            after = `&after=${encodeURIComponent(String(answer.next))}`;
        }
        return {experiments, more: true};
    };
    try {
        return await read("&sort=-created_at");
    } catch (cause) {
        if (cause instanceof Problem && cause.status === 400) return read("");
        throw cause;
    }
}

function merged(message: Message, old: List): List | undefined {
    const changes = message["experiments"];
    if (!Array.isArray(changes)) return undefined;
    const byId = new Map(old.experiments.map((each) => [each.id, each]));
    for (const each of changes as ExperimentSummary[])
        if (each.archived) byId.delete(each.id);
        else byId.set(each.id, {...byId.get(each.id), ...each});
    if (Array.isArray(message["removed"])) for (const id of message["removed"] as number[]) byId.delete(id);
    return {...old, experiments: [...byId.values()]};
}

const sortKeys: Readonly<Record<(typeof experimentOrders)[number], (each: ExperimentSummary) => number | string>> = {
    name: (each) => each.name.toLowerCase(),
    state: (each) => experimentStates.indexOf(each.state as never),
    progress: (each) => each.progress ?? 0,
    best: (each) => numberOf(each.best?.metric),
    trials: (each) => each.trials_total,
    created: (each) => each.created_at,
};

function compareBy(sort: string): (a: ExperimentSummary, b: ExperimentSummary) => number {
    const down = sort.startsWith("-");
    const key = sortKeys[(down ? sort.slice(1) : sort) as keyof typeof sortKeys] ?? sortKeys.created;
    return (a, b) => {
        const x = key(a);
        const y = key(b);
        if (x !== x || y !== y) return x !== x ? (y !== y ? 0 : 1) : -1;
        const order = x < y ? -1 : x > y ? 1 : a.id - b.id;
        return down ? -order : order;
    };
}

function SortHead({query, name, label, number = false}: {query: Query; name: string; label: TextKey; number?: boolean}) {
    const sort = query.get("sort") ?? "-created";
    const current = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
    const next = current === "none" ? (number ? `-${name}` : name) : current === "ascending" ? `-${name}` : name;
    return (
        <th scope="col" class={number ? "number" : ""} aria-sort={current}>
            <button class="sort" onClick={() => query.set({sort: next})}>
                {t(label)}
                <span aria-hidden="true">{current === "ascending" ? " ↑" : current === "descending" ? " ↓" : ""}</span>
            </button>
        </th>
    );
}

export default function Experiments({query}: PageProps) {
    const [pages, setPages] = useState(firstPages);
    const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
    const wanted = query.list("state");
    const q = query.get("q") ?? "";
    const workspace = query.get("workspace") ?? "";
    const archived = query.get("archived") === "yes";
    const starred = query.get("starred") === "yes";
    const list = useResource<List>(`experiments?pages=${pages}${archived ? "&archived" : ""}`, {
        topic: "experiments",
        ...(archived ? {} : {merge: merged}),
        read: (_, signal) => readList(signal, pages, archived),
    });
    useNow();
    const now = daemonNow();
    const sort = query.get("sort") ?? "-created";
    const all = list.data?.experiments ?? [];
    const workspaces = useMemo(() => [...new Set(all.map((each) => each.workspace ?? ""))].filter((each) => each !== "").sort(), [all]);
    const found = useMemo(() => {
        const needle = q.toLowerCase();
        return all
            .filter((each) => workspace === "" || each.workspace === workspace)
            .filter((each) => !starred || each.starred)
            .filter(
                (each) =>
                    needle === "" ||
                    [each.name, each.searcher, each.owner, each.note, String(each.id), ...each.labels].some((text) =>
                        text.toLowerCase().includes(needle),
                    ),
            );
    }, [all, q, workspace, starred]);
    const shown = useMemo(
        () => found.filter((each) => wanted.length === 0 || wanted.includes(each.state)).sort(compareBy(sort)),
        [found, wanted.join(), sort],
    );
    const told = useMemo(() => toldApart(all.map(nameOf), nameLetters), [all]);
    const selected = shown.filter((each) => chosen.has(each.id));
    const toggleState = (state: string) =>
        query.set({state: (wanted.includes(state) ? wanted.filter((each) => each !== state) : [...wanted, state]).join(",")});
    const choose = (id: number) => {
        const next = new Set(chosen);
        if (!next.delete(id)) next.add(id);
        setChosen(next);
    };
    return (
        <>
            <div class="section-head list-head">
                <h1>{t("nav.experiments")}</h1>
            </div>
            <View resource={list} rows={8}>
                {(data) =>
                    data.experiments.length === 0 && !archived ? (
                        <Empty title={t("list.empty")} command={"hpsearch submit experiment.yaml"}>
                            <p>{t("list.empty_text")}</p>
                            <p>
                                <Link to="new" class="button primary">
                                    {t("nav.new")}
                                </Link>
                            </p>
                        </Empty>
                    ) : (
                        <>
                            <div class="toolbar">
                                <div class="chips" role="group" aria-label={t("list.by_state")}>
                                    {experimentStates.map((state) => {
                                        const count = found.filter((each) => each.state === state).length;
                                        return (
                                            (count > 0 || wanted.includes(state)) && (
                                                <button
                                                    key={state}
                                                    class={`chip tone-${toneOf(state)}`}
                                                    aria-pressed={wanted.includes(state)}
                                                    onClick={() => toggleState(state)}
                                                >
                                                    {tWord("state", state)} <span class="count">{count}</span>
                                                </button>
                                            )
                                        );
                                    })}
                                </div>
                                {(starred || all.some((each) => each.starred)) && (
                                    <button class="chip" aria-pressed={starred} onClick={() => query.set({starred: starred ? "" : "yes"})}>
                                        ★ {t("annotation.starred")}
                                    </button>
                                )}
                                {isServed("/experiments/{experiment}/archive", "post") && (
                                    <button class="chip" aria-pressed={archived} onClick={() => query.set({archived: archived ? "" : "yes"})}>
                                        {t("list.archived_only")}
                                    </button>
                                )}
                                {workspaces.length > 1 && (
                                    <select
                                        class="select"
                                        aria-label={t("form.workspace")}
                                        value={workspace}
                                        onChange={(event) => query.set({workspace: event.currentTarget.value})}
                                    >
                                        <option value="">{t("list.all_workspaces")}</option>
                                        {workspaces.map((each) => (
                                            <option key={each} value={each}>
                                                {each}
                                            </option>
                                        ))}
                                    </select>
                                )}
                                <div class="push chips">
                                    {selected.length > 0 && (
                                        <Menu
                                            label={tCount("list.selected", selected.length)}
                                            name="bulk"
                                            items={bulkActions(selected, () => {
                                                setChosen(new Set());
                                                list.reload();
                                            })}
                                        />
                                    )}
                                    <SearchField value={q} label={t("list.search")} onInput={(text) => query.set({q: text}, {replace: true})} />
                                </div>
                            </div>
                            {shown.length === 0 ? (
                                <Empty title={t("list.nothing_found")}>
                                    <button class="button" onClick={() => query.set({q: "", state: "", archived: "", starred: ""})}>
                                        {t("list.clear")}
                                    </button>
                                </Empty>
                            ) : (
                                <div class="scroll-x">
                                    <table class="table list">
                                        <caption class="unseen">{t("nav.experiments")}</caption>
                                        <thead>
                                            <tr>
                                                <th class="check">
                                                    <input
                                                        type="checkbox"
                                                        aria-label={t("list.choose_all")}
                                                        checked={selected.length > 0 && selected.length === shown.length}
                                                        onChange={() =>
                                                            setChosen(
                                                                selected.length === shown.length ? new Set() : new Set(shown.map((each) => each.id)),
                                                            )
                                                        }
                                                    />
                                                </th>
                                                <SortHead query={query} name="name" label="list.name" />
                                                <SortHead query={query} name="state" label="list.state" />
                                                <SortHead query={query} name="progress" label="list.progress" />
                                                <SortHead query={query} name="best" label="list.best" number />
                                                <SortHead query={query} name="trials" label="list.trials" />
                                                <th scope="col" class="number hide-narrow">
                                                    {t("list.running")}
                                                </th>
                                                <th
                                                    scope="col"
                                                    class="number hide-narrow"
                                                    aria-sort={
                                                        sort.endsWith("created") ? (sort.startsWith("-") ? "descending" : "ascending") : "none"
                                                    }
                                                >
                                                    <button
                                                        class="sort"
                                                        onClick={() => query.set({sort: sort === "-created" ? "created" : "-created"})}
                                                    >
                                                        {t("list.created")}
                                                        {sort === "-created" ? " ↓" : sort === "created" ? " ↑" : ""}
                                                    </button>
                                                </th>
                                            </tr>
                                        </thead>
                                        <tbody>
                                            {shown.map((each) => (
                                                <Row
                                                    key={each.id}
                                                    each={each}
                                                    told={told.get(nameOf(each))}
                                                    now={now}
                                                    chosen={chosen.has(each.id)}
                                                    choose={() => choose(each.id)}
                                                />
                                            ))}
                                        </tbody>
                                    </table>
                                </div>
                            )}
                            {data.more && (
                                <p>
                                    <button class="button" onClick={() => setPages(pages * 4)}>
                                        {t("list.more")}
                                    </button>
                                </p>
                            )}
                        </>
                    )
                }
            </View>
        </>
    );
}
