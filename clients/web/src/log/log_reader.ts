// Reads the log of an attempt: its end first, older parts when asked for, and what is written meanwhile.
import {apiUrl, get, Problem} from "../api/client";
import {EventStream} from "../api/event_stream";
import {LogFolder, type LogLine} from "./fold";

export interface LogPart {
    readonly attempt: number;
    readonly kept: boolean;
    readonly offset: number;
    readonly size: number;
    readonly text: string;
}

const partBytes = 64 * 1024;
/// More lines than these are dropped at the other end of the log; scrolling back reads them again.
const mostLines = 50_000;
const pollEvery = 1000;

export class LogReader {
    lines: LogLine[] = [];
    unfinished: LogLine | undefined;
    /// What is loaded, in bytes.
    from = 0;
    to = 0;
    size = 0;
    attempt: number | undefined;
    problem: Problem | undefined;
    loading = true;
    /// Nothing more comes.
    ended = false;

    private folder = new LogFolder();
    private stopped = false;
    private source: EventStream | undefined;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private readonly abort = new AbortController();
    private frame = 0;

    /// `path`: "experiments/1/trials/2/log?stream=stdout". `changed` is called at most once a frame.
    constructor(
        private readonly path: string,
        private readonly changed: () => void,
        private readonly live: () => boolean,
    ) {}

    async open(at: number | undefined): Promise<void> {
        const start = at === undefined ? "&from_end=1" : `&offset=${Math.max(0, at - partBytes / 2)}`;
        try {
            const part = await this.part(`${start}&limit=${partBytes}`);
            this.attempt = part.attempt;
            this.from = part.offset;
            this.folder = new LogFolder(part.offset);
            this.append(part.text, Math.min(part.size, part.offset + this.bytesOf(part)));
            this.size = part.size;
            if (part.offset > 0 && this.lines.length > 0) {
                // The first line is most likely cut.
                const first = this.lines.shift()!;
                this.from = this.lines[0]?.offset ?? first.offset;
            }
        } catch (cause) {
            this.problem = cause instanceof Problem ? cause : new Problem(0, "", String(cause), undefined);
        }
        this.loading = false;
        this.announce();
        if (!this.stopped) this.follow();
    }

    /// Reads the part before what is loaded. Returns how many lines came.
    async older(): Promise<number> {
        if (this.from === 0 || this.loading) return 0;
        this.loading = true;
        const begin = Math.max(0, this.from - partBytes);
        try {
            const part = await this.part(`&offset=${begin}&limit=${this.from - begin}`);
            const folder = new LogFolder(part.offset);
            const lines = folder.take(part.text, this.from);
            const rest = folder.unfinished;
            if (rest) lines.push(rest);
            if (begin > 0) lines.shift();
            const before = this.lines.length;
            this.from = lines[0]?.offset ?? begin;
            this.lines = [...lines, ...this.lines];
            return this.lines.length - before;
        } catch (cause) {
            if (cause instanceof Problem) this.problem = cause;
            return 0;
        } finally {
            this.loading = false;
            this.announce();
        }
    }

    close(): void {
        this.stopped = true;
        this.abort.abort();
        this.source?.close();
        clearTimeout(this.timer);
        cancelAnimationFrame(this.frame);
    }

    private part(query: string): Promise<LogPart> {
        return get<LogPart>(`${this.path}${query}`, this.abort.signal);
    }

    /// An answer that reaches the end of the log ends there, whatever its text's bytes were.
    private bytesOf(part: LogPart): number {
        const counted = new TextEncoder().encode(part.text).length;
        return part.offset + counted > part.size || (part.text.includes("\ufffd") && part.size - part.offset <= partBytes)
            ? part.size - part.offset
            : counted;
    }

    private append(text: string, end: number): void {
        this.lines.push(...this.folder.take(text, end));
        this.unfinished = this.folder.unfinished;
        this.to = end;
        if (this.lines.length > mostLines) {
            this.lines.splice(0, this.lines.length - mostLines);
            this.from = this.lines[0]!.offset;
        }
    }

    private announce(): void {
        if (this.frame !== 0 || this.stopped) return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            if (!this.stopped) this.changed();
        });
    }

    private follow(): void {
        const source = new EventStream(apiUrl(`${this.path}&follow=1&offset=${this.to}`));
        this.source = source;
        source.on("log", (event) => {
            const part = JSON.parse(event.data) as {offset: number; text: string};
            if (part.offset < this.to) return;
            const end = Number(event.lastEventId);
            this.append(part.text, Number.isFinite(end) && end >= part.offset ? end : part.offset + new TextEncoder().encode(part.text).length);
            this.size = Math.max(this.size, this.to);
            this.problem = undefined;
            this.announce();
        });
        source.on("end", () => {
            this.ended = true;
            source.close();
            this.announce();
        });
        source.onend = (wasOpen) => {
            if (wasOpen) this.timer = setTimeout(() => this.follow(), pollEvery);
            else this.poll();
        };
    }

    /// For a daemon that serves no growing log.
    private poll(): void {
        this.timer = setTimeout(async () => {
            if (document.hidden) {
                this.poll();
                return;
            }
            try {
                let part: LogPart;
                do {
                    part = await this.part(`&offset=${this.to}&limit=${partBytes}`);
                    this.attempt ??= part.attempt;
                    if (part.text !== "") this.append(part.text, part.offset + this.bytesOf(part));
                    this.size = part.size;
                    this.problem = undefined;
                    this.announce();
                } while (this.to < part.size && part.text !== "" && !this.stopped);
            } catch (cause) {
                if (cause instanceof Problem && this.lines.length === 0) this.problem = cause;
            }
            if (!this.stopped && this.live()) this.poll();
            else {
                this.ended = true;
                this.announce();
            }
        }, pollEvery);
    }
}
