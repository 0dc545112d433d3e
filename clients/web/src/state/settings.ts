// What the browser keeps for its user: theme, language, keys, widths. Nothing else is stored.
import {effect, signal} from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export type Language = "en" | "zh-CN";

function stored(name: string): string | null {
    try {
        return localStorage.getItem(`hpsearch.${name}`);
    } catch {
        return null;
    }
}

function store(name: string, value: string): void {
    try {
        localStorage.setItem(`hpsearch.${name}`, value);
    } catch {
        // A browser that stores nothing still shows everything.
    }
}

const oneOf = <T extends string>(text: string | null, values: readonly T[], otherwise: T): T => values.find((value) => value === text) ?? otherwise;

export const theme = signal<Theme>(oneOf(stored("theme"), ["system", "light", "dark"], "system"));
const firstLanguage = (): Language => oneOf(stored("language"), ["en", "zh-CN"], navigator.language.toLowerCase().startsWith("zh") ? "zh-CN" : "en");
/// The language of the pages and of the sentences that the daemon sends. All tabs have the same one: they share its stream.
export const language = signal(firstLanguage());
addEventListener("storage", () => {
    language.value = firstLanguage();
});

export const keysOn = signal(stored("keys") !== "off");

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", () => {
    systemIsDark.value = dark.matches;
});

/// The theme in effect. Plots read it to be drawn again in its colours.
export const shownTheme = signal<"light" | "dark">("light");

effect(() => {
    const shown = theme.value === "system" ? (systemIsDark.value ? "dark" : "light") : theme.value;
    document.documentElement.dataset["theme"] = shown;
    shownTheme.value = shown;
});
effect(() => store("theme", theme.value));
effect(() => store("keys", keysOn.value ? "on" : "off"));
effect(() => store("language", language.value));
