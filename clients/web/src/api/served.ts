// Which routes the daemon serves, from its own description: pages offer only what it can do.
import {signal} from "@preact/signals";
import {get} from "./client";

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const paths = signal<Paths | undefined>(undefined);
let asked = false;

/// Whether a route whose path ends with `ending` is served, with `method` if one is given; false until the description
/// is read.
export function isServed(ending: string, method = ""): boolean {
    if (!asked) {
        asked = true;
        void get<{paths?: Paths}>("openapi.json").then(
            (description) => {
                paths.value = description.paths ?? {};
            },
            () => {
                paths.value = {};
            },
        );
    }
    return Object.entries(paths.value ?? {}).some(([path, methods]) => path.endsWith(ending) && (method === "" || method in methods));
}
