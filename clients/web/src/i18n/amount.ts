// Lengths of training in words.
import {numberOf} from "../api/shapes";
import type {Count} from "../api/types";
import {formatNumber} from "./format";
import {t, tWord} from "./texts";

/// "9 epochs".
export function amount(length: Count | null | undefined, unit: string): string {
    return t("story.amount", {n: formatNumber(numberOf(length)), unit: Number(length) === 1 ? tWord("unit_one", unit) : tWord("unit", unit)});
}
