// Texts of the pages. t(KEY) is the text of KEY in the chosen language; {name} in a text is replaced.
import {computed, effect, signal} from "@preact/signals";
import {language, type Language} from "../state/settings";
import en from "./en.json";
import enPlots from "./en.plots.json";

export type TextKey = keyof typeof en | keyof typeof enPlots;

type Texts = Readonly<Record<string, string>>;
const english: Texts = {...en, ...enPlots};
const loaded = signal<Texts>(english);

export const locale = computed(() => (language.value === "zh-CN" ? "zh-CN" : "en-GB"));

/// The build leaves the keys out: the texts then stand in the order of the English ones.
const keyed = (texts: Texts | readonly string[], like: Texts): Texts =>
    Array.isArray(texts) ? Object.fromEntries(Object.keys(like).map((key, index) => [key, texts[index]])) : (texts as Texts);

async function load(wanted: Language): Promise<void> {
    if (wanted === "en") {
        loaded.value = english;
        return;
    }
    const [texts, plots] = await Promise.all([import("./zh-CN.json"), import("./zh-CN.plots.json")]);
    if (language.peek() === wanted) loaded.value = {...english, ...keyed(texts.default, en), ...keyed(plots.default, enPlots)};
}

effect(() => {
    document.documentElement.lang = language.value;
    void load(language.value);
});

export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
    const text = loaded.value[key] ?? english[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}

/// The text for a word that the daemon sent ("state.RUNNING"), or the word itself where the pages have none.
export function tWord(group: string, word: string): string {
    return loaded.value[`${group}.${word}`] ?? word;
}

/// The text for a count: KEY.one for 1, KEY.other for others.
export function tCount(key: string, count: number, values: Readonly<Record<string, string | number>> = {}): string {
    const text = loaded.value[`${key}.${count === 1 ? "one" : "other"}`] ?? key;
    const all: Readonly<Record<string, string | number>> = {n: new Intl.NumberFormat(locale.value).format(count), ...values};
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in all ? String(all[name]) : whole));
}
