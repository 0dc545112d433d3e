// Packs files that a person chose into a tar archive (ustar), as `hpsearch submit` does with a directory.

export interface PackedFile {
    readonly path: string;
    readonly content: Uint8Array;
    readonly executable?: boolean;
}

const block = 512;

/// ustar splits long names at a slash: at most 155 bytes before it and 100 behind.
function splitName(path: string): [string, string] {
    const bytes = (text: string) => new TextEncoder().encode(text).length;
    if (bytes(path) <= 100) return ["", path];
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
        const before = path.slice(0, at);
        const behind = path.slice(at + 1);
        if (bytes(before) <= 155 && bytes(behind) <= 100 && behind !== "") return [before, behind];
    }
    throw new Error(path);
}

function header(file: PackedFile): Uint8Array {
    const out = new Uint8Array(block);
    const put = (text: string, at: number) => out.set(new TextEncoder().encode(text), at);
    const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, "0");
    const [prefix, name] = splitName(file.path);
    put(name, 0);
    put(octal(file.executable ? 0o755 : 0o644, 8), 100);
    put(octal(0, 8), 108);
    put(octal(0, 8), 116);
    put(octal(file.content.length, 12), 124);
    put(octal(0, 12), 136);
    put("        ", 148);
    put("0", 156);
    put("ustar\0" + "00", 257);
    put(prefix, 345);
    put(
        `${octal(
            out.reduce((sum, byte) => sum + byte, 0),
            7,
        )}\0 `,
        148,
    );
    return out;
}

export function packTar(files: readonly PackedFile[]): Uint8Array<ArrayBuffer> {
    const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    const size = sorted.reduce((sum, file) => sum + block + Math.ceil(file.content.length / block) * block, 2 * block);
    const out = new Uint8Array(size);
    let at = 0;
    for (const file of sorted) {
        out.set(header(file), at);
        out.set(file.content, at + block);
        at += block + Math.ceil(file.content.length / block) * block;
    }
    return out;
}

/// SHA-256 as 64 digits. Only pages from HTTPS or this machine have it.
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
