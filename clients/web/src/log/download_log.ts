// Saves a whole log as a file.
import {get} from "../api/client";
import {saveBlob} from "../api/save_file";
import type {LogPart} from "./log_reader";

const partBytes = 128 * 1024;

/// The browser collects the parts, on the disk if there are many: a log can be larger than the page's memory.
export async function downloadLog(path: string, name: string): Promise<void> {
    const encoder = new TextEncoder();
    let at = 0;
    const parts = new ReadableStream<Uint8Array<ArrayBuffer>>({
        async pull(controller) {
            const part = await get<LogPart>(`${path}&offset=${at}&limit=${partBytes}`);
            const bytes = encoder.encode(part.text);
            at = part.offset + Math.min(bytes.length, part.size - part.offset);
            if (bytes.length > 0) controller.enqueue(bytes);
            if (bytes.length === 0 || at >= part.size) controller.close();
        },
    });
    saveBlob(await new Response(parts, {headers: {"Content-Type": "text/plain"}}).blob(), name);
}
