// The files of the program, packed in the browser.
import {useState} from "preact/hooks";
import {t, tCount} from "../i18n/texts";
import {formatBytes} from "../i18n/format";
import type {PackedFile} from "./tar";

const skipped = /(^|\/)(\.git|__pycache__|\.hpsearch|node_modules|\.venv)\//;

async function readFiles(list: FileList): Promise<PackedFile[]> {
    const files: PackedFile[] = [];
    for (const file of list) {
        // A chosen directory stands before each of its files.
        const path = (file.webkitRelativePath || file.name).replace(/^[^/]*\/(?=.)/, file.webkitRelativePath ? "" : "$&");
        if (skipped.test(`/${path}`)) continue;
        files.push({path, content: new Uint8Array(await file.arrayBuffer()), executable: /\.sh$/.test(path)});
    }
    return files;
}

export function ProgramFiles({
    files,
    onChange,
    kept,
}: {
    files: readonly PackedFile[];
    onChange: (files: readonly PackedFile[]) => void;
    kept: string;
}) {
    const [hook, setHook] = useState(() =>
        new TextDecoder().decode(files.find((file) => file.path === "startup-hook.sh")?.content ?? new Uint8Array()),
    );
    const bytes = files.reduce((sum, file) => sum + file.content.length, 0);
    const others = files.filter((file) => file.path !== "startup-hook.sh");
    const withHook = (list: readonly PackedFile[], text: string) =>
        onChange(
            text.trim() === ""
                ? list
                : [...list, {path: "startup-hook.sh", content: new TextEncoder().encode(text.endsWith("\n") ? text : `${text}\n`), executable: true}],
        );
    const choose = async (list: FileList | null) => {
        if (list) withHook(await readFiles(list), hook);
    };
    return (
        <div class="form-grid">
            <label class="field">
                <span>{t("form.directory")}</span>
                <input type="file" {...{webkitdirectory: true}} multiple onChange={(event) => void choose(event.currentTarget.files)} />
            </label>
            <label class="field">
                <span>{t("form.files")}</span>
                <input type="file" multiple onChange={(event) => void choose(event.currentTarget.files)} />
            </label>
            <p class="muted small span">
                {others.length > 0
                    ? tCount("form.chosen", others.length, {bytes: formatBytes(bytes)})
                    : kept !== ""
                      ? t("form.kept_program")
                      : t("form.no_files")}
            </p>
            <label class="field span">
                <span>{t("form.hook")}</span>
                <textarea
                    class="textarea mono"
                    rows={3}
                    spellcheck={false}
                    value={hook}
                    placeholder="pip install -r requirements.txt"
                    onInput={(event) => {
                        setHook(event.currentTarget.value);
                        withHook(others, event.currentTarget.value);
                    }}
                />
            </label>
        </div>
    );
}
