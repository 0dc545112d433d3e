// The experiment that is being written: its text, and what the form reads from it.
import {printExact} from "../api/exact";
import {parseYaml, setYaml, YamlProblem, type Yaml} from "./yaml";

export type Tree = {[key: string]: Yaml};

export interface Draft {
    readonly text: string;
    /// undefined where the text can't be read by the form.
    readonly tree: Tree | undefined;
    readonly problem: YamlProblem | undefined;
}

export function draftOf(text: string): Draft {
    try {
        const value = parseYaml(text);
        if (typeof value !== "object" || value === null || Array.isArray(value))
            return {text, tree: undefined, problem: new YamlProblem(1, text.slice(0, 20))};
        return {text, tree: value, problem: undefined};
    } catch (cause) {
        if (!(cause instanceof YamlProblem)) throw cause;
        return {text, tree: undefined, problem: cause};
    }
}

export function valueAt(tree: Tree | undefined, path: readonly string[]): Yaml | undefined {
    let here: Yaml | undefined = tree;
    for (const part of path) {
        if (typeof here !== "object" || here === null || Array.isArray(here) || !Object.hasOwn(here, part)) return undefined;
        here = here[part];
    }
    return here;
}

export const textAt = (tree: Tree | undefined, path: readonly string[]): string => {
    const value = valueAt(tree, path);
    return value === undefined || value === null ? "" : typeof value === "object" ? printExact(value) : String(value);
};

export const withValue = (draft: Draft, path: readonly string[], value: Yaml | undefined): Draft => draftOf(setYaml(draft.text, path, value));

/// "python3 train.py --epochs 3" as words; quotes as in a shell.
export function splitCommand(text: string): string[] {
    const words: string[] = [];
    const pattern = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g;
    for (const found of text.matchAll(pattern)) words.push(found[1] !== undefined ? found[1].replace(/\\(.)/g, "$1") : (found[2] ?? found[3]!));
    return words;
}

export const joinCommand = (value: Yaml | undefined): string =>
    Array.isArray(value)
        ? value.map((word) => (/^[^\s"']+$/.test(String(word)) ? String(word) : JSON.stringify(String(word)))).join(" ")
        : typeof value === "string"
          ? value
          : "";

/// The file that the command runs and that the program's files must have: train.py of "python3 train.py"; "" if it names none, as
/// "bash -c …" or a module of Python.
export function programOf(entrypoint: Yaml | undefined): string {
    const words = Array.isArray(entrypoint) ? entrypoint.map(String) : splitCommand(typeof entrypoint === "string" ? entrypoint : "");
    const isFile = (word: string) => /^(\.\/)?[\w-][\w./-]*\.(py|sh|jl|R|lua|pl|js)$/.test(word) || /^\.\/./.test(word);
    return words.find(isFile) ?? "";
}

export const starter = `name: my-search
entrypoint: [python3, train.py]
hyperparameters:
  learning_rate: {type: log, base: 10, minval: -4, maxval: -1}
  batch_size: {type: categorical, vals: [32, 64, 128]}
searcher:
  name: adaptive_asha
  mode: aggressive
  divisor: 3
  max_rungs: 4
  sampler: model
  metric: val_loss
  smaller_is_better: true
  max_length: {epochs: 27}
  max_trials: 50
`;
