// Searches a whole log, of which only a part is loaded.
import {useEffect, useState} from "preact/hooks";
import {get, Problem} from "../api/client";
import {t, tCount} from "../i18n/texts";
import {formatBytes} from "../i18n/format";
import {plainText} from "./fold";

interface Found {
    readonly attempt: number;
    readonly matches: readonly {readonly offset: number; readonly line: string}[];
    readonly searched_to: number;
    readonly complete: boolean;
}

const mostShown = 200;
const shownLetters = 300;

/// The text itself as a regular expression, in capitals or not.
export function expressionOf(text: string): string {
    return `(?i)${text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&")}`;
}

export function WholeSearch({path, search, onFound}: {path: string; search: string; onFound: (offset: number) => void}) {
    const [found, setFound] = useState<(Found & {readonly count: number}) | undefined>(undefined);
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState("");
    useEffect(() => {
        setFound(undefined);
        setProblem("");
    }, [path, search]);
    const look = async () => {
        setBusy(true);
        setProblem("");
        try {
            const attempt = found ? `&attempt=${found.attempt}` : "";
            const next = await get<Found>(`${path}&q=${encodeURIComponent(expressionOf(search))}&offset=${found?.searched_to ?? 0}${attempt}`);
            const matches = [...(found?.matches ?? []), ...next.matches].slice(0, mostShown);
            setFound({...next, matches, count: (found?.count ?? 0) + next.matches.length});
        } catch (cause) {
            setProblem(cause instanceof Problem ? cause.message : String(cause));
        }
        setBusy(false);
    };
    return (
        <div class="log-search-all">
            {!found && (
                <button type="button" class="button" disabled={busy} onClick={() => void look()}>
                    {t("log.search_all")}
                </button>
            )}
            {problem !== "" && (
                <span class="muted small" role="status">
                    {problem}
                </span>
            )}
            {found && (
                <>
                    <p class="muted small" role="status">
                        {found.count === 0 && found.complete ? t("log.no_match") : tCount("log.lines", found.count)}
                    </p>
                    {found.matches.map((match) => (
                        <button key={match.offset} type="button" class="link log-hit" onClick={() => onFound(match.offset)}>
                            <span class="log-offset">{formatBytes(match.offset)}</span> {plainText(match.line).slice(0, shownLetters)}
                        </button>
                    ))}
                    {!found.complete && (
                        <button type="button" class="button" disabled={busy} onClick={() => void look()}>
                            {t("log.search_on")}
                        </button>
                    )}
                </>
            )}
        </div>
    );
}
