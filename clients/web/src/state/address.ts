// Addresses of pages: everything that changes what is seen is in the address, below a base path.

export type Parameters = Readonly<Record<string, string>>;

export interface Address {
    /// Decoded segments below the base, without empty ones.
    readonly path: readonly string[];
    readonly query: Parameters;
}

/// encodeURIComponent that leaves what is legal in a query and pleasant to read.
function spell(text: string): string {
    return encodeURIComponent(text.toWellFormed?.() ?? text).replace(/%(2C|3A|2F|40|3B|24)/g, (code) => decodeURIComponent(code));
}

function unspell(text: string): string | undefined {
    try {
        return decodeURIComponent(text.replaceAll("+", " "));
    } catch {
        return undefined;
    }
}

/// "e/3/curves?metric=loss" for an address; relative to the base.
export function printAddress(address: Address): string {
    const path = address.path.map((segment) => encodeURIComponent(segment)).join("/");
    const query = Object.entries(address.query)
        .filter(([name, value]) => name !== "" && value !== "")
        .map(([name, value]) => `${spell(name)}=${spell(value)}`)
        .join("&");
    return query === "" ? path : `${path}?${query}`;
}

/// Reads what printAddress wrote. A damaged part is left out.
export function parseAddress(text: string): Address {
    const hash = text.indexOf("#");
    const whole = hash < 0 ? text : text.slice(0, hash);
    const mark = whole.indexOf("?");
    const path = (mark < 0 ? whole : whole.slice(0, mark))
        .split("/")
        .map(unspell)
        .filter((segment): segment is string => segment !== undefined && segment !== "");
    const query: Record<string, string> = {};
    for (const part of mark < 0 ? [] : whole.slice(mark + 1).split("&")) {
        const equals = part.indexOf("=");
        const name = unspell(equals < 0 ? part : part.slice(0, equals));
        const value = unspell(equals < 0 ? "" : part.slice(equals + 1));
        if (name && value) {
            Object.defineProperty(query, name, {value, enumerable: true, configurable: true, writable: true});
        }
    }
    return {path, query};
}

/// What parseAddress left out because it can't be read: bytes that are no text, values without a name.
export function unreadable(text: string): string[] {
    const whole = text.split("#", 1)[0]!;
    const mark = whole.indexOf("?");
    const damaged = (part: string) => unspell(part) === undefined;
    const path = (mark < 0 ? whole : whole.slice(0, mark)).split("/").filter(damaged);
    return [
        ...path,
        ...(mark < 0
            ? []
            : whole
                  .slice(mark + 1)
                  .split("&")
                  .filter((part) => damaged(part) || part.startsWith("="))),
    ];
}

/// The same address with some parameters changed; undefined and "" remove one.
export function changed(address: Address, changes: Readonly<Record<string, string | undefined>>): Address {
    const query: Record<string, string> = {...address.query};
    for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === "") delete query[name];
        else query[name] = value;
    }
    return {path: address.path, query};
}
