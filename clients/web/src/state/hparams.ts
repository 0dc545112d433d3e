// Hyperparameters by their paths.

/// {"a": {"b": 1}} as [["a.b", 1]].
export function flatHparams(values: Readonly<Record<string, unknown>>, before = ""): [string, unknown][] {
    return Object.entries(values).flatMap(([name, value]): [string, unknown][] =>
        typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
            ? flatHparams(value as Record<string, unknown>, `${before}${name}.`)
            : [[before + name, value]],
    );
}

const byName = new Intl.Collator("en", {numeric: true});

/// "p2" before "p10".
export function inOrder(all: readonly [string, unknown][]): [string, unknown][] {
    return [...all].sort(([a], [b]) => byName.compare(a, b));
}
