// A preview of a file: text, an image, a table or JSON. Everything is shown as text, but for images of types that can't contain scripts.
import {useEffect, useState} from "preact/hooks";
import {Problem} from "../../api/client";
import {Loading} from "../../design/states";
import {formatBytes, formatNumber, plain} from "../../i18n/format";
import {t} from "../../i18n/texts";
import {firstBytes, isJson, largestImage, largestJson, seen, type Seen} from "./file_content";
import type {Source} from "./file_source";

interface Content {
    readonly seen: Seen;
    readonly bytes: Uint8Array<ArrayBuffer>;
}

async function contentOf(source: Source, signal: AbortSignal): Promise<Content> {
    const first = isJson(source.path) && source.bytes <= largestJson ? largestJson : firstBytes;
    const bytes = await source.read(first, signal);
    const found = seen(source.path, bytes, source.bytes);
    const isWhole = bytes.length >= source.bytes || found.kind !== "image" || source.bytes > largestImage;
    return {seen: found, bytes: isWhole ? bytes : await source.read(source.bytes, signal)};
}

function Picture({source, content, type}: {source: Source; content: Content; type: string}) {
    const [url, setUrl] = useState<string | undefined>();
    const [isBroken, setBroken] = useState(false);
    useEffect(() => {
        const made = URL.createObjectURL(new Blob([content.bytes], {type}));
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [content]);
    if (source.bytes > largestImage) return <p class="muted">{t("files.large_image", {bytes: formatBytes(largestImage)})}</p>;
    if (isBroken) return <p class="muted">{t("files.binary")}</p>;
    return <>{url && <img class="file-image" src={url} alt={t("files.image", {name: plain(source.path)})} onError={() => setBroken(true)} />}</>;
}

function Table({rows}: {rows: readonly (readonly string[])[]}) {
    const [head, ...body] = rows;
    return (
        <div class="file-view" tabIndex={0} role="region" aria-label={t("files.content")}>
            <table class="table">
                <thead>
                    <tr>
                        {head!.map((cell, index) => (
                            <th key={index} scope="col">
                                {plain(cell)}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {body.map((row, index) => (
                        <tr key={index}>
                            {row.map((cell, column) => (
                                <td key={column} class={cell !== "" && Number.isFinite(Number(cell)) ? "number" : ""}>
                                    {plain(cell)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Shown({source, content}: {source: Source; content: Content}) {
    const {seen: found, bytes} = content;
    switch (found.kind) {
        case "empty":
            return <p class="muted">{t("files.empty")}</p>;
        case "binary":
            return <p class="muted">{t("files.binary")}</p>;
        case "image":
            return <Picture source={source} content={content} type={found.type} />;
        case "table":
            return (
                <>
                    {found.isCut && <p class="muted small">{t("files.first_rows", {n: formatNumber(found.rows.length - 1)})}</p>}
                    <Table rows={found.rows} />
                </>
            );
        case "json":
        case "text":
            return (
                <>
                    {bytes.length < source.bytes && (
                        <p class="muted small">{t("files.first_part", {bytes: formatBytes(bytes.length), all: formatBytes(source.bytes)})}</p>
                    )}
                    <pre class="file-view" tabIndex={0} role="region" aria-label={t("files.content")}>
                        {plain(found.text)}
                    </pre>
                </>
            );
    }
}

export function FilePreview({source}: {source: Source}) {
    const [content, setContent] = useState<Content | undefined>();
    const [problem, setProblem] = useState<string | undefined>();
    useEffect(() => {
        const leaving = new AbortController();
        void contentOf(source, leaving.signal).then(setContent, (cause: Error) => {
            if (!leaving.signal.aborted) setProblem(cause instanceof Problem ? cause.message || t("state.unreachable") : t("files.unreadable"));
        });
        return () => leaving.abort();
    }, []);
    if (problem !== undefined)
        return (
            <p class="inline-problem" role="alert">
                {problem}
            </p>
        );
    return content ? <Shown source={source} content={content} /> : <Loading rows={6} />;
}
