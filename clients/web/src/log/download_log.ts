// Saves a whole log as a file.
import {get} from "../api/client";
import {saveBlob} from "../api/save_file";
import type {LogPart} from "./log_reader";

const partBytes = 1024 * 1024;

export async function downloadLog(path: string, name: string): Promise<void> {
    const parts: string[] = [];
    let at = 0;
    for (;;) {
        const part = await get<LogPart>(`${path}&offset=${at}&limit=${partBytes}`);
        if (part.text === "") break;
        parts.push(part.text);
        const bytes = new TextEncoder().encode(part.text).length;
        at = part.offset + Math.min(bytes, part.size - part.offset);
        if (at >= part.size) break;
    }
    saveBlob(new Blob(parts, {type: "text/plain"}), name);
}
