// Queues: which workers another scheduler is asked for, and why no more.
import {change} from "../../api/client";
import {isServed} from "../../api/served";
import type {Allocation, Queue, QueueList} from "../../api/types";
import {useResource} from "../../state/resource";
import {t, tWord} from "../../i18n/texts";
import {formatAgo, formatNumber} from "../../i18n/format";
import {ask} from "../../design/dialog";
import {Menu, type MenuItem} from "../../design/menu";
import {useNow} from "../../design/now";
import {StateMark} from "../../design/state_mark";

const mostShown = 10;

const stateOf = (queue: Queue) => (queue.state === "active" ? "ACTIVE" : queue.state === "paused" ? "PAUSED" : "STOPPING");

function actionsOf(queue: Queue, reload: () => void): MenuItem[] {
    const send = (what: string, body?: object) => async () => {
        await change("POST", `queues/${encodeURIComponent(queue.name)}/${what}`, body);
        reload();
    };
    if (!isServed("/queues/{queue}/pause") || queue.state === "removed") return [];
    return [
        queue.state === "paused" ? {label: t("queues.resume"), perform: send("resume")} : {label: t("queues.pause"), perform: send("pause")},
        {
            label: t("queues.remove_dots"),
            danger: true,
            perform: () =>
                ask({
                    title: t("queues.remove_title", {name: queue.name}),
                    body: t("queues.remove_effect"),
                    action: t("queues.remove"),
                    danger: true,
                    perform: send("remove", {at_once: false}),
                }),
        },
    ];
}

function Allocations({list}: {list: readonly Allocation[]}) {
    const now = useNow();
    if (list.length === 0) return null;
    return (
        <details>
            <summary>{t("queues.allocations")}</summary>
            <table class="table">
                <tbody>
                    {[...list]
                        .reverse()
                        .slice(0, mostShown)
                        .map((each) => (
                            <tr key={each.name}>
                                <td>{each.name}</td>
                                <td>{each.job ?? ""}</td>
                                <td>{tWord("allocation_state", each.end ?? each.state)}</td>
                                <td>{formatAgo(each.ended ?? each.started ?? each.wanted, now)}</td>
                                <td class="small">{each.canceling ?? each.detail}</td>
                            </tr>
                        ))}
                </tbody>
            </table>
        </details>
    );
}

/// Nothing where no queue was ever added.
export function Queues() {
    const list = useResource<QueueList>("queues", {topic: "workers", every: 3000});
    if (!list.data || list.data.queues.length === 0) return null;
    return (
        <section class="section">
            <div class="section-head">
                <h2>{t("queues.title")}</h2>
            </div>
            <div class="scroll-x">
                <table class="table queues">
                    <caption class="unseen">{t("queues.title")}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{t("list.name")}</th>
                            <th scope="col">{t("list.state")}</th>
                            <th scope="col">{t("queues.pending")}</th>
                            <th scope="col">{t("queues.running")}</th>
                            <th scope="col">{t("nav.workers")}</th>
                            <th scope="col">{t("queues.trials_waiting")}</th>
                            <th scope="col">
                                <span class="unseen">{t("keys.actions")}</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {list.data.queues.map((each) => (
                            <tr key={each.name}>
                                <td>
                                    <span class="strong row-name">{each.name}</span>
                                    {each.why && <span class="row-sub bad">{each.why}</span>}
                                    {!each.why && each.failures > 0 && <span class="row-sub bad">{each.last_failure}</span>}
                                    <Allocations list={each.allocations} />
                                </td>
                                <td>
                                    <StateMark state={stateOf(each)} />
                                </td>
                                <td class="number">{formatNumber(each.pending)}</td>
                                <td class="number">{formatNumber(each.running)}</td>
                                <td class="number">
                                    {formatNumber(each.joined)} <span class="muted of">/ {formatNumber(each.settings.max_workers)}</span>
                                </td>
                                <td class="number">{formatNumber(each.trials_waiting)}</td>
                                <td class="number">
                                    <Menu label={t("action.more")} name="queue" items={actionsOf(each, list.reload)} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </section>
    );
}
