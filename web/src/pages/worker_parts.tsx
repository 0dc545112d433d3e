// States of workers and their slots.
import {change} from "../api/client";
import {isServed} from "../api/served";
import type {Worker} from "../api/types";
import {t, tCount} from "../i18n/texts";
import {ask} from "../design/dialog";
import {Link} from "../design/link";
import type {MenuItem} from "../design/menu";

type Fields = Readonly<Record<string, unknown>>;

export function workerState(worker: Worker): string {
    if (worker.quarantined) return "quarantined";
    if (!worker.present) return "gone";
    if (worker["draining"] === true) return "draining";
    if (worker.suspect) return "suspect";
    return worker.connected ? "connected" : "lost";
}

/// Why the worker gets no trials, in words.
export function troubleOf(worker: Worker): string[] {
    const texts: string[] = [];
    const why = typeof worker.quarantined === "string" ? worker.quarantined : worker.quarantined ? String((worker.quarantined as Fields)["why"] ?? "") : "";
    if (why !== "") texts.push(why);
    const withdrawn = (worker["withdrawn"] ?? []) as readonly Fields[];
    for (const each of withdrawn) texts.push(t("workers.slot_trouble", {slot: String(each["slot"]), why: String(each["why"] ?? "")}));
    if (worker.leaked_processes.length > 0) texts.push(tCount("workers.leaked", worker.leaked_processes.length));
    return texts;
}

export function workerActions(worker: Worker, done: () => void): MenuItem[] {
    const send = (verb: string, body?: unknown) => async () => {
        await change("POST", `workers/${worker.id}/${verb}`, body);
        done();
    };
    const running = worker.attempts.length;
    const items: MenuItem[] = [];
    if (worker.quarantined) items.push({label: t("workers.release_dots"), perform: () => ask({title: t("workers.release_title", {name: worker.name}), body: t("workers.release_effect"), action: t("workers.release"), perform: send("release")})});
    else if (worker.present) items.push({label: t("workers.quarantine_dots"), danger: true, perform: () => ask({
        title: t("workers.quarantine_title", {name: worker.name}), body: `${t("workers.quarantine_effect")} ${running > 0 ? tCount("workers.go_on", running) : ""}`, action: t("workers.quarantine"), danger: true,
        field: {label: t("workers.why")}, perform: (why) => send("quarantine", {why})()})});
    if (isServed("/workers/{worker}/drain") && worker.present && worker["draining"] !== true) items.push({label: t("workers.drain_dots"), danger: true, perform: () => ask({
        title: t("workers.drain_title", {name: worker.name}), body: t("workers.drain_effect"), action: t("workers.drain"), danger: true, perform: send("drain")})});
    return items;
}

/// A square for each slot: busy, free or in trouble. The trial is in its title and, on the worker's page, in a list.
export function SlotGrid({worker}: {worker: Worker}) {
    const trouble = new Set(((worker["withdrawn"] ?? []) as readonly Fields[]).map((each) => Number(each["slot"])));
    const held: (Worker["attempts"][number] | undefined)[] = Array.from({length: worker.slots});
    const loose: Worker["attempts"][number][] = [];
    for (const attempt of worker.attempts) {
        if (attempt.slots) for (const slot of attempt.slots) held[slot] = attempt;
        else loose.push(attempt);
    }
    // Where the answer names no slots, attempts fill them in order.
    for (let slot = 0; slot < held.length && loose.length > 0; slot += 1) if (!held[slot] && !trouble.has(slot)) held[slot] = loose.shift();
    if (worker.slots === 0) return <span class="muted">{t("workers.no_slots")}</span>;
    return (
        <span class="slots">
            {held.map((attempt, slot) => {
                if (trouble.has(slot)) return <span key={slot} class="slot trouble" title={t("workers.slot_out", {slot})}><span class="unseen">{t("workers.slot_out", {slot})}</span></span>;
                if (!attempt) return <span key={slot} class="slot" title={t("workers.slot_free", {slot})}><span class="unseen">{t("workers.slot_free", {slot})}</span></span>;
                const text = t("workers.slot_busy", {slot, experiment: attempt.experiment, trial: attempt.trial});
                return <Link key={slot} class="slot busy" to={`e/${attempt.experiment}/t/${attempt.trial}`} title={text} aria-label={text} />;
            })}
        </span>
    );
}
