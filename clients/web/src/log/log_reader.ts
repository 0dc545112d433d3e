// Reads the log of an attempt: its end first, other parts when the user scrolls there, and new text while the end is shown.
import {apiUrl, get, Problem} from "../api/client";
import {EventStream} from "../api/event_stream";
import {utf8Length} from "./fold";
import {LogWindow} from "./log_window";

export interface LogPart {
    readonly attempt: number;
    readonly kept: boolean;
    readonly offset: number;
    readonly size: number;
    readonly text: string;
}

interface View {
    /// Called at most once a frame.
    readonly changed: () => void;
    /// Whether the trial still writes.
    readonly live: () => boolean;
    /// Whether the user looks at the end of the log: then new lines replace the oldest ones.
    readonly follows: () => boolean;
}

const partBytes = 64 * 1024;
const pollEvery = 1000;

/// An answer that reaches the end of the log ends there, even if bytes that aren't UTF-8 make its text longer.
function endOf(part: LogPart): number {
    const counted = utf8Length(part.text);
    const isLast = part.text.includes("\ufffd") && part.size - part.offset <= partBytes;
    return isLast ? part.size : Math.min(part.size, part.offset + counted);
}

export class LogReader {
    window = new LogWindow();
    size = 0;
    problem: Problem | undefined;
    loading = true;
    /// Whether the window reaches the end of the log. New text is read only then.
    atEnd = false;

    private attempt: number | undefined;
    private stopped = false;
    private source: EventStream | undefined;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private readonly abort = new AbortController();
    private frame = 0;
    /// Counts what was loaded; an answer that another request has overtaken is ignored.
    private turn = 0;

    /// `path`: "experiments/1/trials/2/log?stream=stdout".
    constructor(
        private readonly path: string,
        private readonly view: View,
    ) {}

    /// Opens the log around this byte, or at its end.
    async open(at?: number): Promise<void> {
        this.leaveEnd();
        await this.load(at === undefined ? "&from_end=1" : `&offset=${Math.max(0, at - partBytes / 2)}`, partBytes, (part) => {
            this.window = LogWindow.on(part.text, part.offset, endOf(part));
        });
        if (this.problem || this.window.to >= this.size) this.follow();
    }

    /// Reads the part before the window.
    async older(): Promise<void> {
        const {window} = this;
        if (window.from === 0 || this.loading) return;
        const begin = Math.max(0, window.from - partBytes);
        await this.load(`&offset=${begin}`, window.from - begin, (part) => {
            window.moveBack(part.text, part.offset);
            if (window.to < this.size) this.leaveEnd();
        });
    }

    /// Reads the part behind the window.
    async newer(): Promise<void> {
        const {window} = this;
        if (this.atEnd || this.loading) return;
        await this.load(`&offset=${window.to}`, partBytes, (part) => {
            window.moveOn(part.text, endOf(part));
            if (window.to >= part.size || part.text === "") this.follow();
        });
    }

    close(): void {
        this.stopped = true;
        this.abort.abort();
        this.leaveEnd();
        cancelAnimationFrame(this.frame);
    }

    private async load(query: string, limit: number, take: (part: LogPart) => void): Promise<void> {
        this.loading = true;
        this.turn += 1;
        const {turn} = this;
        try {
            const part = await this.part(`${query}&limit=${limit}`);
            if (this.stopped || turn !== this.turn) return;
            this.size = Math.max(this.size, part.size);
            this.problem = undefined;
            take(part);
        } catch (cause) {
            if (turn === this.turn) this.problem = cause instanceof Problem ? cause : new Problem(0, "", String(cause), undefined);
        } finally {
            if (turn === this.turn) this.loading = false;
            this.announce();
        }
    }

    /// All parts are of the attempt that was opened: a later attempt has another log.
    private async part(query: string): Promise<LogPart> {
        const part = await get<LogPart>(`${this.path}${this.ofAttempt()}${query}`, this.abort.signal);
        this.attempt ??= part.attempt;
        return part;
    }

    private ofAttempt(): string {
        return this.attempt === undefined || this.path.includes("&attempt=") ? "" : `&attempt=${this.attempt}`;
    }

    private announce(): void {
        if (this.frame !== 0 || this.stopped) return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            if (!this.stopped) this.view.changed();
        });
    }

    private leaveEnd(): void {
        this.atEnd = false;
        this.source?.close();
        clearTimeout(this.timer);
    }

    private follow(): void {
        if (this.stopped) return;
        this.atEnd = true;
        const source = new EventStream(apiUrl(`${this.path}${this.ofAttempt()}&follow=1&offset=${this.window.to}`));
        this.source = source;
        source.on("log", (event) => {
            const part = JSON.parse(event.data) as {offset: number; text: string};
            if (part.offset < this.window.to) return;
            const end = Number(event.lastEventId);
            this.grow(part.text, Number.isFinite(end) && end >= part.offset ? end : part.offset + utf8Length(part.text));
        });
        source.on("end", () => source.close());
        source.onend = (wasOpen) => {
            this.timer = setTimeout(() => (wasOpen ? this.follow() : void this.poll()), pollEvery);
        };
    }

    private grow(text: string, end: number): void {
        if (this.view.follows()) this.window.append(text, end);
        else this.window.extend(text, end);
        this.size = Math.max(this.size, end);
        this.problem = undefined;
        if (this.window.to < this.size) this.leaveEnd();
        this.announce();
    }

    /// Reads what was written while the daemon didn't stream the log, and requests the stream again.
    private async poll(): Promise<void> {
        const {window} = this;
        const {to} = window;
        let isBehind = false;
        if (!document.hidden) {
            try {
                const part = await this.part(`&offset=${to}&limit=${partBytes}`);
                if (window !== this.window || window.to !== to) return;
                isBehind = part.text !== "" && endOf(part) < part.size;
                this.grow(part.text, endOf(part));
            } catch (cause) {
                if (cause instanceof Problem && this.window.lines.length === 0) this.problem = cause;
                this.announce();
            }
        }
        if (this.stopped || !this.atEnd) return;
        if (isBehind) this.timer = setTimeout(() => void this.poll(), 0);
        else if (this.view.live()) this.follow();
    }
}
