// Numbers, times and durations as the pages show them.
import {printExact} from "../api/exact";
import {numberOf} from "../api/shapes";
import type {Count, Metric} from "../api/types";
import {locale} from "./texts";

const missing = "–";

/// About `digits` significant digits, without a long tail of zeros: 0.9733, 1.2e-5, 12,345.
/// Integers have all their digits.
export function formatNumber(given: Metric | Count | bigint | null | undefined, digits = 4): string {
    if (given === null || given === undefined) return missing;
    if (typeof given === "bigint") return new Intl.NumberFormat(locale.value).format(given);
    const value = numberOf(given);
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || (size >= 1e9 && !Number.isSafeInteger(value)))) {
        const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split("e");
        return `${mantissa!.replace(/\.?0+$/, "")}e${exponent!.replace("+", "")}`;
    }
    const whole = Number.isInteger(value);
    return new Intl.NumberFormat(
        locale.value,
        whole ? {maximumFractionDigits: 0} : {maximumSignificantDigits: Math.max(digits, size >= 1 ? Math.floor(Math.log10(size)) + 1 : digits)},
    ).format(value);
}

/// The number with this many decimals, as the command line has it.
export function formatFixed(value: number, decimals: number): string {
    if (!Number.isFinite(value)) return formatNumber(value);
    return new Intl.NumberFormat(locale.value, {minimumFractionDigits: decimals, maximumFractionDigits: decimals}).format(value);
}

/// "0.931 ± 0.012": the deviation has two significant digits, and the mean as many decimals.
export function formatWithDeviation(mean: number, deviation: number): string {
    const digits = deviation > 0 ? 1 - Math.floor(Math.log10(deviation)) : Infinity;
    if (!Number.isFinite(deviation) || digits > 12) return `${formatNumber(mean)} ± ${formatNumber(deviation)}`;
    return `${formatFixed(mean, Math.max(0, digits))} ± ${formatFixed(deviation, Math.max(0, digits))}`;
}

export function formatPercent(share: number | null | undefined, digits = 0): string {
    if (share === null || share === undefined || !Number.isFinite(share)) return missing;
    return new Intl.NumberFormat(locale.value, {style: "percent", maximumFractionDigits: digits}).format(share);
}

/// A hyperparameter or another JSON value in one line. Integers are written as in a file.
export function formatValue(value: unknown): string {
    if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
    if (typeof value === "number") return formatNumber(value);
    if (typeof value === "string") return value;
    if (value === null || value === undefined) return "null";
    return printExact(value);
}

/// "4.2 s", "3 min 20 s", "2 h 05 min", "3 d 4 h": like the command line.
export function formatDuration(seconds: number | null | undefined): string {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return missing;
    const s = Math.max(0, seconds);
    if (s < 10) return `${(Math.round(s * 10) / 10).toString()} s`;
    if (s < 59.5) return `${Math.round(s)} s`;
    const whole = Math.round(s);
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60 === 0 ? "" : `${whole % 60} s`}`.trim();
    if (whole < 86400) return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
    return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

export function formatTime(seconds: number | null | undefined): string {
    if (seconds === null || seconds === undefined) return missing;
    return new Intl.DateTimeFormat(locale.value, {dateStyle: "medium", timeStyle: "medium"}).format(seconds * 1000);
}

/// A time of day, with the date where it isn't today's.
export function formatShortTime(seconds: number | null | undefined, now: number): string {
    if (seconds === null || seconds === undefined) return missing;
    const day = (at: number) => new Date(at * 1000).toDateString();
    const options: Intl.DateTimeFormatOptions =
        day(seconds) === day(now)
            ? {hour: "2-digit", minute: "2-digit", second: "2-digit"}
            : {day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"};
    return new Intl.DateTimeFormat(locale.value, options).format(seconds * 1000);
}

/// Output of programs may have colours; sentences show none. Other control characters, and those that turn the direction of writing,
/// are shown as symbols.
export function plain(text: string): string {
    return text
        .replace(/\x1b\[[0-9;:?]*[ -/]*[@-~]/g, "")
        .replace(/[\x00-\x08\x0b-\x1f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
        .replace(/[\u202a-\u202e\u2066-\u2069]/g, (char) => `⟨U+${char.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}

/// A day of the daemon's, which are those of UTC.
export function formatDay(seconds: number): string {
    return new Intl.DateTimeFormat(locale.value, {day: "numeric", month: "short", timeZone: "UTC"}).format(seconds * 1000);
}

/// "3 minutes ago". Both are times of the daemon's clock.
export function formatAgo(seconds: number | null | undefined, now: number): string {
    if (seconds === null || seconds === undefined) return missing;
    const age = seconds - now;
    const size = Math.abs(age);
    const format = new Intl.RelativeTimeFormat(locale.value, {numeric: "auto", style: "long"});
    if (size < 60) return format.format(Math.round(age), "second");
    if (size < 3600) return format.format(Math.round(age / 60), "minute");
    if (size < 86400) return format.format(Math.round(age / 3600), "hour");
    return format.format(Math.round(age / 86400), "day");
}

export function formatBytes(bytes: number | null | undefined): string {
    if (bytes === null || bytes === undefined) return missing;
    const units = ["B", "kB", "MB", "GB", "TB"];
    let value = bytes;
    let unit = 0;
    while (value >= 999.5 && unit + 1 < units.length) {
        value /= 1000;
        unit += 1;
    }
    const text = new Intl.NumberFormat(locale.value, {maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0}).format(value);
    return `${text} ${units[unit]}`;
}

/// A name that is too long loses its middle; the whole name belongs into a title.
export function shortened(text: string, most = 60): string {
    const letters = [...text];
    if (letters.length <= most) return text;
    const half = Math.floor((most - 1) / 2);
    return `${letters.slice(0, half).join("")}…${letters.slice(letters.length - half).join("")}`;
}
