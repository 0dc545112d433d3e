// The page's side of the table's Web Worker.
import {base} from "../state/router";
import type {Columns} from "../plot/data/columns";
import {answer, type Answer, type Wish} from "./rows";

declare global {
    interface Window {
        trustedTypes?: {createPolicy(name: string, rules: {createScriptURL(url: string): string}): {createScriptURL(url: string): unknown}};
    }
}

/// Under require-trusted-types-for, a worker needs a URL that a policy let pass: only the one file of ours.
function workerUrl(): string {
    const own = new URL(`assets/${TABLE_WORKER}`, base).href;
    const policy = window.trustedTypes?.createPolicy("hpsearch-table", {
        createScriptURL: (url) => {
            if (url !== own) throw new TypeError("not the table's worker");
            return url;
        },
    });
    return (policy ? policy.createScriptURL(own) : own) as string;
}

let url: string | undefined;

export class RowSource {
    private worker: Worker | undefined;
    private columns: Columns | undefined;
    private next = 0;
    private readonly waiting = new Map<number, (answer: Answer) => void>();

    constructor() {
        try {
            this.worker = new Worker((url ??= workerUrl()), {type: "module"});
            this.worker.onmessage = ({data}: MessageEvent<Answer & {id: number}>) => {
                this.waiting.get(data.id)?.(data);
                this.waiting.delete(data.id);
            };
            this.worker.onerror = () => {
                this.worker = undefined;
            };
        } catch {
            // Without workers the page sorts on its own thread.
        }
    }

    set(columns: Columns): void {
        this.columns = columns;
        this.worker?.postMessage({columns});
    }

    ask(wish: Wish): Promise<Answer> {
        if (!this.worker) return Promise.resolve(this.columns ? answer(this.columns, wish) : {rows: new Uint32Array(0)});
        const id = this.next++;
        this.worker.postMessage({id, wish});
        return new Promise((resolve) => this.waiting.set(id, resolve));
    }

    close(): void {
        this.worker?.terminate();
    }
}
