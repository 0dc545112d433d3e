/** Numbers as people read them. Tables and tips agree with the command line, which prints six digits. */

/** Six significant digits without trailing zeros, as the command line prints metrics. */
export function metricText(value: number | null | undefined): string {
    if (value === null || value === undefined) return "\u2013";
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    if (value === 0) return "0";
    const exponent = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(6)))));
    if (exponent < -4 || exponent >= 6) {
        const [mantissa, power] = value.toExponential(5).split("e") as [string, string];
        const digits = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
        return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    }
    const text = value.toPrecision(6);
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A value of a hyperparameter or of a table: integers with all their digits. */
export function valueText(value: string | number | bigint | null): string {
    if (value === null) return "\u2013";
    if (typeof value === "string") return value;
    return typeof value === "bigint" || Number.isSafeInteger(value) ? String(value) : metricText(value);
}

/** A label of an axis: short, with a real minus sign, `decimals` given by the distance of the ticks. */
export function tickText(value: number, decimals: number): string {
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) {
        const [mantissa, power] = value.toExponential(Math.min(3, Math.max(0, decimals + Math.floor(Math.log10(size))))).split("e") as [
            string,
            string,
        ];
        const digits = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
        return minus(`${digits}e${Number(power)}`);
    }
    const text = value.toFixed(Math.min(12, Math.max(0, decimals)));
    if (size < 10000) return minus(text);
    return minus(text.replace(/\B(?=(\d{3})+(?!\d))/g, ","));
}

/** A hyphen is shorter and lower than a minus beside digits. */
export function minus(text: string): string {
    return text.replace(/-/g, "\u2212");
}

/** 950 ms, 12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h: two units at most. */
export function durationText(seconds: number): string {
    if (!Number.isFinite(seconds)) return "?";
    const size = Math.abs(seconds);
    const sign = seconds < 0 ? "\u2212" : "";
    if (size === 0) return "0 s";
    if (size < 1) return `${sign}${Math.round(size * 1000)} ms`;
    if (size < 10) return `${sign}${Number(size.toFixed(1))} s`;
    const whole = Math.round(size);
    if (whole < 60) return `${sign}${whole} s`;
    const two = (high: number, unit: string, low: number, below: string) => `${sign}${high} ${unit}${low > 0 ? ` ${low} ${below}` : ""}`;
    if (whole < 3600) return two(Math.floor(whole / 60), "min", whole % 60, "s");
    if (whole < 86400) return two(Math.floor(whole / 3600), "h", Math.round((whole % 3600) / 60) % 60, "min");
    return two(Math.floor(whole / 86400), "d", Math.round((whole % 86400) / 3600) % 24, "h");
}

/** Percent with a thin space: 0.8 %, 12 %, 100 %; never 0 % of something nor 100 % of less than all. */
export function shareText(share: number): string {
    const percent = share * 100;
    if (percent > 0 && percent < 0.1) return "<\u202f0.1\u202f%";
    if (percent > 99.9 && percent < 100) return ">\u202f99.9\u202f%";
    return `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)}\u202f%`;
}

/** A count with commas between thousands, as formatNumber writes it: 100,000. */
export function countText(count: number): string {
    return String(Math.round(count)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** The middle gives way: the start and the end of a long name tell names apart. */
export function cutMiddle(text: string, most: number): string {
    const letters = [...text];
    if (letters.length <= most) return text;
    const head = Math.ceil((most - 1) * 0.6);
    return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}
