// Where the browser is, as a signal, and how to get elsewhere.
import {signal} from "@preact/signals";
import {changed, parseAddress, printAddress, unreadable, type Address} from "./address";

/// Scripts lie in assets/, one below the base of all pages. So the pages work behind any prefix.
export const base = new URL("../", import.meta.url);

const below = (): string => (location.pathname.startsWith(base.pathname) ? location.pathname.slice(base.pathname.length) : "") + location.search;
const here = (): Address => parseAddress(below());

/// What of the browser's address is not in `address`.
export const unreadableHere = (): string[] => unreadable(below());

export const address = signal<Address>(here());

addEventListener("popstate", () => {
    address.value = here();
});

export function hrefOf(to: Address | string): string {
    return base.pathname + (typeof to === "string" ? to : printAddress(to));
}

export function go(to: Address | string, {replace = false} = {}): void {
    const url = hrefOf(to);
    if (url === location.pathname + location.search) return;
    const samePage = url.split("?")[0] === location.pathname;
    if (replace) history.replaceState(null, "", url);
    else history.pushState(null, "", url);
    address.value = here();
    if (!samePage) scrollTo(0, 0);
}

/// The parameters of the address, for a page. Values are text; "" and missing are the same.
export interface Query {
    get(name: string): string | undefined;
    /// A number, or undefined where the parameter is missing or not a finite number.
    number(name: string): number | undefined;
    list(name: string): string[];
    /// Changes the address. `replace` makes no entry in the history: for what changes while a pointer moves.
    set(changes: Readonly<Record<string, string | number | undefined>>, options?: {replace?: boolean}): void;
}

export function queryOf(current: Address): Query {
    return {
        get: (name) => current.query[name],
        number: (name) => {
            const text = current.query[name];
            const value = text === undefined ? NaN : Number(text);
            return Number.isFinite(value) ? value : undefined;
        },
        list: (name) => (current.query[name] ?? "").split(",").filter((word) => word !== ""),
        set: (changes, options) => {
            const texts = Object.entries(changes).map(([name, value]) => [name, value === undefined ? undefined : String(value)]);
            go(changed(address.peek(), Object.fromEntries(texts)), options);
        },
    };
}
