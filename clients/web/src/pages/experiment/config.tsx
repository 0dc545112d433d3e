// The experiment's configuration, without defaults or with all of them, and the file as its user wrote it.
import {useEffect, useState} from "preact/hooks";
import {change, get, mayChange} from "../../api/client";
import type {SearcherList, SubmittedFile, Validation} from "../../api/types";
import {useResource} from "../../state/resource";
import {go} from "../../state/router";
import {t, tCount} from "../../i18n/texts";
import {Loading, View} from "../../design/states";
import {copyText} from "../../design/copy_text";
import {hiddenFields, needed, withoutDefaults} from "./config_defaults";
import {asYaml} from "./copy_configuration";
import {YamlText} from "../yaml_text";
import type {ExperimentPageProps} from "../page_props";

type Fields = Record<string, unknown>;

/// The configuration without its defaults; null where the daemon doesn't tell them, as to those who may only view, and undefined until
/// it is known.
function useShort(config: Fields | undefined): Fields | null | undefined {
    const [short, setShort] = useState<Fields | null | undefined>(mayChange() ? undefined : null);
    useEffect(() => {
        if (!config || !mayChange()) return;
        let over = false;
        const read = async () => {
            const name = (config["searcher"] as Fields | undefined)?.["name"];
            const {searchers} = await get<SearcherList>("searchers");
            const file = needed(config, searchers.find((each) => each.name === name)?.required ?? []);
            const {config: defaults} = await change<Validation>("POST", "experiments/validate", {config: file});
            if (!over) setShort(defaults && withoutDefaults(config, defaults, file));
        };
        void read().catch(() => {
            if (!over) setShort(null);
        });
        return () => {
            over = true;
        };
    }, [config]);
    return short;
}

export default function Config({experiment, query}: ExperimentPageProps) {
    const config = useResource<Record<string, unknown>>(`experiments/${experiment.id}/config`);
    const short = useShort(config.data);
    const all = query.get("show") === "all";
    const asWritten = query.get("show") === "written";
    const file = useResource<SubmittedFile>(asWritten ? `experiments/${experiment.id}/file` : null);
    const git = experiment.git;
    const [copied, setCopied] = useState(false);
    const save = (text: string) => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([text], {type: "application/yaml"}));
        link.download = `${experiment.name.replace(/[^\w.-]+/g, "_") || "experiment"}.yaml`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    };
    return (
        <View resource={config} rows={12}>
            {(data) => {
                const text = file.data?.text ?? asYaml(data);
                return (
                    <>
                        <div class="toolbar">
                            <p class="muted small">
                                {t(asWritten ? "config.text_written" : short && !all ? "config.text_short" : "config.text")}
                                {git && ` ${t("config.git", {commit: git.commit.slice(0, 7), branch: git.branch || "HEAD"})}`}
                                {git?.dirty && t("config.git_dirty")}
                            </p>
                            <button class="chip" aria-pressed={asWritten} onClick={() => query.set({show: asWritten ? "" : "written"})}>
                                {t("config.written")}
                            </button>
                            {short && (
                                <button class="chip" aria-pressed={all} onClick={() => query.set({show: all ? "" : "all"})}>
                                    {tCount("config.defaults", hiddenFields(data, short))}
                                </button>
                            )}
                            <div class="push chips">
                                <button class="button" onClick={() => void copyText(text).then(() => setCopied(true))}>
                                    {copied ? t("copy.done") : t("config.copy")}
                                </button>
                                <button class="button" onClick={() => save(text)}>
                                    {t("config.download")}
                                </button>
                                <button class="button" onClick={() => go(`new?fork=${experiment.id}`)}>
                                    {t("action.fork")}
                                </button>
                            </div>
                        </div>
                        {asWritten ? (
                            <View resource={file} rows={12}>
                                {(written) => <YamlText text={written.text} />}
                            </View>
                        ) : short === undefined ? (
                            <Loading rows={12} />
                        ) : (
                            <YamlText text={short && !all ? asYaml(short) : text} />
                        )}
                    </>
                );
            }}
        </View>
    );
}
