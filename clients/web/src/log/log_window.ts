// The part of a log that a page holds: whole lines, one after another, within bounds. Lines beyond the bounds are dropped;
// the reader requests them again when the user scrolls there.
import {LogFolder, type LogLine} from "./fold";

export const mostLines = 5_000;
export const mostLetters = 4_000_000;

export class LogWindow {
    private held: LogLine[] = [];
    private letters = 0;
    private folder: LogFolder;
    private number: number | undefined;

    /// `from`: where the first line begins in the log, in bytes.
    constructor(public from = 0) {
        this.folder = new LogFolder(from);
        this.number = from === 0 ? 1 : undefined;
    }

    /// The number of the first line in the log; undefined if the lines before it were never read.
    get firstNumber(): number | undefined {
        return this.number;
    }

    /// A window on a part that begins anywhere in the log. Its first line is most likely cut, so it is left out.
    static on(text: string, begin: number, end: number): LogWindow {
        const window = new LogWindow(begin);
        window.append(text, end);
        if (begin > 0 && window.held.length > 0) window.dropFirst(1);
        return window;
    }

    get lines(): readonly LogLine[] {
        return this.held;
    }

    /// The last line of the log while it has no end.
    get unfinished(): LogLine | undefined {
        return this.folder.unfinished;
    }

    /// Where the text after this window begins, in bytes.
    get to(): number {
        return this.folder.offset;
    }

    /// Adds text at the end and drops the oldest lines. `end`: the offset behind the text.
    append(text: string, end: number): void {
        this.add(this.folder.take(text, end));
        this.dropFirst(this.held.length - this.lastWithin(mostLines, mostLetters));
    }

    /// Adds text at the end while there is room, so that the lines already held stay. Text without room is left out.
    extend(text: string, end: number): void {
        this.add(this.folder.take(text, end));
        this.dropNewest();
    }

    /// Moves towards the end of the log: the older half makes room for the text.
    moveOn(text: string, end: number): void {
        this.dropFirst(this.held.length - this.lastWithin(mostLines / 2, mostLetters / 2));
        this.extend(text, end);
    }

    /// Moves towards the beginning of the log: adds the text from `begin` to the window and drops the newest lines.
    moveBack(text: string, begin: number): void {
        const folder = new LogFolder(begin);
        const older = folder.take(text, this.from);
        if (folder.unfinished) older.push(folder.unfinished);
        if (begin > 0) older.shift();
        const taken = older.slice(-mostLines / 2);
        const newer = this.held;
        this.from = taken[0]?.offset ?? begin;
        if (begin === 0) this.number = older.length - taken.length + 1;
        else if (this.number !== undefined) this.number -= taken.length;
        this.held = [];
        this.letters = 0;
        this.add(taken);
        this.add(newer);
        this.dropNewest();
    }

    private add(lines: readonly LogLine[]): void {
        for (const line of lines) {
            this.held.push(line);
            this.letters += line.text.length;
        }
    }

    /// How many of the last lines are within these bounds.
    private lastWithin(most: number, letters: number): number {
        let left = letters;
        let count = 0;
        while (count < Math.min(most, this.held.length)) {
            left -= this.held[this.held.length - 1 - count]!.text.length;
            if (left < 0) break;
            count += 1;
        }
        return count;
    }

    private dropFirst(count: number): void {
        if (count <= 0) return;
        if (this.number !== undefined) this.number += count;
        for (const line of this.held.splice(0, count)) this.letters -= line.text.length;
        this.from = this.held[0]?.offset ?? this.folder.lineBegin;
    }

    private dropNewest(): void {
        let next: LogLine | undefined;
        while (this.held.length > mostLines || this.letters > mostLetters) {
            next = this.held.pop()!;
            this.letters -= next.text.length;
        }
        if (next) this.folder = new LogFolder(next.offset);
    }
}
