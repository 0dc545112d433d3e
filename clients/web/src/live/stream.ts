// Live changes. One tab per browser holds the stream of the daemon and passes it on to the others.
//
// The tab that holds the Web Lock reads a stream for the union of what all tabs show. Without Web Locks each
// visible tab has its own. Where the daemon serves no stream, listeners are asked to read again every two seconds.
import {signal} from "@preact/signals";
import {apiUrl, noteRefusal, signedOut} from "../api/client";
import {EventStream, type StreamEvent} from "../api/event_stream";
import {withOwnHeaders} from "../api/page_key";
import {base} from "../state/router";
import {language} from "../state/settings";

export type Message = {readonly topic: string; readonly lsn?: number; readonly full?: boolean} & Readonly<Record<string, unknown>>;
/// Gets a message of the topic, or null: something may have changed, read again.
export type Listener = (message: Message | null) => void;

export type ConnectionKind = "connecting" | "live" | "polling" | "lost";
export interface Connection {
    readonly kind: ConnectionKind;
    /// When it became so, by the browser's clock, in milliseconds.
    readonly since: number;
}
export const connection = signal<Connection>({kind: "connecting", since: Date.now()});

const pollEvery = 2000;
const forgetTabAfter = 180_000;

const listeners = new Map<string, Set<Listener>>();
const tab = crypto.randomUUID?.() ?? String(Math.random());
// Addresses that are neither https nor this machine have no Web Locks: each tab there is on its own.
const shares = Boolean(navigator.locks) && "BroadcastChannel" in globalThis;
const channel = shares ? new BroadcastChannel(`hpsearch-stream:${base.pathname}`) : null;
const wantedByOthers = new Map<string, {topics: readonly string[]; at: number}>();
/// Topics that the daemon does not serve, as those of a deleted experiment: one such topic would close the stream to all.
const refusedTopics = new Set<string>();

let leads = false;
let source: EventStream | null = null;
let sourceTopics = "";
let retryIn = 500;
let timer: ReturnType<typeof setTimeout> | undefined;
let pollTimer: ReturnType<typeof setInterval> | undefined;
let settle: ReturnType<typeof setTimeout> | undefined;

function setConnection(kind: ConnectionKind, since = Date.now()): void {
    if (connection.peek().kind === kind) return;
    connection.value = {kind, since};
    if (kind === "polling") pollTimer ??= setInterval(poll, pollEvery);
    else {
        clearInterval(pollTimer);
        pollTimer = undefined;
    }
    if (leads) channel?.postMessage({what: "connection", kind});
}

function poll(): void {
    if (document.hidden) return;
    for (const each of listeners.values()) for (const listener of each) listener(null);
}

const ownTopics = (): string[] => (document.hidden ? [] : [...listeners.keys()]);

function wanted(): string[] {
    const all = new Set(ownTopics());
    for (const [other, {topics, at}] of wantedByOthers) {
        if (performance.now() - at > forgetTabAfter) wantedByOthers.delete(other);
        else topics.forEach((topic) => all.add(topic));
    }
    return [...all].filter((topic) => !refusedTopics.has(topic)).sort();
}

function pass(message: Message): void {
    for (const listener of listeners.get(message.topic) ?? []) listener(message);
}

function heard(event: StreamEvent): void {
    let data: unknown;
    try {
        data = JSON.parse(event.data);
    } catch {
        return;
    }
    if (typeof data !== "object" || data === null) return;
    const message = {...data, topic: event.type} as Message;
    pass(message);
    channel?.postMessage({what: "message", message});
}

function again(): void {
    sourceTopics = "";
    reconcile();
}

async function statusOf(topic: string): Promise<number> {
    const stop = new AbortController();
    const response = await fetch(apiUrl(`stream?topics=${encodeURIComponent(topic)}`), {
        signal: stop.signal,
        headers: withOwnHeaders({Accept: "text/event-stream"}),
    });
    stop.abort();
    return response.status;
}

/// Finds out why the stream does not open: it isn't served (then poll), one of its topics isn't (then without it), a token
/// is missing, or nobody answers.
async function probe(): Promise<void> {
    try {
        const refused = noteRefusal();
        const status = await statusOf("cluster");
        if (status === 401) {
            // The daemon answers: nothing is lost but the permission to read. Another tab may get it.
            refused();
            setConnection("connecting");
            clearTimeout(timer);
            timer = setTimeout(again, signedOut.peek() ? 5000 : retryIn);
            return;
        }
        if (status === 404 || status === 405 || status === 400) {
            setConnection("polling");
            timer = setTimeout(again, 60_000);
            return;
        }
        if (status === 200) {
            const ofExperiments = sourceTopics.split(",").filter((topic) => topic.includes(":"));
            const answers = await Promise.all(ofExperiments.map(statusOf));
            const gone = ofExperiments.filter((_, index) => answers[index] === 404 || answers[index] === 403);
            gone.forEach((topic) => refusedTopics.add(topic));
            if (gone.length > 0) return again();
        }
    } catch {
        // Nobody answers.
    }
    setConnection("lost");
    clearTimeout(timer);
    timer = setTimeout(again, retryIn);
    retryIn = Math.min(retryIn * 2, 10_000);
}

