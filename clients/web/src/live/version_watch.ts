// The daemon's version, watched while a page is open: after an update the page says so, and reloads when asked to.
import {signal} from "@preact/signals";
import {get} from "../api/client";
import type {Status} from "../api/shapes";
import {listen} from "./stream";

/// The version that the daemon has now, once it is another one than the page began with.
export const newVersion = signal<string | undefined>(undefined);

let first: string | undefined;

function note(status: Partial<Status> | undefined): void {
    if (typeof status?.version !== "string") return;
    first ??= status.version;
    newVersion.value = status.version === first ? undefined : status.version;
}

/// Called once. It also keeps the stream open on pages that show nothing live.
export function watchVersion(): void {
    let asked = -Infinity;
    listen("cluster", (message) => {
        if (message) {
            note(message["status"] as Partial<Status> | undefined);
            return;
        }
        // Without a stream, now and then is enough.
        if (performance.now() - asked < 30_000) return;
        asked = performance.now();
        void get<Status>("status").then(note, () => {});
    });
}
