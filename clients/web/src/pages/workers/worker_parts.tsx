// Troubles and actions of workers, and their slots.
import {change, mayChange} from "../../api/client";
import {isServed} from "../../api/served";
import type {Worker} from "../../api/shapes";
import type {Slot} from "../../api/types";
import {t, tCount} from "../../i18n/texts";
import {ask} from "../../design/dialog";
import {Link} from "../../design/link";
import type {MenuItem} from "../../design/menu";

/// Why the worker gets no trials, in words.
export function troubleOf(worker: Worker): string[] {
    const texts: string[] = [];
    if (worker.quarantined) texts.push(worker.probation ? `${worker.quarantined}; ${worker.probation}` : worker.quarantined);
    for (const {slot, why} of worker.withdrawn) texts.push(t("workers.slot_trouble", {slot, why}));
    if (worker.leaked_processes.length > 0) texts.push(tCount("workers.leaked", worker.leaked_processes.length));
    return texts;
}

export function workerActions(worker: Worker, done: () => void): MenuItem[] {
    if (!mayChange()) return [];
    const send = (verb: string, body?: unknown) => async () => {
        await change("POST", `workers/${worker.id}/${verb}`, body);
        done();
    };
    const running = worker.attempts.length;
    const items: MenuItem[] = [];
    if (worker.quarantined || worker.draining)
        items.push({
            label: t("workers.release_dots"),
            perform: () =>
                ask({
                    title: t("workers.release_title", {name: worker.name}),
                    body: t("workers.release_effect"),
                    action: t("workers.release"),
                    perform: send("release"),
                }),
        });
    if (!worker.quarantined && worker.present)
        items.push({
            label: t("workers.quarantine_dots"),
            danger: true,
            perform: () =>
                ask({
                    title: t("workers.quarantine_title", {name: worker.name}),
                    body: `${t("workers.quarantine_effect")} ${running > 0 ? tCount("workers.go_on", running) : ""}`,
                    action: t("workers.quarantine"),
                    danger: true,
                    fields: [{name: "why", label: t("workers.why")}],
                    perform: ({why}) => send("quarantine", {why})(),
                }),
        });
    if (isServed("/workers/{worker}/drain") && worker.present && worker.draining !== true)
        items.push({
            label: t("workers.drain_dots"),
            danger: true,
            perform: () =>
                ask({
                    title: t("workers.drain_title", {name: worker.name}),
                    body: t("workers.drain_effect"),
                    action: t("workers.drain"),
                    danger: true,
                    perform: send("drain"),
                }),
        });
    return items;
}

/// Why a slot runs nothing, in words; "" of one that does.
export function slotWhy(slot: Slot, worker: Worker): string {
    switch (slot.state) {
        case "busy":
            return "";
        case "taken":
            return slot.why ?? "";
        case "broken":
            return slot.why ?? t("workers.slot_out", {slot: slot.slot});
        case "leaked":
            return t("workers.why_leaked");
        case "quarantined":
            return worker.quarantined ?? "";
        case "draining":
            return t("workers.why_draining");
        case "away":
            return t("workers.why_away");
        default:
            return worker.resting ?? t("workers.why_free");
    }
}

/// A square for each slot, where it is known what each does: else busy ones first, because a worker only counts them.
export function SlotGrid({worker, slots}: {worker: Worker; slots?: readonly Slot[] | undefined}) {
    const trouble = new Set(worker.withdrawn.map((each) => each.slot));
    if (worker.slots === 0) return <span class="muted">{t("workers.no_slots")}</span>;
    if (slots) {
        return (
            <span class="slots">
                {slots.map((each) => {
                    if (each.state === "busy" && each.experiment !== null) {
                        const text = t("workers.slot_busy", {experiment: each.experiment, trial: each.trial ?? 0});
                        return <Link key={each.slot} class="slot busy" to={`e/${each.experiment}/t/${each.trial}`} title={text} aria-label={text} />;
                    }
                    const text =
                        each.state === "busy" ? t("workers.slot_held") : t("workers.slot_trouble", {slot: each.slot, why: slotWhy(each, worker)});
                    return (
                        <span
                            key={each.slot}
                            class={`slot ${{busy: "busy", free: "", taken: "taken"}[each.state as string] ?? "trouble"}`}
                            title={text}
                        >
                            <span class="unseen">{text}</span>
                        </span>
                    );
                })}
            </span>
        );
    }
    let busy = 0;
    return (
        <span class="slots">
            {Array.from({length: worker.slots}, (_, slot) => {
                if (trouble.has(slot))
                    return (
                        <span key={slot} class="slot trouble" title={t("workers.slot_out", {slot})}>
                            <span class="unseen">{t("workers.slot_out", {slot})}</span>
                        </span>
                    );
                busy += 1;
                if (busy > worker.slots_held)
                    return (
                        <span key={slot} class="slot" title={t("workers.slot_free")}>
                            <span class="unseen">{t("workers.slot_free")}</span>
                        </span>
                    );
                const attempt = worker.attempts[busy - 1];
                if (!attempt)
                    return (
                        <span key={slot} class="slot busy" title={t("workers.slot_held")}>
                            <span class="unseen">{t("workers.slot_held")}</span>
                        </span>
                    );
                const text = t("workers.slot_busy", {experiment: attempt.experiment, trial: attempt.trial});
                return <Link key={slot} class="slot busy" to={`e/${attempt.experiment}/t/${attempt.trial}`} title={text} aria-label={text} />;
            })}
        </span>
    );
}
