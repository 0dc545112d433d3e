// A log: virtual lines, follows its end, search in what is loaded and, if that is not all, in the whole log.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {t, tCount} from "../i18n/texts";
import {formatBytes, formatNumber} from "../i18n/format";
import {Loading} from "../design/states";
import {piecesOf} from "./ansi";
import {plainText, type LogLine} from "./fold";
import {LogReader} from "./log_reader";
import {WholeSearch} from "./whole_search";

const lineHeight = 20;
const spare = 20;
const mostWrapped = 4000;

interface Props {
    readonly path: string;
    readonly live: boolean;
    readonly at: number | undefined;
    readonly onPoint: (offset: number) => void;
    readonly search: string;
    readonly onSearch: (text: string) => void;
    readonly wrap: boolean;
    readonly height?: string;
    readonly error?: boolean;
}

function Line({
    line,
    marked,
    error,
    found,
    onPoint,
}: {
    line: LogLine;
    marked: boolean;
    error: boolean;
    found: boolean;
    onPoint: (offset: number) => void;
}) {
    return (
        <div class={`log-line${marked ? " marked" : ""}${found ? " found" : ""}`}>
            <button class="log-offset" tabIndex={-1} onClick={() => onPoint(line.offset)} aria-label={t("log.point", {offset: line.offset})}>
                {error ? "! " : ""}
                {line.offset}
            </button>
            <span class="log-text">
                {piecesOf(line.text).map((piece, index) =>
                    piece.classes || piece.color || piece.background ? (
                        <span
                            key={index}
                            class={piece.classes}
                            style={{...(piece.color ? {color: piece.color} : {}), ...(piece.background ? {background: piece.background} : {})}}
                        >
                            {piece.text}
                        </span>
                    ) : (
                        piece.text
                    ),
                )}
            </span>
        </div>
    );
}

