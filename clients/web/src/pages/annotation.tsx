// The star, labels and note that users write on an experiment or a trial.
import {useState} from "preact/hooks";
import {change, mayChange, Problem} from "../api/client";
import {isServed} from "../api/served";
import {t} from "../i18n/texts";
import {announce} from "../design/announce";
import {ask} from "../design/dialog";

interface Annotation {
    readonly labels: readonly string[];
    readonly starred: boolean;
    readonly note: string;
}

const labelsIn = (text: string): string[] =>
    text
        .split(",")
        .map((label) => label.trim())
        .filter((label) => label !== "");

/// `path`: of the experiment or the trial; `name`: as its users call it.
export function AnnotationLine({of, path, name, done}: {of: Annotation; path: string; name: string; done: () => void}) {
    const [waits, setWaits] = useState(false);
    const may = mayChange() && isServed("/annotation", "patch");
    if (!may && !of.starred && of.labels.length === 0 && of.note === "") return null;
    const write = async (changed: Partial<Annotation>) => {
        await change("PATCH", `${path}/annotation`, changed);
        done();
    };
    const toggle = async () => {
        setWaits(true);
        try {
            await write({starred: !of.starred});
        } catch (cause) {
            announce(cause instanceof Problem ? cause.message : String(cause));
        } finally {
            setWaits(false);
        }
    };
    const edit = () =>
        ask({
            title: t("annotation.title", {name}),
            action: t("annotation.save"),
            fields: [
                {name: "note", label: t("annotation.note"), initial: of.note, long: true},
                {name: "labels", label: t("annotation.labels"), initial: of.labels.join(", "), note: t("annotation.labels_note")},
            ],
            perform: ({note = "", labels = ""}) => write({note, labels: labelsIn(labels)}),
        });
    return (
        <div class="annotation">
            {may ? (
                <button class="star" aria-pressed={of.starred} aria-label={t("annotation.star", {name})} onClick={toggle} disabled={waits}>
                    {of.starred ? "★" : "☆"}
                </button>
            ) : (
                of.starred && (
                    <span role="img" class="star" aria-label={t("annotation.starred")}>
                        ★
                    </span>
                )
            )}
            {of.labels.map((label) => (
                <span class="tag" key={label}>
                    {label}
                </span>
            ))}
            {of.note !== "" && <span class="annotation-note">{of.note}</span>}
            {may && (
                <button class="link small" onClick={edit}>
                    {t(of.note === "" && of.labels.length === 0 ? "annotation.add" : "annotation.change")}
                </button>
            )}
        </div>
    );
}
