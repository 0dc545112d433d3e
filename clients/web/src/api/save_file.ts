// Saves an answer of the daemon as a file. A link can't do that: the browser would send the cookie without the page key.
// Browsers keep a large Blob on the disk, so a checkpoint doesn't have to fit into memory.
import {getRaw} from "./client";

export function saveBlob(content: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/// `name`: where the answer itself names no file.
export async function saveFile(path: string, name: string): Promise<void> {
    const answer = await getRaw(path);
    const named = /filename="([^"/\\]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
    saveBlob(await answer.blob(), named ?? name);
}
