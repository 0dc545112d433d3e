// Log text as lines: carriage returns folded as the command line does, colours kept, other escape sequences left out.

export interface LogLine {
    /// Where the line begins in the log, in bytes.
    readonly offset: number;
    /// Text with colour sequences (ESC [ … m) only. Control characters are symbols.
    readonly text: string;
}

/// More of one line is cut off, so that a log without line ends cannot stop the page.
export const longestLine = 16_384;

const escape = "\x1b";

export function utf8Length(text: string): number {
    let bytes = 0;
    for (let i = 0; i < text.length; i += 1) {
        const code = text.charCodeAt(i);
        if (code < 0x80) bytes += 1;
        else if (code < 0x800) bytes += 2;
        else if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
            bytes += 4;
            i += 1;
        } else bytes += 3;
    }
    return bytes;
}

/// A control character as its symbol: U+2400 and following.
function symbol(code: number): string {
    return code === 0x7f ? "\u2421" : code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
}

/// The same text in memory of its own. V8 keeps a text that grew letter by letter as a chain with 20 to 32 bytes a letter.
const compact = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

export class LogFolder {
    /// The colour in force, which the next line begins with.
    private colour = "";
    private lineColour = "";
    private drawn = "";
    private drawing = "";
    private sequence = "";
    private kind: "none" | "begun" | "control" | "text" | "text_end" = "none";
    private lineOffset: number;
    private at: number;

    constructor(offset = 0) {
        this.lineOffset = offset;
        this.at = offset;
    }

    /// Where the next text has to begin.
    get offset(): number {
        return this.at;
    }

    /// Where the line begins that has no end yet.
    get lineBegin(): number {
        return this.lineOffset;
    }

    /// The line that has no end yet.
    get unfinished(): LogLine | undefined {
        const text = this.drawing === "" ? this.drawn : this.drawing;
        return text === "" ? undefined : {offset: this.lineOffset, text: compact(this.lineColour + text)};
    }

    /// `end`: the offset behind the text; bytes that are no UTF-8 make it differ from what is counted.
    take(text: string, end?: number): LogLine[] {
        const lines: LogLine[] = [];
        for (const char of text) {
            this.at += char.length === 1 && char < "\x80" ? 1 : utf8Length(char);
            if (this.escapes(char)) continue;
            if (char === "\n") {
                const shown = this.drawing === "" ? this.drawn : this.drawing;
                lines.push({offset: this.lineOffset, text: shown === "" ? "" : compact(this.lineColour + shown)});
                this.drawn = "";
                this.drawing = "";
                this.lineOffset = this.at;
                this.lineColour = this.colour;
            } else if (char === "\r") {
                if (this.drawing !== "") {
                    this.drawn = this.drawing;
                    this.drawing = "";
                    this.lineColour = this.colour;
                }
            } else this.draw(char);
        }
        if (end !== undefined) {
            if (this.lineOffset === this.at) this.lineOffset = end;
            this.at = end;
        }
        return lines;
    }

    private draw(char: string): void {
        if (this.drawing.length >= longestLine) return;
        const code = char.codePointAt(0)!;
        this.drawing += char === "\t" ? "    " : code < 0x20 || (code >= 0x7f && code < 0xa0) ? symbol(code) : char;
    }

    /// Whether the character belongs to an escape sequence (ECMA-48).
    private escapes(char: string): boolean {
        switch (this.kind) {
            case "none":
                if (char !== escape) return false;
                this.kind = "begun";
                this.sequence = escape;
                return true;
            case "begun":
                this.sequence += char;
                if (char === "[") this.kind = "control";
                else if ("]PX^_".includes(char)) this.kind = "text";
                else if (char >= " " && char <= "/") return true;
                else {
                    this.kind = "none";
                    return char >= "0" && char <= "~";
                }
                return true;
            case "control":
                this.sequence += char;
                if (char >= " " && char <= "?") return true;
                this.kind = "none";
                if (char === "m" && this.sequence.length < 64) this.setColour(this.sequence);
                return char >= "@" && char <= "~";
            case "text":
            case "text_end":
                if (char === "\n") {
                    this.kind = "none";
                    return false;
                }
                if (char === "\x07" || (this.kind === "text_end" && char === "\\")) this.kind = "none";
                else this.kind = char === escape ? "text_end" : "text";
                return true;
        }
    }

    private setColour(sequence: string): void {
        const resets = /^\x1b\[(0*|0+;.*)m$/.test(sequence);
        this.colour = resets ? (sequence.includes(";") ? sequence : "") : (this.colour + sequence).slice(-128);
        if (this.drawing.length < longestLine) this.drawing += this.drawing === "" && resets ? "" : sequence;
    }
}

/// The text of a line without colours, for searching and copying.
export const plainText = (line: string): string => line.replace(/\x1b\[[\d;:]*m/g, "");
