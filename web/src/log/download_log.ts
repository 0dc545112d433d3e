// Saves a whole log as a file.
import {get} from "../api/client";
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
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts, {type: "text/plain"}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