export function LogView({path, live, at, onPoint, search, onSearch, wrap, height, error = false}: Props) {
    const [, redraw] = useState(0);
    const [jump, setJump] = useState<number | undefined>(undefined);
    const place = jump ?? at;
    const [follow, setFollow] = useState(at === undefined);
    const [top, setTop] = useState(0);
    const [tall, setTall] = useState(400);
    const [current, setCurrent] = useState(0);
    const box = useRef<HTMLDivElement>(null);
    const reader = useRef<LogReader>(undefined);
    const alive = useRef(live);
    alive.current = live;
    const following = useRef(follow);
    following.current = follow;

    useEffect(() => {
        const made = new LogReader(
            path,
            () => redraw((n) => n + 1),
            () => alive.current,
        );
        reader.current = made;
        void made.open(place);
        return () => made.close();
    }, [path, jump]);

    const log = reader.current;
    const lines = log ? (log.unfinished ? [...log.lines, log.unfinished] : log.lines) : [];
    const needle = search.toLowerCase();
    const matches = useMemo(() => {
        if (needle === "") return [];
        const found: number[] = [];
        lines.forEach((line, index) => {
            if (plainText(line.text).toLowerCase().includes(needle)) found.push(index);
        });
        return found;
    }, [needle, lines.length, log?.from]);
    const foundIndex = matches.length > 0 ? matches[((current % matches.length) + matches.length) % matches.length] : undefined;

    useLayoutEffect(() => {
        const element = box.current;
        if (!element) return;
        setTall(element.clientHeight);
        if (following.current) element.scrollTop = element.scrollHeight;
    });
    useEffect(() => {
        const element = box.current;
        if (place === undefined || !element || lines.length === 0) return;
        const index = lines.findIndex((line) => line.offset >= place);
        if (index >= 0 && !wrap) element.scrollTop = Math.max(0, index * lineHeight - element.clientHeight / 2);
    }, [place, lines.length > 0]);
    useEffect(() => {
        if (foundIndex === undefined || !box.current) return;
        setFollow(false);
        if (wrap) box.current.querySelector(".found")?.scrollIntoView({block: "center"});
        else box.current.scrollTop = Math.max(0, foundIndex * lineHeight - tall / 2);
    }, [needle, current]);

    const scrolled = async (element: HTMLDivElement) => {
        setTop(element.scrollTop);
        const end = element.scrollHeight - element.scrollTop - element.clientHeight < 4;
        if (end !== following.current) setFollow(end);
        if (element.scrollTop < 400 && log && log.from > 0 && !log.loading) {
            const added = await log.older();
            if (added > 0 && !wrap) element.scrollTop += added * lineHeight;
        }
    };
    const first = wrap ? Math.max(0, lines.length - mostWrapped) : Math.max(0, Math.floor(top / lineHeight) - spare);
    const last = wrap ? lines.length : Math.min(lines.length, Math.ceil((top + tall) / lineHeight) + spare);
    return (
        <div class="log">
            <div class="log-bar">
                <form
                    class="chips"
                    onSubmit={(event) => {
                        event.preventDefault();
                        setCurrent(current + 1);
                    }}
                >
                    <input
                        class="input search"
                        type="search"
                        data-search
                        placeholder={t("log.search")}
                        aria-label={t("log.search")}
                        value={search}
                        onInput={(event) => {
                            setCurrent(0);
                            onSearch(event.currentTarget.value);
                        }}
                    />
                    {needle !== "" && (
                        <>
                            <span class="muted small" role="status">
                                {matches.length === 0
                                    ? t("log.no_match")
                                    : t("log.match", {
                                          n: formatNumber((((current % matches.length) + matches.length) % matches.length) + 1),
                                          total: formatNumber(matches.length),
                                      })}
                            </span>
                            <button
                                type="button"
                                class="button"
                                disabled={matches.length < 2}
                                onClick={() => setCurrent(current - 1)}
                                aria-label={t("log.previous")}
                            >
                                ↑
                            </button>
                            <button type="submit" class="button" disabled={matches.length < 2} aria-label={t("log.next")}>
                                ↓
                            </button>
                        </>
                    )}
                </form>
                <span class="push muted small">
                    {log && !log.loading && !log.problem ? tCount("log.lines", lines.length) : ""}
                    {log && log.from > 0 ? ` · ${t("log.loaded", {part: formatBytes(log.to - log.from), size: formatBytes(log.size)})}` : ""}
                </span>
                {!follow && lines.length > 0 && (
                    <button class="button" onClick={() => setFollow(true)}>
                        {t(live ? "log.follow" : "log.to_end")}
                    </button>
                )}
            </div>
            {needle !== "" && log && !log.loading && (log.from > 0 || jump !== undefined) && (
                <WholeSearch
                    path={path}
                    search={search}
                    onFound={(offset) => {
                        setFollow(false);
                        setJump(offset);
                        onPoint(offset);
                    }}
                />
            )}
            {log?.problem && lines.length === 0 ? (
                <p class="log-empty muted">{log.problem.message}</p>
            ) : !log || (log.loading && lines.length === 0) ? (
                <Loading rows={4} />
            ) : lines.length === 0 ? (
                <p class="log-empty muted">{t(live ? "log.empty_live" : "log.empty")}</p>
            ) : (
                <div
                    class={`log-box${wrap ? " wrap" : ""}`}
                    ref={box}
                    style={height ? {maxHeight: height} : {}}
                    tabIndex={0}
                    role="log"
                    aria-label={t("log.title")}
                    aria-live="off"
                    onScroll={(event) => void scrolled(event.currentTarget)}
                >
                    {wrap && first > 0 && <p class="muted small log-cut">{t("log.wrapped_cut", {n: formatNumber(mostWrapped)})}</p>}
                    <div style={wrap ? {} : {height: `${lines.length * lineHeight}px`, paddingTop: `${first * lineHeight}px`}}>
                        {lines.slice(first, last).map((line, index) => (
                            <Line
                                key={line.offset}
                                line={line}
                                error={error}
                                onPoint={onPoint}
                                marked={place !== undefined && line.offset === place}
                                found={first + index === foundIndex}
                            />
                        ))}
                    </div>
                </div>
            )}
        </div>
    );
}
