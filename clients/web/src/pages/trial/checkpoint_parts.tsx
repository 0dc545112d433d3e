// Downloading and deleting checkpoints.
import {useState} from "preact/hooks";
import {change} from "../../api/client";
import {saveFile} from "../../api/save_file";
import {isServed} from "../../api/served";
import type {Checkpoint} from "../../api/shapes";
import {t, tCount} from "../../i18n/texts";
import {formatBytes} from "../../i18n/format";
import {ask} from "../../design/dialog";
import {copyText} from "../../design/copy_text";
import {checkpointPath} from "./file_source";
import {SaveButton} from "./save_button";

export function askToDelete(experiment: number, checkpoints: readonly Checkpoint[], done: () => void): void {
    const bytes = checkpoints.reduce((sum, each) => sum + each.bytes, 0);
    const best = checkpoints.some((each) => each.best);
    ask({
        title: tCount("checkpoints.delete_title", checkpoints.length),
        body: (
            <p>
                {t("checkpoints.delete_effect", {bytes: formatBytes(bytes)})} {best && t("checkpoints.delete_best")}
            </p>
        ),
        action: t("checkpoints.delete"),
        danger: true,
        typed: checkpoints.length === 1 ? checkpoints[0]!.path.split("/").at(-1)! : t("checkpoints.delete_word"),
        perform: async () => {
            const trials = new Set(checkpoints.map((each) => each.trial));
            for (const trial of trials) {
                await change("POST", `experiments/${experiment}/trials/${trial}/checkpoints/delete`, {
                    paths: checkpoints.filter((each) => each.trial === trial).map((each) => each.path),
                });
            }
            done();
        },
    });
}

/// The archive of a checkpoint, or the command that copies it where the daemon serves no archives.
export function Download({experiment, checkpoint, label}: {experiment: number; checkpoint: Checkpoint; label?: string}) {
    const [copied, setCopied] = useState(false);
    if (isServed("/archive.tar"))
        return (
            <span class="links">
                <SaveButton
                    save={() => saveFile(`${checkpointPath(experiment, checkpoint)}/archive.tar`, `${checkpoint.id}.tar`)}
                    text={label ?? t("checkpoints.download")}
                />
            </span>
        );
    const command = `hpsearch checkpoints download ${checkpoint.id} DIRECTORY`;
    return (
        <button class="link" title={command} onClick={() => void copyText(command).then(() => setCopied(true))}>
            {copied ? t("copy.done") : t("checkpoints.command")}
        </button>
    );
}

export function Marks({checkpoint}: {checkpoint: Checkpoint}) {
    return (
        <>
            {checkpoint.best && <span class="tag good-tag">{t("checkpoints.best")}</span>}{" "}
            {checkpoint.latest && <span class="tag">{t("checkpoints.latest")}</span>}
        </>
    );
}
