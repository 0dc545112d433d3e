// The tabs of the settings: who may not see a page has no link to it.
import {isServed} from "../../api/served";
import {useResource} from "../../state/resource";
import {address} from "../../state/router";
import {t, type TextKey} from "../../i18n/texts";
import {Link} from "../../design/link";

interface Tab {
    readonly path: string;
    readonly title: TextKey;
    readonly route?: string;
    readonly admin?: boolean;
}

const tabs: readonly Tab[] = [
    {path: "settings", title: "nav.settings"},
    {path: "settings/usage", title: "usage.title", route: "/usage"},
    {path: "settings/workspaces", title: "settings.workspaces", route: "/workspaces", admin: true},
    {path: "settings/audit", title: "audit.title", route: "/audit", admin: true},
];

export function SettingsTabs() {
    const who = useResource<{role: string}>("whoami");
    const current = address.value.path.join("/");
    const shown = tabs.filter((tab) => (!tab.route || isServed(tab.route, "get")) && (!tab.admin || who.data?.role === "admin"));
    return (
        <nav class="tabs" aria-label={t("settings.tabs")}>
            {shown.map(({path, title}) => (
                <Link key={path} to={path} class="tab" aria-current={current === path ? "page" : undefined}>
                    {t(title)}
                </Link>
            ))}
        </nav>
    );
}
