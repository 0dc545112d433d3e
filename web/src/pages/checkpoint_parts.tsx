// Downloading and deleting checkpoints.
import {useState} from "preact/hooks";
import {apiUrl, change} from "../api/client";
import {isServed} from "../api/served";
import type {Checkpoint} from "../api/shapes";
import {t, tCount} from "../i18n/texts";
import {formatBytes} from "../i18n/format";
import {ask} from "../design/dialog";
import {copyText} from "./copy_configuration";

function archiveUrl(experiment: number, checkpoint: Checkpoint): string {
    return apiUrl(`experiments/${experiment}/trials/${checkpoint.trial}/checkpoints/${encodeURIComponent(checkpoint.path.split("/").at(-1)!)}/archive.tar`);
}

export function askToDelete(experiment: number, checkpoints: readonly Checkpoint[], done: () => void): void {
    const bytes = checkpoints.reduce((sum, each) => sum + each.bytes, 0);
    const best = checkpoints.some((each) => each.best);
    ask({
        title: tCount("checkpoints.delete_title", checkpoints.length),
        body: <p>{t("checkpoints.delete_effect", {bytes: formatBytes(bytes)})} {best && t("checkpoints.delete_best")}</p>,
        action: t("checkpoints.delete"), danger: true, typed: checkpoints.length === 1 ? checkpoints[0]!.path.split("/").at(-1)! : t("checkpoints.delete_word"),
        perform: async () => {
            const trials = new Set(checkpoints.map((each) => each.trial));
            for (const trial of trials) {
                await change("POST", `experiments/${experiment}/trials/${trial}/checkpoints/delete`, {paths: checkpoints.filter((each) => each.trial === trial).map((each) => each.path)});
            }
            done();
        },
    });
}

/// The archive of a checkpoint, or the command that copies it where the daemon serves no archives.
export function Download({experiment, checkpoint}: {experiment: number; checkpoint: Checkpoint}) {
    const [copied, setCopied] = useState(false);
    if (isServed("/archive.tar")) return <a href={archiveUrl(experiment, checkpoint)} download>{t("checkpoints.download")}</a>;
    const command = `hpsearch checkpoints download ${checkpoint.id} DIRECTORY`;
    return <button class="link" title={command} onClick={() => void copyText(command).then(() => setCopied(true))}>{copied ? t("copy.done") : t("checkpoints.command")}</button>;
}

export function Marks({checkpoint}: {checkpoint: Checkpoint}) {
    return <>{checkpoint.best && <span class="tag good-tag">{t("checkpoints.best")}</span>} {checkpoint.latest && <span class="tag">{t("checkpoints.latest")}</span>}</>;
}
