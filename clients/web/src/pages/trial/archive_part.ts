// Where the content of a file lies in the tar archive of a checkpoint. Headers are read one by one, not the contents between them.
const block = 512;

export interface Part {
    readonly begin: number;
    readonly bytes: number;
}

type ReadPart = (begin: number, end: number) => Promise<Uint8Array>;

const textAt = (header: Uint8Array, at: number, length: number): string => {
    const field = header.subarray(at, at + length);
    const end = field.indexOf(0);
    return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
};

/// "LENGTH KEY=VALUE\n", where LENGTH counts bytes and includes itself.
function records(bytes: Uint8Array): Map<string, string> {
    const found = new Map<string, string>();
    for (let at = 0; at < bytes.length; ) {
        const length = Number.parseInt(new TextDecoder().decode(bytes.subarray(at, at + 20)), 10);
        if (!(length > 0)) break;
        const [key, ...value] = new TextDecoder().decode(bytes.subarray(at + String(length).length + 1, at + length - 1)).split("=");
        found.set(key!, value.join("="));
        at += length;
    }
    return found;
}

/// The file `path` below the archive's one directory; undefined if it isn't among the first `most` entries.
export async function partOf(path: string, read: ReadPart, most = 2000): Promise<Part | undefined> {
    let at = 0;
    let more = new Map<string, string>();
    for (let n = 0; n < most; n += 1) {
        const header = await read(at, at + block);
        if (header.length < block || header[0] === 0) return undefined;
        const kind = String.fromCharCode(header[156]!);
        const size = more.get("size");
        const bytes = size === undefined ? Number.parseInt(textAt(header, 124, 12), 8) : Number(size);
        if (!Number.isSafeInteger(bytes) || bytes < 0) return undefined;
        const begin = at + block;
        at = begin + Math.ceil(bytes / block) * block;
        if (kind === "x") {
            more = records(await read(begin, begin + bytes));
            continue;
        }
        const name = more.get("path") ?? textAt(header, 0, 100);
        if (kind === "0" && name.slice(name.indexOf("/") + 1) === path) return {begin, bytes};
        more = new Map();
    }
    return undefined;
}
