// Random values for property tests, from a seed that a failing test prints. HPSEARCH_SEED takes another one: a run without
// it is the same every time.

export const seed = Number(process.env["HPSEARCH_SEED"] ?? 1);

export class Random {
    private state: number;

    constructor(from = seed) {
        this.state = from >>> 0 || 1;
    }

    /// From 0 to below `end`.
    below(end: number): number {
        // xorshift32
        this.state ^= this.state << 13;
        this.state ^= this.state >>> 17;
        this.state ^= this.state << 5;
        this.state >>>= 0;
        return this.state % end;
    }

    pick<T>(values: readonly T[]): T {
        return values[this.below(values.length)]!;
    }

    text(most = 12): string {
        const parts = [
            "a",
            "Z",
            "0",
            " ",
            "/",
            "?",
            "&",
            "=",
            "#",
            "%",
            "+",
            ",",
            ":",
            "..",
            "é",
            "中",
            "😀",
            "\n",
            "\\",
            '"',
            "'",
            "<b>",
            "__proto__",
            "%41",
            ";",
            "\u0000",
        ];
        return Array.from({length: this.below(most)}, () => this.pick(parts)).join("");
    }
}
