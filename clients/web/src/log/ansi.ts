// Colours of a log line as pieces of text. ansi_up reads the sequences; no HTML is made of them.
import {AnsiUp} from "ansi_up";

export interface Piece {
    readonly text: string;
    /// Class names for the sixteen colours and the styles.
    readonly classes: string;
    readonly color: string | undefined;
    readonly background: string | undefined;
}

interface Colour {
    readonly rgb: readonly number[];
    readonly class_name: string;
}

interface Fragment {
    readonly text: string;
    readonly bold: boolean;
    readonly faint: boolean;
    readonly italic: boolean;
    readonly underline: boolean;
    readonly fg: Colour | null;
    readonly bg: Colour | null;
}

const named = (colour: Colour | null): boolean => colour !== null && colour.class_name !== "truecolor";
const rgb = (colour: Colour): string => `rgb(${colour.rgb.join(" ")})`;

/// ansi_up hands each coloured piece to transform_to_html; here it becomes a value.
const Reader = AnsiUp as unknown as new () => {
    ansi_to_html(text: string): string;
    transform_to_html(fragment: Fragment): string;
    process_hyperlink(packet: {text: string}): string;
};

class PieceReader extends Reader {
    readonly pieces: Piece[] = [];

    override transform_to_html(fragment: Fragment): string {
        if (fragment.text === "") return "";
        const {fg, bg} = fragment;
        const classes = [
            named(fg) ? `${fg!.class_name}-fg` : "",
            named(bg) ? `${bg!.class_name}-bg` : "",
            fragment.bold ? "ansi-bold" : "",
            fragment.faint ? "ansi-faint" : "",
            fragment.italic ? "ansi-italic" : "",
            fragment.underline ? "ansi-underline" : "",
        ]
            .filter((name) => name !== "")
            .join(" ");
        this.pieces.push({
            text: fragment.text,
            classes,
            color: fg && !named(fg) ? rgb(fg) : undefined,
            background: bg && !named(bg) ? rgb(bg) : undefined,
        });
        return "";
    }

    /// Links of programs are not followed: only their text is shown.
    override process_hyperlink(packet: {text: string}): string {
        this.pieces.push({text: packet.text, classes: "", color: undefined, background: undefined});
        return "";
    }
}

export function piecesOf(line: string): readonly Piece[] {
    if (!line.includes("\x1b")) return [{text: line, classes: "", color: undefined, background: undefined}];
    const reader = new PieceReader();
    reader.ansi_to_html(line);
    return reader.pieces;
}
