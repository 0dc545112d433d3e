// JSON whose integers are exact. Those that a number would round are BigInt, so that a seed of 64 bits is shown and copied
// as its trial has it.

/// An integer that may have too many digits for a number; in the other one texts come first, because they may hold anything.
const long = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/;
const longOrText = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${long.source}`, "g");
const mark = "\u0000integer:";

/// A scalar's integer as it is written: a number where that is exact.
export function integerOf(digits: string): number | bigint {
    const number = Number(digits);
    return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/// JSON.parse, but for large integers.
export function parseExact<T>(text: string): T {
    if (!long.test(text)) return JSON.parse(text) as T;
    let any = false;
    const marked = text.replace(longOrText, (found) => {
        if (found.startsWith('"') || Number.isSafeInteger(Number(found))) return found;
        any = true;
        return JSON.stringify(mark + found);
    });
    if (!any) return JSON.parse(text) as T;
    return JSON.parse(marked, (_, value: unknown) =>
        typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
    ) as T;
}

/// JSON.stringify, but for large integers.
export function printExact(value: unknown, indent?: number): string {
    let any = false;
    const text =
        JSON.stringify(
            value,
            (_, each: unknown) => {
                if (typeof each !== "bigint") return each;
                any = true;
                return mark + String(each);
            },
            indent,
        ) ?? "null";
    return any ? text.replace(/"\\u0000integer:(-?\d+)"/g, "$1") : text;
}

/// A number as it is read back: an integer without an exponent, others with as many digits as it takes.
export const exactText = (value: number | bigint): string =>
    typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? String(BigInt(value)) : String(value);
