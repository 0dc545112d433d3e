// Copies the configuration of a trial, as other programs need it.
import {useState} from "preact/hooks";
import {t} from "../../i18n/texts";
import {Menu} from "../../design/menu";
import {announce} from "../../design/announce";
import {copyText} from "../../design/copy_text";
import {exactText, printExact} from "../../api/exact";
import {flatHparams} from "../../state/hparams";

const scalarText = (value: unknown): string => (typeof value === "number" || typeof value === "bigint" ? exactText(value) : printExact(value));

/// A JSON value in one line of YAML. JSON is YAML.
const yamlScalar = (value: unknown): string =>
    typeof value === "string" && /^[A-Za-z_][\w./-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value)
        ? value
        : scalarText(value);

export const asYaml = (values: Readonly<Record<string, unknown>>, indent = ""): string =>
    Object.entries(values)
        .map(([name, value]) =>
            typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
                ? `${indent}${yamlScalar(name)}:\n${asYaml(value as Record<string, unknown>, `${indent}  `)}`
                : `${indent}${yamlScalar(name)}: ${yamlScalar(value)}\n`,
        )
        .join("");

const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/// `trial.trial` is null for a configuration that no trial has.
export function CopyConfiguration({
    experiment,
    trial,
}: {
    experiment: {id: number};
    trial: {trial: number | null; hparams: Readonly<Record<string, unknown>>};
}) {
    const [copied, setCopied] = useState(false);
    const copy = (text: string) => async () => {
        await copyText(text);
        setCopied(true);
        announce(t("copy.done"));
        setTimeout(() => setCopied(false), 2000);
    };
    const options = flatHparams(trial.hparams)
        .map(([name, value]) => `--${shellWord(name)}=${shellWord(typeof value === "string" ? value : scalarText(value))}`)
        .join(" ");
    return (
        <div class="copy-row">
            <Menu
                left
                label={copied ? t("copy.done") : t("copy.copy")}
                items={[
                    {label: t("copy.yaml"), perform: copy(asYaml(trial.hparams))},
                    {label: t("copy.json"), perform: copy(printExact(trial.hparams, 2))},
                    {label: t("copy.options"), perform: copy(options)},
                    ...(trial.trial === null ? [] : [{label: t("copy.command"), perform: copy(`hpsearch show ${experiment.id} ${trial.trial}`)}]),
                ]}
            />
        </div>
    );
}
