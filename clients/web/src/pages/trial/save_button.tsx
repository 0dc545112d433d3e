// A button that saves a file. While it waits it can't be pressed again; a refusal stands beside it.
import {useState} from "preact/hooks";
import {Problem} from "../../api/client";
import {t} from "../../i18n/texts";

interface SaveProps {
    readonly save: () => Promise<void>;
    readonly text: string;
    /// For screen readers, where the text names no file.
    readonly label?: string;
}

export function SaveButton({save, text, label}: SaveProps) {
    const [waits, setWaits] = useState(false);
    const [problem, setProblem] = useState("");
    const start = () => {
        setWaits(true);
        setProblem("");
        void save()
            .catch((cause: Error) => setProblem(cause instanceof Problem ? cause.message || t("state.unreachable") : t("files.unreadable")))
            .finally(() => setWaits(false));
    };
    return (
        <>
            <button class={`link${waits ? " waits" : ""}`} disabled={waits} onClick={start} aria-label={label}>
                {text}
            </button>
            {problem !== "" && (
                <span class="field-problem" role="alert">
                    {problem}
                </span>
            )}
        </>
    );
}
