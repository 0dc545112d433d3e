// The experiment's configuration with all defaults.
import {useState} from "preact/hooks";
import {useResource} from "../../state/resource";
import {go} from "../../state/router";
import {t} from "../../i18n/texts";
import {View} from "../../design/states";
import {copyText} from "../../design/copy_text";
import {asYaml} from "./copy_configuration";
import {YamlText} from "../yaml_text";
import type {ExperimentPageProps} from "../page_props";

export default function Config({experiment}: ExperimentPageProps) {
    const config = useResource<Record<string, unknown>>(`experiments/${experiment.id}/config`);
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
                const text = asYaml(data);
                return (
                    <>
                        <div class="toolbar">
                            <p class="muted small">{t("config.text")}</p>
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
                        <YamlText text={text} />
                    </>
                );
            }}
        </View>
    );
}
