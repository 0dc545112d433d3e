// Has the daemon check the text while it is written, and estimate the search once it is right.
import {useEffect, useState} from "preact/hooks";
import {apiUrl, change, Problem, type FieldProblem} from "../api/client";
import {withOwnHeaders} from "../api/page_key";
import type {PreviewAnswer} from "./preview";

export interface Checked {
    readonly problems: readonly FieldProblem[];
    readonly notes: readonly FieldProblem[];
    readonly preview: PreviewAnswer | undefined;
    /// "unknown" until the daemon has answered, or where it serves no checks.
    readonly valid: "yes" | "no" | "unknown";
    readonly refused: string | undefined;
}

const type = "application/yaml";
const settle = 350;

interface Answer {
    readonly valid: boolean;
    readonly problems: readonly Readonly<Record<string, unknown>>[];
    readonly notes?: readonly Readonly<Record<string, unknown>>[];
}

const field = (one: Readonly<Record<string, unknown>>): FieldProblem => ({
    path: String(one["path"] ?? one["pointer"] ?? ""),
    what: String(one["what"] ?? one["detail"] ?? ""),
    allowed: String(one["allowed"] ?? ""),
    line: typeof one["line"] === "number" && one["line"] > 0 ? one["line"] : undefined,
});

const nothing: Checked = {problems: [], notes: [], preview: undefined, valid: "unknown", refused: undefined};

export function useCheck(text: string): Checked {
    const [checked, setChecked] = useState<Checked>(nothing);
    useEffect(() => {
        let over = false;
        const timer = setTimeout(async () => {
            try {
                const answer = await change<Answer>("POST", "experiments/validate", text, {type});
                if (over) return;
                const next: Checked = {
                    problems: answer.problems.map(field),
                    notes: (answer.notes ?? []).map(field),
                    preview: undefined,
                    valid: answer.valid ? "yes" : "no",
                    refused: undefined,
                };
                setChecked((before) => ({...next, preview: next.valid === "yes" ? before.preview : undefined}));
                if (!answer.valid) return;
                const preview = await change<PreviewAnswer>("POST", "preview", text, {type});
                if (!over) setChecked({...next, preview});
            } catch (cause) {
                if (over || !(cause instanceof Problem)) return;
                setChecked(cause.status === 404 || cause.status === 405 ? nothing : {...nothing, refused: cause.message || undefined});
            }
        }, settle);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [text]);
    return checked;
}

/// Stores the program's files at the daemon, unless it has them. The body is the archive itself.
export async function uploadContext(digest: string, archive: Uint8Array<ArrayBuffer>): Promise<void> {
    const url = apiUrl(`contexts/${digest}`);
    const known = await fetch(url, {method: "HEAD", headers: withOwnHeaders()});
    if (known.ok) return;
    const answer = await fetch(url, {method: "PUT", headers: withOwnHeaders({"Content-Type": "application/x-tar"}), body: archive});
    if (!answer.ok) {
        const body = (await answer.json().catch(() => ({}))) as {error?: {message?: string}};
        throw new Problem(answer.status, "", body.error?.message ?? `${answer.status}`, undefined);
    }
}
