/** The design's colours as plots use them. Reading them is the only part that needs a page. */
import {CATEGORIES_DARK, CATEGORIES_LIGHT, contrast, mix, parseColour, css, type Rgb} from "./colour";

export interface Theme {
    readonly dark: boolean;
    readonly surface: string;
    readonly ink: string;
    readonly muted: string;
    readonly grid: string;
    readonly rule: string;
    readonly accent: string;
    /** Marks that stand back. */
    readonly faint: string;
    readonly bad: string;
    readonly categories: readonly string[];
    /** By word, lower case: running, pending, paused, completed, stopped, failed, canceled, lost, preempted. */
    readonly states: Readonly<Record<string, string>>;
}

export const LIGHT: Theme = {
    dark: false,
    surface: "#ffffff",
    ink: "#191a1f",
    muted: "#5c616b",
    grid: "#eeeff1",
    rule: "#c4cad1",
    accent: "#2f56c6",
    faint: "#8c959f",
    bad: "#c4320a",
    categories: CATEGORIES_LIGHT,
    states: {
        running: "#2f5bd0",
        pending: "#8c959f",
        paused: "#946200",
        completed: "#1a7f37",
        finished: "#1a7f37",
        stopped: "#6e7781",
        failed: "#c4320a",
        canceled: "#57606a",
        lost: "#a4487e",
        preempted: "#8a6d00",
        promoted: "#1a7f37",
        waiting: "#946200",
    },
};

export const DARK: Theme = {
    dark: true,
    surface: "#121317",
    ink: "#e8ebee",
    muted: "#9aa4af",
    grid: "#23262c",
    rule: "#47515c",
    accent: "#82a5ff",
    faint: "#7d8792",
    bad: "#ff7b54",
    categories: CATEGORIES_DARK,
    states: {
        running: "#82a5ff",
        pending: "#7d8792",
        paused: "#e0a92e",
        completed: "#4cc26b",
        finished: "#4cc26b",
        stopped: "#8f99a4",
        failed: "#ff7b54",
        canceled: "#8f99a4",
        lost: "#e08cba",
        preempted: "#d8c43c",
        promoted: "#4cc26b",
        waiting: "#e0a92e",
    },
};

/** The page's properties, design/tokens.css, for what plots call by its meaning. */
const STATE_PROPERTIES: Readonly<Record<string, string>> = {
    running: "--running",
    pending: "--idle",
    paused: "--waiting",
    completed: "--good",
    finished: "--good",
    stopped: "--stopped",
    failed: "--bad",
    canceled: "--idle",
    promoted: "--good",
    waiting: "--waiting",
};

/** The theme of the page: the design's properties where it has them, the ones above where not. */
export function readTheme(dark: boolean, property: (name: string) => string): Theme {
    const basic = dark ? DARK : LIGHT;
    const read = (name: string, otherwise: string) => {
        const text = property(name).trim();
        return /^(#|rgb)/i.test(text) ? text : otherwise;
    };
    const states: Record<string, string> = {...basic.states};
    for (const [name, from] of Object.entries(STATE_PROPERTIES)) states[name] = read(from, basic.states[name]!);
    return {
        ...basic,
        surface: read("--bg", basic.surface),
        ink: read("--text", basic.ink),
        muted: read("--muted", basic.muted),
        grid: read("--grid", basic.grid),
        accent: read("--accent", basic.accent),
        bad: read("--bad", basic.bad),
        states,
    };
}

/** Eight colours for lines that stand for different things. The first is the one that others are compared with. */
export const lineColours = (theme: Theme): readonly string[] => [theme.accent, ...theme.categories.slice(1), theme.ink, theme.faint];

/** A colour moved towards the ink until it has `least` contrast against the surface. */
export function readable(colour: Rgb, theme: Theme, least = 3): string {
    const surface = parseColour(theme.surface);
    const ink = parseColour(theme.ink);
    for (let share = 0; share <= 1; share += 0.1) {
        const mixed = mix(colour, ink, share);
        if (contrast(mixed, surface) >= least) return css(mixed);
    }
    return theme.ink;
}
