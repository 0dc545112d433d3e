// Requests to /api/v1. An answer that is no success becomes a Problem, with the daemon's own sentence.
import {signal} from "@preact/signals";
import {base} from "../state/router";
import {parseExact, printExact} from "./exact";
import {onPageKey, setPageKey, withOwnHeaders} from "./page_key";
import type {ProviderAnswer, Session} from "./types";

export interface FieldProblem {
    readonly path: string;
    readonly what: string;
    readonly allowed: string;
    readonly line: number | undefined;
}

export class Problem extends Error {
    constructor(
        readonly status: number,
        readonly code: string,
        message: string,
        readonly requestId: string | undefined,
        readonly problems: readonly FieldProblem[] = [],
    ) {
        super(message);
        this.name = "Problem";
    }
}

/// Set once the daemon has refused a request for want of a token: the pages then show the sign-in.
export const signedOut = signal(false);
export const session = signal<Session | null>(null);

/// Whether who is signed in may change anything; a daemon without sessions lets everybody.
export const mayChange = (): boolean => session.value?.role !== "viewer";

let signIns = 0;

/// What to do when a request that begins now is refused for want of a token. A refusal that arrives after a sign-in
/// was meant for the time before it.
export function noteRefusal(): () => void {
    const then = signIns;
    return () => {
        if (then === signIns) signedOut.value = true;
    };
}

/// The daemon's clock when this page was opened, in seconds; the browser's until the first answer. Ages are computed from the
/// daemon's clock, which goes on evenly here, whatever happens to the browser's.
let daemonAtOpening = (Date.now() - performance.now()) / 1000;
export const daemonNow = (): number => daemonAtOpening + performance.now() / 1000;

export const apiUrl = (path: string): string => new URL(`api/v1/${path}`, base).href;

type Json = Record<string, unknown>;
const record = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

async function problemOf(response: Response): Promise<Problem> {
    const id = response.headers.get("X-Request-Id") ?? undefined;
    let body: Json = {};
    try {
        body = record(await response.json());
    } catch {
        // Not JSON: a proxy's own page. The status says enough.
    }
    const error = record(body["error"]);
    const listed = [body["errors"], error["problems"]].find(Array.isArray) as unknown[] | undefined;
    const problems = (listed ?? []).map((each) => {
        const one = record(each);
        return {
            path: text(one["path"]) ?? text(one["pointer"]) ?? "",
            what: text(one["what"]) ?? text(one["detail"]) ?? "",
            allowed: text(one["allowed"]) ?? "",
            line: typeof one["line"] === "number" ? one["line"] : undefined,
        };
    });
    const message = text(error["message"]) ?? text(body["detail"]) ?? text(body["title"]) ?? `${response.status} ${response.statusText}`;
    return new Problem(response.status, text(error["code"]) ?? "", message, text(body["instance"]) ?? id, problems);
}

async function send(path: string, init: RequestInit): Promise<Response> {
    let response: Response;
    const refused = noteRefusal();
    try {
        response = await fetch(apiUrl(path), {credentials: "same-origin", ...init, headers: withOwnHeaders(init.headers as Record<string, string>)});
    } catch (cause) {
        if (init.signal?.aborted) throw cause;
        throw new Problem(0, "unreachable", "", undefined);
    }
    const date = Date.parse(response.headers.get("Date") ?? "");
    if (Number.isFinite(date)) {
        // The header counts whole seconds: a difference below two is none.
        if (Math.abs(date / 1000 - daemonNow()) >= 2) daemonAtOpening = (date - performance.now()) / 1000;
    }
    if (response.status === 401) refused();
    if (!response.ok) throw await problemOf(response);
    return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const response = await send(path, {headers: {Accept: "application/json"}, ...(signal ? {signal} : {})});
    return parseExact<T>(await response.text());
}

export function getRaw(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return send(path, {headers, ...(signal ? {signal} : {})});
}

/// A change. Each has a key, so that a repeated request is done once. The answer comes when the change is durable.
export async function change<T>(
    method: "POST" | "PATCH" | "PUT" | "DELETE",
    path: string,
    body?: unknown,
    {type = "application/json", key = crypto.randomUUID?.() ?? String(Math.random())} = {},
): Promise<T> {
    const headers: Record<string, string> = {Accept: "application/json", "Idempotency-Key": key};
    const init: RequestInit = {method, headers};
    if (body !== undefined) {
        headers["Content-Type"] = type;
        init.body = typeof body === "string" || body instanceof Blob ? body : printExact(body);
    }
    const response = await send(path, init);
    const answer = await response.text();
    return answer === "" ? (null as T) : parseExact<T>(answer);
}

export async function openSession(proof: {token: string} | {code: string} | ProviderAnswer, path = "session"): Promise<void> {
    const made = await change<Session>("POST", path, proof);
    setPageKey(made.page_key);
    session.value = made;
    signIns += 1;
    signedOut.value = false;
}

/// Reads the session of this browser, if there is one. A daemon without sessions answers 404: then none is needed.
export async function readSession(): Promise<void> {
    try {
        const response = await fetch(apiUrl("session"), {headers: withOwnHeaders({Accept: "application/json"})});
        if (response.ok) session.value = (await response.json()) as Session;
    } catch {
        // No daemon: the page's own requests say so.
    }
}

export async function closeSession(): Promise<void> {
    await change("DELETE", "session");
    setPageKey("");
    session.value = null;
    signedOut.value = true;
}

// Another tab has signed in or out: what is refused from now on was asked for with its key.
onPageKey(() => {
    signIns += 1;
    signedOut.value = false;
    void readSession();
});
