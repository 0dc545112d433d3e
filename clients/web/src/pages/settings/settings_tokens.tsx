// Tokens: who may use the daemon, with which rights. A secret is shown once, when it is made.
import {useState} from "preact/hooks";
import {change, daemonNow} from "../../api/client";
import {isServed} from "../../api/served";
import type {NewToken, Token} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {t} from "../../i18n/texts";
import {formatDay, formatShortTime} from "../../i18n/format";
import {ask} from "../../design/dialog";
import {Menu} from "../../design/menu";
import {View} from "../../design/states";
import {copyText} from "../../design/copy_text";

const day = 86_400;
const lifetimes = [7, 30, 90, 365];

function Secret({made}: {made: NewToken}) {
    const [copied, setCopied] = useState(false);
    return (
        <div class="note tone-good" role="status">
            <p>{t("settings.token_secret", {name: made.name})}</p>
            <p class="secret">
                <code class="mono cut-anywhere">{made.token}</code>
                <button class="button" onClick={() => void copyText(made.token).then(() => setCopied(true))}>
                    {copied ? t("copy.done") : t("settings.token_copy")}
                </button>
            </p>
        </div>
    );
}

export function Tokens() {
    const list = useResource<{tokens: readonly Token[]}>("tokens");
    const [made, setMade] = useState<NewToken | undefined>();
    const tenants = isServed("/workspaces");
    const roles = ["viewer", ...(tenants ? ["submitter"] : []), "operator", "admin"];
    const done = (token: NewToken | undefined) => {
        setMade(token);
        list.reload();
    };
    const create = () =>
        ask({
            title: t("settings.token_create"),
            action: t("settings.token_create"),
            fields: [
                {name: "name", label: t("settings.token_name"), required: true},
                {name: "role", label: t("settings.token_role"), initial: "viewer", choices: roles.map((role) => ({value: role, text: role}))},
                ...(tenants
                    ? [
                          {
                              name: "workspaces",
                              label: t("settings.token_workspaces"),
                              initial: "*",
                              required: true,
                              note: t("settings.token_workspaces_note"),
                          },
                      ]
                    : []),
                {
                    name: "days",
                    label: t("settings.token_lasts"),
                    initial: "",
                    choices: [
                        {value: "", text: t("settings.token_usual")},
                        ...lifetimes.map((n) => ({value: String(n), text: t("settings.token_days", {n})})),
                    ],
                },
            ],
            perform: async ({name, role, workspaces, days}) =>
                done(
                    await change<NewToken>("POST", "tokens", {
                        name: name!.trim(),
                        role,
                        ...(workspaces
                            ? {
                                  workspaces: workspaces
                                      .split(",")
                                      .map((each) => each.trim())
                                      .filter((each) => each !== ""),
                              }
                            : {}),
                        ...(days ? {expires_in_seconds: Number(days) * day} : {}),
                    }),
                ),
        });
    const rotate = (token: Token) =>
        ask({
            title: t("settings.token_rotate_title", {name: token.name}),
            body: t("settings.token_rotate_effect"),
            action: t("settings.token_rotate_action"),
            danger: true,
            perform: async () => done(await change<NewToken>("POST", `tokens/${token.id}/rotate`)),
        });
    const revoke = (token: Token) =>
        ask({
            title: t("settings.token_revoke_title", {name: token.name}),
            body: t("settings.token_revoke_effect"),
            action: t("settings.token_revoke_action"),
            danger: true,
            perform: async () => {
                await change("DELETE", `tokens/${token.id}`);
                done(undefined);
            },
        });
    return (
        <section class="section">
            <div class="section-head">
                <h2>{t("settings.tokens")}</h2>
                <button class="button push" onClick={create}>
                    {t("settings.token_new")}
                </button>
            </div>
            {made && <Secret made={made} />}
            <View resource={list} rows={3}>
                {({tokens}) =>
                    tokens.length === 0 ? (
                        <p class="muted">{t("settings.tokens_none")}</p>
                    ) : (
                        <div class="scroll-x">
                            <table class="table">
                                <caption class="unseen">{t("settings.tokens")}</caption>
                                <thead>
                                    <tr>
                                        <th scope="col">{t("settings.token_name")}</th>
                                        <th scope="col">{t("settings.token_role")}</th>
                                        {tenants && <th scope="col">{t("settings.token_workspaces")}</th>}
                                        <th scope="col">{t("settings.token_created")}</th>
                                        <th scope="col">{t("settings.token_expires")}</th>
                                        <th scope="col">{t("settings.token_used")}</th>
                                        <th scope="col">
                                            <span class="unseen">{t("keys.actions")}</span>
                                        </th>
                                    </tr>
                                </thead>
                                <tbody>
                                    {tokens.map((token) => (
                                        <tr key={token.id}>
                                            <td>
                                                <span class="strong">{token.name}</span>
                                                <span class="row-sub mono">{token.id}</span>
                                            </td>
                                            <td>{token.role}</td>
                                            {tenants && (
                                                <td>
                                                    {(token.workspaces ?? ["*"])
                                                        .map((name) => (name === "*" ? t("settings.token_everywhere") : name))
                                                        .join(", ")}
                                                </td>
                                            )}
                                            <td class="nowrap">{formatShortTime(token.created, daemonNow())}</td>
                                            <td class="nowrap">
                                                {token.expires === null ? t("settings.token_never") : formatShortTime(token.expires, daemonNow())}
                                            </td>
                                            <td class="nowrap">
                                                {token.last_used_day === null ? t("settings.token_never") : formatDay(token.last_used_day)}
                                            </td>
                                            <td class="number">
                                                <Menu
                                                    label={t("action.more")}
                                                    name={`token-${token.id}`}
                                                    items={[
                                                        {label: t("settings.token_rotate"), perform: () => rotate(token)},
                                                        {label: t("settings.token_revoke"), danger: true, perform: () => revoke(token)},
                                                    ]}
                                                />
                                            </td>
                                        </tr>
                                    ))}
                                </tbody>
                            </table>
                        </div>
                    )
                }
            </View>
        </section>
    );
}