function close(): void {
    source?.close();
    source = null;
}

function reconcile(): void {
    if (!leads) return;
    const topics = wanted();
    const spelled = topics.join(",");
    if (spelled === sourceTopics && (source || connection.peek().kind === "polling")) return;
    if (connection.peek().kind === "polling" && sourceTopics !== "") {
        sourceTopics = spelled;
        return;
    }
    sourceTopics = spelled;
    close();
    if (topics.length === 0) return;
    const opened = new EventStream(apiUrl(`stream?topics=${encodeURIComponent(spelled)}`));
    source = opened;
    for (const topic of topics) opened.on(topic, heard);
    opened.onopen = () => {
        const wasLost = connection.peek().kind === "lost";
        retryIn = 500;
        setConnection("live");
        if (wasLost) {
            poll();
            channel?.postMessage({what: "again"});
        }
    };
    opened.on("bye", () => setConnection("lost"));
    opened.onend = () => {
        if (source !== opened) return;
        close();
        void probe();
    };
}

function announce(): void {
    channel?.postMessage({what: "want", tab, topics: ownTopics()});
    clearTimeout(settle);
    settle = setTimeout(reconcile, 30);
}

channel?.addEventListener("message", ({data}: MessageEvent) => {
    switch (data?.what) {
        case "want":
            for (const topic of data.topics) if (!wantedByOthers.get(data.tab)?.topics.includes(topic)) refusedTopics.delete(topic);
            wantedByOthers.set(data.tab, {topics: data.topics, at: performance.now()});
            if (leads) {
                channel.postMessage({what: "connection", kind: connection.peek().kind});
                clearTimeout(settle);
                settle = setTimeout(reconcile, 30);
            }
            break;
        case "gone":
            wantedByOthers.delete(data.tab);
            break;
        case "who":
            announce();
            break;
        case "message":
            pass(data.message);
            break;
        case "connection":
            if (!leads) setConnection(data.kind);
            break;
        case "again":
            if (!leads) poll();
            break;
    }
});

function lead(): void {
    leads = true;
    channel?.postMessage({what: "who"});
    reconcile();
}

/// Starts listening. Called once.
export function startStream(): void {
    if (shares)
        void navigator.locks.request(`hpsearch-stream:${base.pathname}`, () => {
            lead();
            return new Promise<void>(() => {});
        });
    else lead();
    setInterval(announce, 60_000);
    document.addEventListener("visibilitychange", () => {
        announce();
        if (!document.hidden) poll();
    });
    addEventListener("pagehide", () => channel?.postMessage({what: "gone", tab}));
    // A stream over a line that is cut would stay open for minutes.
    addEventListener("offline", () => {
        if (!leads || !source) return;
        close();
        void probe();
    });
    addEventListener("online", () => {
        if (leads && !source) again();
    });
    let spoken = language.peek();
    language.subscribe((now) => {
        if (now === spoken) return;
        spoken = now;
        again();
        poll();
    });
    signedOut.subscribe((out) => {
        if (!out && leads && !source && connection.peek().kind !== "polling") again();
    });
}

/// Calls `listener` for each change of the topic, until the returned function is called.
export function listen(topic: string, listener: Listener): () => void {
    const known = listeners.get(topic) ?? new Set();
    if (known.size === 0) refusedTopics.delete(topic);
    known.add(listener);
    listeners.set(topic, known);
    announce();
    return () => {
        known.delete(listener);
        if (known.size === 0) listeners.delete(topic);
        announce();
    };
}

/// A request succeeded or failed: what a page that only polls has to go by, and the first sign of a lost connection.
export function noteReach(reached: boolean): void {
    const lost = connection.peek().kind === "lost";
    if (!reached && !lost) {
        setConnection("lost");
        if (leads && !source) void probe();
    }
    // A stream that is open, here or in the tab that holds it, is not lost for one request that failed.
    if (reached && lost) {
        if (!leads) announce();
        else if (source?.isOpen) setConnection("live");
    } else if (!reached && !leads) setTimeout(announce, 1000);
}
