// Server-sent events as EventSource reads them, with the headers of a request, which EventSource can't send. A stream that has
// ended isn't opened again here.
import {withOwnHeaders} from "./page_key";

export interface StreamEvent {
    readonly type: string;
    readonly data: string;
    readonly lastEventId: string;
}

/// Takes the text of a stream in parts of any size.
export class EventLines {
    private rest = "";
    private type = "";
    private data: string[] = [];
    private id = "";

    constructor(private readonly pass: (event: StreamEvent) => void) {}

    take(text: string): void {
        const lines = (this.rest + text).split("\n");
        this.rest = lines.pop()!;
        for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
    }

    private line(line: string): void {
        if (line === "") {
            if (this.data.length > 0) this.pass({type: this.type || "message", data: this.data.join("\n"), lastEventId: this.id});
            this.type = "";
            this.data = [];
            return;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
        if (field === "event") this.type = value;
        else if (field === "data") this.data.push(value);
        else if (field === "id") this.id = value;
    }
}

export class EventStream {
    isOpen = false;
    onopen: (() => void) | undefined;
    /// The stream didn't open, or has ended. Called once.
    onend: ((wasOpen: boolean) => void) | undefined;

    private readonly stop = new AbortController();
    private readonly listeners = new Map<string, (event: StreamEvent) => void>();

    constructor(url: string) {
        void this.read(url);
    }

    on(type: string, listener: (event: StreamEvent) => void): void {
        this.listeners.set(type, listener);
    }

    close(): void {
        this.isOpen = false;
        this.onopen = this.onend = undefined;
        this.listeners.clear();
        this.stop.abort();
    }

    private async read(url: string): Promise<void> {
        let wasOpen = false;
        try {
            const answer = await fetch(url, {
                credentials: "same-origin",
                cache: "no-store",
                signal: this.stop.signal,
                headers: withOwnHeaders({Accept: "text/event-stream"}),
            });
            if (answer.ok && answer.body && answer.headers.get("Content-Type")?.startsWith("text/event-stream")) {
                wasOpen = this.isOpen = true;
                this.onopen?.();
                const lines = new EventLines((event) => this.listeners.get(event.type)?.(event));
                const text = new TextDecoder();
                const reader = answer.body.getReader();
                for (let part = await reader.read(); !part.done; part = await reader.read()) lines.take(text.decode(part.value, {stream: true}));
            } else this.stop.abort();
        } catch {
            // The connection was cut, or close() was called: then nobody listens any more.
        }
        this.isOpen = false;
        this.onend?.(wasOpen);
    }
}
