// What the parameters of an address may be. A page names its own with a shape each; what does not fit is ignored, and said.
import type {Parameters} from "./address";

/// What of a value a page can use, "" for nothing.
export type Shape = (value: string) => string;
export type Shapes = Readonly<Record<string, Shape>>;

export const where =
    (fits: (value: string) => boolean): Shape =>
    (value) =>
        fits(value) ? value : "";
export const anything: Shape = (value) => value;
export const number: Shape = where((value) => value.trim() !== "" && Number.isFinite(Number(value)));
export const whole: Shape = where((value) => /^\d{1,15}$/.test(value));
export const word = (...words: readonly string[]): Shape => where((value) => words.includes(value));
/// Values with commas between them. Those that fit are used.
export const list =
    (each: Shape): Shape =>
    (value) =>
        value
            .split(",")
            .filter((one) => each(one) !== "")
            .join(",");
/// `count` pairs of numbers, each in ascending order: "0,0.5,0,1" for two.
export const ranges = (count: number): Shape =>
    where((value) => {
        const ends = value.split(",");
        return (
            ends.length === 2 * count && ends.every(number) && ends.every((end, index) => index % 2 === 0 || Number(ends[index - 1]) < Number(end))
        );
    });
/// Fields with commas between them, "-" before those that descend.
export const order = (field: Shape): Shape => list((key) => field(key.replace(/^-/, "")));

/// What of the parameters fits, and the rest as NAME=VALUE.
export function fitting(query: Parameters, shapes: Shapes): {readonly query: Parameters; readonly ignored: readonly string[]} {
    const fit: [string, string][] = [];
    const ignored: string[] = [];
    for (const [name, value] of Object.entries(query)) {
        const used = Object.hasOwn(shapes, name) ? shapes[name]!(value) : "";
        const kept = used.split(",");
        const rest =
            used === ""
                ? value
                : used === value
                  ? ""
                  : value
                        .split(",")
                        .filter((one) => one !== "" && !kept.includes(one))
                        .join(",");
        if (used !== "") fit.push([name, used]);
        if (rest !== "") ignored.push(`${name}=${rest}`);
    }
    return {query: Object.fromEntries(fit), ignored};
}
