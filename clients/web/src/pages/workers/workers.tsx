// Workers and their slots.
import type {ExperimentSummary, Worker} from "../../api/shapes";
import type {Slot} from "../../api/types";
import {useResource} from "../../state/resource";
import {t, tCount} from "../../i18n/texts";
import {formatNumber} from "../../i18n/format";
import {toldApart} from "../../i18n/names";
import {Empty, View} from "../../design/states";
import {Link} from "../../design/link";
import {Menu} from "../../design/menu";
import {SearchField} from "../../design/search_field";
import {StateMark} from "../../design/state_mark";
import {Queues} from "./queues";
import {SlotGrid, troubleOf, workerActions} from "./worker_parts";
import {countSlots, workerState} from "./worker_state";
import {readSlots, readWorkers} from "./read_workers";
import type {PageProps} from "../page_props";

const nameLetters = 40;

/// Why free slots get nothing: what waits, and for what.
function WhyFree() {
    const list = useResource<{experiments: readonly ExperimentSummary[]}>("experiments?state=ACTIVE&limit=50", {topic: "experiments", every: 3000});
    if (!list.data) return null;
    const waiting = list.data.experiments.filter((each) => each.waits_for);
    const told = toldApart(
        waiting.map((each) => each.name),
        nameLetters,
    );
    return (
        <div class={`note section${waiting.length === 0 ? "" : " tone-waiting"}`} role="status">
            {waiting.length === 0 ? (
                t("workers.nothing_waits")
            ) : (
                <>
                    {t("workers.free_but")}
                    <ul>
                        {waiting.slice(0, 5).map((each) => (
                            <li key={each.id}>
                                <Link class="in-text" to={`e/${each.id}`} title={each.name}>
                                    {each.id} {told.get(each.name)?.own}
                                </Link>
                                : {each.waits_for}
                            </li>
                        ))}
                    </ul>
                </>
            )}
        </div>
    );
}

export default function Workers({query}: PageProps) {
    const list = useResource<Worker[]>("workers#all", {topic: "workers", every: 1500, read: (_, signal) => readWorkers(signal)});
    const all = useResource<readonly Slot[] | null>("slots#all", {
        topic: "workers",
        every: 3000,
        read: async (_, signal) => (await readSlots(signal)) ?? null,
    });
    const slotsOf = (worker: Worker) => all.data?.filter((each) => each.worker === worker.id);
    const q = (query.get("q") ?? "").toLowerCase();
    const gone = query.get("gone") === "yes";
    return (
        <>
            <div class="section-head list-head">
                <h1>{t("nav.workers")}</h1>
            </div>
            <Queues />
            <View resource={list}>
                {(workers) => {
                    if (workers.length === 0)
                        return (
                            <Empty title={t("workers.empty")} command="hpsearch-worker --daemon ADDRESS --state-dir DIR">
                                <p>{t("workers.empty_text")}</p>
                            </Empty>
                        );
                    const present = workers.filter((each) => each.present);
                    const {slots, held, taken, free, out} = countSlots(present);
                    const shown = workers.filter(
                        (each) =>
                            (gone || each.present) &&
                            (q === "" ||
                                [each.name, each.pool, ...Object.entries(each.labels).map(([name, value]) => `${name}=${value}`)].some((text) =>
                                    text.toLowerCase().includes(q),
                                )),
                    );
                    return (
                        <>
                            <div class="figures workers-figures">
                                <div>
                                    <div class="figure-label">{t("nav.workers")}</div>
                                    <div class="figure-value">{formatNumber(present.length)}</div>
                                </div>
                                <div>
                                    <div class="figure-label">{t("workers.slots_busy")}</div>
                                    <div class="figure-value">
                                        {formatNumber(held)} <span class="muted of">/ {formatNumber(slots)}</span>
                                    </div>
                                </div>
                                <div>
                                    <div class="figure-label">{t("workers.slots_free")}</div>
                                    <div class="figure-value">{formatNumber(free)}</div>
                                </div>
                                {taken > 0 && (
                                    <div>
                                        <div class="figure-label">{t("workers.slots_taken")}</div>
                                        <div class="figure-value">{formatNumber(taken)}</div>
                                    </div>
                                )}
                                <div>
                                    <div class="figure-label">{t("workers.slots_out")}</div>
                                    <div class="figure-value">{formatNumber(out)}</div>
                                </div>
                            </div>
                            {free > 0 && <WhyFree />}
                            <div class="toolbar section">
                                {workers.length > present.length && (
                                    <button class="chip" aria-pressed={gone} onClick={() => query.set({gone: gone ? "" : "yes"})}>
                                        {tCount("workers.gone", workers.length - present.length)}
                                    </button>
                                )}
                                <div class="push">
                                    <SearchField
                                        value={query.get("q") ?? ""}
                                        label={t("workers.search")}
                                        onInput={(text) => query.set({q: text}, {replace: true})}
                                    />
                                </div>
                            </div>
                            <div class="scroll-x">
                                <table class="table workers">
                                    <caption class="unseen">{t("nav.workers")}</caption>
                                    <thead>
                                        <tr>
                                            <th scope="col">{t("list.name")}</th>
                                            <th scope="col">{t("list.state")}</th>
                                            <th scope="col">{t("workers.slots")}</th>
                                            <th scope="col">{t("workers.pool")}</th>
                                            <th scope="col">{t("workers.labels")}</th>
                                            <th scope="col">
                                                <span class="unseen">{t("keys.actions")}</span>
                                            </th>
                                        </tr>
                                    </thead>
                                    <tbody>
                                        {shown.map((each) => (
                                            <tr key={each.id} data-row>
                                                <td>
                                                    <Link to={`workers/${each.id}`} class="strong row-name" data-open>
                                                        {each.name}
                                                    </Link>
                                                    {troubleOf(each).map((text, index) => (
                                                        <span key={index} class="row-sub bad">
                                                            {text}
                                                        </span>
                                                    ))}
                                                </td>
                                                <td>
                                                    <StateMark state={workerState(each)} />
                                                </td>
                                                <td class="slot-cell">
                                                    <SlotGrid worker={each} slots={slotsOf(each)} />
                                                    <span class="row-sub">
                                                        {each.slots_held} / {each.slots} {each.slot_kind}
                                                    </span>
                                                </td>
                                                <td>{each.pool}</td>
                                                <td>
                                                    {Object.entries(each.labels).map(([name, value]) => (
                                                        <span class="tag" key={name}>
                                                            {name}={value}
                                                        </span>
                                                    ))}
                                                </td>
                                                <td class="number">
                                                    <Menu label={t("action.more")} name="worker" items={workerActions(each, list.reload)} />
                                                </td>
                                            </tr>
                                        ))}
                                    </tbody>
                                </table>
                            </div>
                        </>
                    );
                }}
            </View>
        </>
    );
}
