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
/// Closer to an edge of the window than this, the next part is read.
const nearEdge = 400;

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
    number,
    marked,
    error,
    found,
    onPoint,
}: {
    line: LogLine;
    number: number | undefined;
    marked: boolean;
    error: boolean;
    found: boolean;
    onPoint: (offset: number) => void;
}) {
    return (
        <div data-offset={line.offset} class={`log-line${marked ? " marked" : ""}${found ? " found" : ""}`}>
            <button
                class={`log-offset${error ? " of-errors" : ""}`}
                tabIndex={-1}
                onClick={() => onPoint(line.offset)}
                aria-label={number === undefined ? t("log.point_here") : t("log.point", {n: number})}
            >
                {number}
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

/// A line at the upper edge of the box, and how far it is above the edge.
interface Anchor {
    readonly offset: number;
    readonly above: number;
}

/// The first line that isn't completely above the box, by binary search.
function firstSeen(box: HTMLElement): HTMLElement | undefined {
    const lines = box.querySelectorAll<HTMLElement>(".log-line");
    const edge = box.getBoundingClientRect().top;
    let low = 0;
    let high = lines.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (lines[middle]!.getBoundingClientRect().bottom > edge) high = middle;
        else low = middle + 1;
    }
    return lines[low];
}

const aboveEdge = (box: HTMLElement, line: HTMLElement): number => box.getBoundingClientRect().top - line.getBoundingClientRect().top;

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
    /// `follow` takes this value at the latest with the next scroll event.
    const following = useRef(follow);
    const followEnd = (yes: boolean) => {
        following.current = yes;
        setFollow(yes);
    };
    const anchor = useRef<Anchor>(undefined);
    const shownFrom = useRef(0);
    /// The lines in the document, and where the box stood when it was last looked at.
    const drawn = useRef<readonly LogLine[]>([]);
    const standsAt = useRef(0);
    /// Whether the user scrolled while a part was read.
    const scrolledOn = useRef(false);
    /// The place that is already shown, and the reader whose lines were scrolled to it.
    const placed = useRef<readonly [LogReader, number]>(undefined);

    useEffect(() => {
        const made = new LogReader(path, {
            changed: () => redraw((n) => n + 1),
            live: () => alive.current,
            follows: () => following.current,
        });
        reader.current = made;
        void made.open(place);
        return () => made.close();
    }, [path, jump]);

    const log = reader.current;
    const part = log?.window;
    // Within the log, the line without end is the beginning of a line that is not read yet.
    const unfinished = log && (log.atEnd || log.window.lines.length === 0) ? log.window.unfinished : undefined;
    const lines = part ? (unfinished ? [...part.lines, unfinished] : [...part.lines]) : [];
    const needle = search.toLowerCase();
    const matches = useMemo(() => {
        if (needle === "") return [];
        const found: number[] = [];
        lines.forEach((line, index) => {
            if (plainText(line.text).toLowerCase().includes(needle)) found.push(index);
        });
        return found;
    }, [needle, lines.length, part?.from]);
    const foundIndex = matches.length > 0 ? matches[((current % matches.length) + matches.length) % matches.length] : undefined;

    /// Reads from the document what the user sees: whether the end, and which line is at the upper edge.
    const readPlace = (element: HTMLDivElement) => {
        const {scrollTop} = element;
        standsAt.current = scrollTop;
        const below = element.scrollHeight - scrollTop - element.clientHeight;
        if (below >= 4) following.current = false;
        else if (log?.atEnd) following.current = true;
        const index = Math.floor(scrollTop / lineHeight);
        const line = wrap ? firstSeen(element) : undefined;
        if (line) anchor.current = {offset: Number(line.dataset["offset"]), above: aboveEdge(element, line)};
        else if (drawn.current[index]) anchor.current = {offset: drawn.current[index].offset, above: scrollTop - index * lineHeight};
        return below;
    };
    // The event of a scroll comes with the next frame. Lines that are drawn before must not undo the scroll.
    if (box.current && box.current.scrollTop !== standsAt.current) readPlace(box.current);

    useLayoutEffect(() => {
        const element = box.current;
        if (!element) return;
        drawn.current = lines;
        setTall(element.clientHeight);
        const target = lines.find((line) => place !== undefined && line.offset >= place);
        if (log && !log.loading && target && place !== undefined && (placed.current?.[0] !== log || placed.current[1] !== place)) {
            placed.current = [log, place];
            followEnd(false);
            if (wrap) element.querySelector(`[data-offset="${target.offset}"]`)?.scrollIntoView({block: "center"});
            else element.scrollTop = Math.max(0, lines.indexOf(target) * lineHeight - element.clientHeight / 2);
        } else if (following.current) element.scrollTop = element.scrollHeight;
        else if (part && part.from !== shownFrom.current && anchor.current) {
            // Lines came or went above those that the user reads.
            const {offset, above} = anchor.current;
            const index = lines.findIndex((line) => line.offset >= offset);
            const line = wrap ? element.querySelector<HTMLElement>(`[data-offset="${offset}"]`) : null;
            if (line) element.scrollTop += above - aboveEdge(element, line);
            else if (!wrap && index >= 0) element.scrollTop = index * lineHeight + above;
        }
        shownFrom.current = part?.from ?? 0;
        standsAt.current = element.scrollTop;
        setTop(element.scrollTop);
        if (scrolledOn.current && !log?.loading) {
            scrolledOn.current = false;
            scrolled(element);
        }
    });
    useEffect(() => {
        if (foundIndex === undefined || !box.current) return;
        followEnd(false);
        if (wrap) box.current.querySelector(".found")?.scrollIntoView({block: "center"});
        else box.current.scrollTop = Math.max(0, foundIndex * lineHeight - tall / 2);
    }, [needle, current]);

    const scrolled = (element: HTMLDivElement) => {
        const below = readPlace(element);
        setTop(element.scrollTop);
        setFollow(following.current);
        if (!log || following.current) return;
        if (log.loading) scrolledOn.current = true;
        else if (element.scrollTop < nearEdge && log.window.from > 0) void log.older();
        else if (below < nearEdge) void log.newer();
    };
    const first = wrap ? 0 : Math.max(0, Math.floor(top / lineHeight) - spare);
    const last = wrap ? lines.length : Math.min(lines.length, Math.ceil((top + tall) / lineHeight) + spare);
    const isOpen = log !== undefined && (!log.loading || lines.length > 0);
    const isPart = log !== undefined && part !== undefined && (part.from > 0 || part.to < log.size);
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
                    {isOpen && !log.problem ? tCount("log.lines", lines.length) : ""}
                    {log && isPart ? ` · ${t("log.loaded", {part: formatBytes(part!.to - part!.from), size: formatBytes(log.size)})}` : ""}
                </span>
                {!follow && lines.length > 0 && (
                    <button
                        class="button"
                        onClick={() => {
                            followEnd(true);
                            if (log && !log.atEnd) void log.open();
                        }}
                    >
                        {t(live ? "log.follow" : "log.to_end")}
                    </button>
                )}
            </div>
            {needle !== "" && isOpen && (isPart || jump !== undefined) && (
                <WholeSearch
                    path={path}
                    search={search}
                    onFound={(offset) => {
                        followEnd(false);
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
                    onScroll={(event) => scrolled(event.currentTarget)}
                >
                    <div style={wrap ? {} : {height: `${lines.length * lineHeight}px`, paddingTop: `${first * lineHeight}px`}}>
                        {lines.slice(first, last).map((line, index) => (
                            <Line
                                key={line.offset}
                                line={line}
                                number={part?.firstNumber === undefined ? undefined : part.firstNumber + first + index}
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
