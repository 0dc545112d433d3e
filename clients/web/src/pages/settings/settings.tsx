// Theme, language, keys; who is signed in; about the daemon and the pages.
import {useEffect, useState} from "preact/hooks";
import {closeSession, session} from "../../api/client";
import {isServed} from "../../api/served";
import type {Status} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {base} from "../../state/router";
import {keysOn, language, theme, type Language, type Theme} from "../../state/settings";
import {t} from "../../i18n/texts";
import {formatBytes, formatDuration, formatTime} from "../../i18n/format";
import {show} from "../../design/dialog";
import {View} from "../../design/states";
import {KeyList} from "./keys";
import {Tokens} from "./settings_tokens";
import {SettingsTabs} from "./settings_tabs";
import type {PageProps} from "../page_props";

function Licences() {
    const [text, setText] = useState<string | undefined>();
    const [open, setOpen] = useState(false);
    useEffect(() => {
        if (open && text === undefined)
            void fetch(new URL("LICENSES.txt", base))
                .then((answer) => answer.text())
                .then(setText, () => setText("–"));
    }, [open]);
    return (
        <>
            <button class="button" aria-expanded={open} onClick={() => setOpen(!open)}>
                {t("settings.licences")}
            </button>
            {open && text !== undefined && (
                <pre class="yaml licences" tabIndex={0}>
                    {text}
                </pre>
            )}
        </>
    );
}

export default function Settings(_: PageProps) {
    const status = useResource<Status>("status", {topic: "cluster", every: 5000});
    const who = useResource<{name: string; role: string}>("whoami");
    const current = session.value;
    return (
        <div class="settings">
            <h1>{t("nav.settings")}</h1>
            <SettingsTabs />
            <section class="page">
                <h2>{t("settings.look")}</h2>
                <div class="settings-row">
                    <span id="theme-label">{t("settings.theme")}</span>
                    <div class="chips" role="group" aria-labelledby="theme-label">
                        {(["system", "light", "dark"] as Theme[]).map((each) => (
                            <button
                                key={each}
                                class="chip"
                                aria-pressed={theme.value === each}
                                onClick={() => {
                                    theme.value = each;
                                }}
                            >
                                {t(`settings.theme_${each}` as never)}
                            </button>
                        ))}
                    </div>
                </div>
                <div class="settings-row">
                    <span id="language-label">{t("settings.language")}</span>
                    <div class="chips" role="group" aria-labelledby="language-label">
                        {(
                            [
                                ["en", "English"],
                                ["zh-CN", "中文"],
                            ] as [Language, string][]
                        ).map(([each, name]) => (
                            <button
                                key={each}
                                lang={each}
                                class="chip"
                                aria-pressed={language.value === each}
                                onClick={() => {
                                    language.value = each;
                                }}
                            >
                                {name}
                            </button>
                        ))}
                    </div>
                </div>
                <div class="settings-row">
                    <span id="keys-label">{t("settings.keys")}</span>
                    <div class="chips" role="group" aria-labelledby="keys-label">
                        <button
                            class="chip"
                            aria-pressed={keysOn.value}
                            onClick={() => {
                                keysOn.value = !keysOn.value;
                            }}
                        >
                            {keysOn.value ? t("settings.on") : t("settings.off")}
                        </button>
                        <button class="button quiet" onClick={() => show(<KeyList />)}>
                            {t("keys.list_dots")}
                        </button>
                    </div>
                </div>
            </section>
            <section class="section">
                <h2>{t("settings.account")}</h2>
                <View resource={who} rows={2}>
                    {({name, role}) => (
                        <div class="settings-row">
                            <span>{name}</span>
                            <span class="muted">{t("settings.role", {role})}</span>
                            {current?.expires_at && <span class="muted">{t("settings.until", {time: formatTime(current.expires_at)})}</span>}
                            {current?.expires_at && (
                                <button class="button" onClick={() => void closeSession()}>
                                    {t("settings.sign_out")}
                                </button>
                            )}
                        </div>
                    )}
                </View>
            </section>
            {who.data?.role === "admin" && isServed("/tokens", "post") && <Tokens />}
            <section class="section">
                <h2>{t("settings.about")}</h2>
                <View resource={status} rows={4}>
                    {(data) => (
                        <dl class="facts">
                            <dt>{t("settings.version")}</dt>
                            <dd>hpsearch {data.version}</dd>
                            <dt>{t("settings.running_for")}</dt>
                            <dd>{formatDuration(data.uptime_seconds)}</dd>
                            <dt>{t("settings.state_dir")}</dt>
                            <dd class="mono">{data.state_dir}</dd>
                            <dt>{t("settings.disk")}</dt>
                            <dd>
                                {t("settings.disk_free", {free: formatBytes(data.storage.free_bytes), total: formatBytes(data.storage.total_bytes)})}{" "}
                                {data.storage.why}
                            </dd>
                            <dt>LSN</dt>
                            <dd>{data.lsn}</dd>
                        </dl>
                    )}
                </View>
                <p class="licence-line">
                    <Licences />
                </p>
            </section>
        </div>
    );
}
