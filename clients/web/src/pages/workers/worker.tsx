// One worker: slots, devices, what runs there.
import type {Worker} from "../../api/shapes";
import type {AttemptLoad, Slot} from "../../api/types";
import {useResource} from "../../state/resource";
import {t, tWord} from "../../i18n/texts";
import {formatBytes, formatNumber, formatPercent} from "../../i18n/format";
import {Empty, View} from "../../design/states";
import {Link} from "../../design/link";
import {Menu} from "../../design/menu";
import {StateMark} from "../../design/state_mark";
import {SlotGrid, slotWhy, troubleOf, workerActions} from "./worker_parts";
import {workerState} from "./worker_state";
import {readSlots, readWorkers} from "./read_workers";
import {Lazy} from "../lazy";
import type {PageProps} from "../page_props";

const loadPast = () => import("../plot_pages").then((pages) => ({default: pages.WorkerPast}));

/// Each slot: what it does, and why if it does nothing.
function SlotTable({worker}: {worker: Worker}) {
    const slots = useResource<readonly Slot[] | null>(`slots#${worker.id}`, {
        topic: "workers",
        every: 1500,
        read: async (_, signal) => (await readSlots(signal, worker.id)) ?? null,
    });
    if (!slots.data || slots.data.length === 0) return <SlotGrid worker={worker} />;
    return (
        <div class="scroll-x">
            <table class="table">
                <caption class="unseen">{t("workers.slots")}</caption>
                <thead>
                    <tr>
                        <th scope="col">{t("plot.timeline.slot_name")}</th>
                        <th scope="col">{t("list.state")}</th>
                        <th scope="col">{t("workers.runs_or_why")}</th>
                    </tr>
                </thead>
                <tbody>
                    {slots.data.map((each) => (
                        <tr key={each.slot}>
                            <td>
                                {each.slot}
                                {each.device && <span class="muted small"> {each.device.name}</span>}
                            </td>
                            <td>{tWord("slot_state", each.state)}</td>
                            <td>
                                {each.experiment !== null ? (
                                    <Link class="in-text" to={`e/${each.experiment}/t/${each.trial}`}>
                                        {t("workers.slot_busy", {experiment: each.experiment, trial: each.trial ?? 0})}
                                    </Link>
                                ) : each.state === "busy" ? (
                                    t("workers.slot_held")
                                ) : (
                                    slotWhy(each, worker)
                                )}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

/// Cores, memory and devices that an attempt uses now; "–" where one was not measured.
function Load({load}: {load: AttemptLoad | undefined}) {
    return (
        <>
            <td>{formatNumber(load?.cores, 2)}</td>
            <td>{formatBytes(load?.memory_bytes)}</td>
            <td>
                {load?.devices.map((each) => (
                    <div key={each.index}>
                        {each.index}: {formatPercent(each.utilization && each.utilization / 100)}, {formatBytes(each.memory_bytes)}
                    </div>
                ))}
            </td>
        </>
    );
}

export default function WorkerPage({captured}: PageProps) {
    const id = Number(captured[0]);
    const list = useResource<Worker[]>("workers#all", {topic: "workers", every: 1500, read: (_, signal) => readWorkers(signal)});
    return (
        <View top resource={list}>
            {(workers) => {
                const worker = workers.find((each) => each.id === id);
                if (!worker) return <Empty top title={t("workers.no_worker", {id: captured[0] ?? ""})} ways={[["workers", "nav.workers"]]} />;
                const {devices} = worker;
                return (
                    <>
                        <header class="head">
                            <div class="head-title">
                                <p class="crumbs">
                                    <Link to="workers">{t("nav.workers")}</Link>
                                    <span>/</span>
                                    <span>{worker.id}</span>
                                </p>
                                <div class="head-line">
                                    <h1>{worker.name}</h1>
                                    <StateMark state={workerState(worker)} large />
                                </div>
                            </div>
                            <div class="head-actions">
                                <Menu label={t("action.more")} name="worker" items={workerActions(worker, list.reload)} />
                            </div>
                        </header>
                        <div class="page">
                            {troubleOf(worker).map((text, index) => (
                                <p key={index} class="note tone-bad">
                                    {text}
                                </p>
                            ))}
                            <div class="columns section">
                                <div>
                                    <section class="section">
                                        <div class="section-head">
                                            <h2>{t("workers.slots")}</h2>
                                        </div>
                                        <SlotTable worker={worker} />
                                    </section>
                                    <section class="section">
                                        <div class="section-head">
                                            <h2>{t("workers.running")}</h2>
                                        </div>
                                        {worker.attempts.length === 0 ? (
                                            <p class="muted">{t("workers.nothing_runs")}</p>
                                        ) : (
                                            <table class="table">
                                                <thead>
                                                    <tr>
                                                        <th scope="col">{t("tab.label")}</th>
                                                        <th scope="col">{t("column.trial")}</th>
                                                        <th scope="col">{t("log.attempt")}</th>
                                                        <th scope="col">{t("use.cores")}</th>
                                                        <th scope="col">{t("use.memory")}</th>
                                                        <th scope="col">{t("workers.devices")}</th>
                                                    </tr>
                                                </thead>
                                                <tbody>
                                                    {worker.attempts.map((each) => (
                                                        <tr key={`${each.experiment}/${each.trial}/${each.attempt}`}>
                                                            <td>
                                                                <Link to={`e/${each.experiment}`}>{each.experiment}</Link>
                                                            </td>
                                                            <td>
                                                                <Link to={`e/${each.experiment}/t/${each.trial}`}>{each.trial}</Link>
                                                            </td>
                                                            <td>{each.attempt}</td>
                                                            <Load
                                                                load={worker.loads?.find(
                                                                    ({experiment, trial}) => experiment === each.experiment && trial === each.trial,
                                                                )}
                                                            />
                                                        </tr>
                                                    ))}
                                                </tbody>
                                            </table>
                                        )}
                                    </section>
                                    <section class="section">
                                        <div class="section-head">
                                            <h2>{t("workers.past")}</h2>
                                        </div>
                                        <Lazy load={loadPast} props={{worker: worker.id}} />
                                    </section>
                                    {devices.length > 0 && (
                                        <section class="section">
                                            <div class="section-head">
                                                <h2>{t("workers.devices")}</h2>
                                            </div>
                                            <table class="table">
                                                <tbody>
                                                    {devices.map((each) => (
                                                        <tr key={each.uuid}>
                                                            <td>{each.index}</td>
                                                            <td>{each.name}</td>
                                                            <td class="mono small">{each.uuid}</td>
                                                            <td class="number">{formatBytes(each.memory_bytes)}</td>
                                                        </tr>
                                                    ))}
                                                </tbody>
                                            </table>
                                        </section>
                                    )}
                                </div>
                                <div>
                                    <section class="section">
                                        <div class="section-head">
                                            <h2>{t("trial.facts")}</h2>
                                        </div>
                                        <dl class="facts">
                                            <dt>{t("workers.pool")}</dt>
                                            <dd>{worker.pool}</dd>
                                            <dt>{t("workers.slots")}</dt>
                                            <dd>
                                                {worker.slots_held} / {worker.slots} {worker.slot_kind}
                                            </dd>
                                            <dt>{t("workers.labels")}</dt>
                                            <dd>
                                                {Object.entries(worker.labels)
                                                    .map(([name, value]) => `${name}=${value}`)
                                                    .join(", ") || "–"}
                                            </dd>
                                        </dl>
                                    </section>
                                </div>
                            </div>
                        </div>
                    </>
                );
            }}
        </View>
    );
}
