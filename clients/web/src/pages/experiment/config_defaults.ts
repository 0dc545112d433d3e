// Which fields of a configuration are as the daemon sets them by default: it is asked for the defaults of a file that has only what a
// file needs.
import {printExact} from "../../api/exact";

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields | undefined =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

const picked = (from: Fields, names: readonly string[]): Record<string, unknown> =>
    Object.fromEntries(names.filter((name) => from[name] !== undefined && from[name] !== null).map((name) => [name, from[name]]));

/// A file with the same search and nothing that could be left out. `required`: the fields that its searcher needs.
export function needed(config: Fields, required: readonly string[]): Record<string, unknown> {
    const entrypoint = config["entrypoint"];
    // A search without a program is one of external workers.
    const hasProgram = entrypoint !== undefined && entrypoint !== null && printExact(entrypoint).length > 2;
    return {
        ...picked(config, ["name", hasProgram ? "entrypoint" : "workers", "hyperparameters"]),
        searcher: picked(fieldsOf(config["searcher"]) ?? {}, ["name", "metric", "max_length", ...required]),
    };
}

/// The fields that are no defaults, or that a file needs.
export function withoutDefaults(config: Fields, defaults: Fields, file: Fields): Record<string, unknown> {
    const left: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(config)) {
        const [held, like, written] = [fieldsOf(value), fieldsOf(defaults[name]), fieldsOf(file[name])];
        if (name in file && !written) left[name] = value;
        else if (name === "hyperparameters") left[name] = value;
        else if (held && like) {
            const inner = withoutDefaults(held, like, written ?? {});
            if (Object.keys(inner).length > 0) left[name] = inner;
        } else if (printExact(value) !== printExact(defaults[name])) left[name] = value;
    }
    return left;
}

const count = (value: unknown): number => {
    const fields = fieldsOf(value);
    const all = Object.values(fields ?? {});
    return fields && all.length > 0 ? all.reduce<number>((sum, each) => sum + count(each), 0) : 1;
};

/// How many fields `left` lacks of `config`.
export const hiddenFields = (config: Fields, left: Fields): number => count(config) - count(left);
