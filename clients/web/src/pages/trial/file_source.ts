// The files of a trial, wherever they are, and how to read one.
import {getRaw} from "../../api/client";
import {saveBlob, saveFile} from "../../api/save_file";
import type {Checkpoint} from "../../api/shapes";
import type {CheckpointFile, KeptFile} from "../../api/types";
import {partOf} from "./archive_part";

/// A file that the page can read.
export interface Source {
    readonly path: string;
    readonly bytes: number;
    /// Bytes of the file from the first one on, at most `limit`.
    readonly read: (limit: number, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>;
    readonly save: () => Promise<void>;
}

async function readPart(path: string, begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    if (end <= begin) return new Uint8Array();
    const answer = await getRaw(path, {Range: `bytes=${begin}-${end - 1}`}, signal);
    return new Uint8Array(await answer.arrayBuffer());
}

const lastName = (path: string): string => path.split("/").at(-1)!;

/// A file that a program left and the daemon has; undefined for a link, which has no content of its own.
export function keptSource(trial: string, file: KeptFile): Source | undefined {
    if (!file.digest) return undefined;
    const path = `${trial}/files/${file.digest}?worker=${file.worker}`;
    return {
        path: file.path,
        bytes: file.bytes,
        read: (limit, signal) => readPart(path, 0, Math.min(limit, file.bytes), signal),
        save: () => saveFile(path, lastName(file.path)),
    };
}

export const checkpointPath = (experiment: number, checkpoint: Checkpoint): string =>
    `experiments/${experiment}/trials/${checkpoint.trial}/checkpoints/${encodeURIComponent(checkpoint.id.split("/").at(-1)!)}`;

/// A file of a checkpoint, of which the daemon sends an archive.
export function checkpointSource(checkpoint: string, file: CheckpointFile): Source | undefined {
    if (file.link !== null) return undefined;
    const archive = `${checkpoint}/archive.tar`;
    const part = async (signal?: AbortSignal) => {
        const found = await partOf(file.path, (begin, end) => readPart(archive, begin, end, signal));
        if (!found) throw new Error(file.path);
        return found;
    };
    return {
        path: file.path,
        bytes: file.bytes,
        read: async (limit, signal) => {
            const {begin} = await part(signal);
            return readPart(archive, begin, begin + Math.min(limit, file.bytes), signal);
        },
        save: async () => {
            const {begin, bytes} = await part();
            if (bytes === 0) return saveBlob(new Blob([]), lastName(file.path));
            const answer = await getRaw(archive, {Range: `bytes=${begin}-${begin + bytes - 1}`});
            return saveBlob(await answer.blob(), lastName(file.path));
        },
    };
}
