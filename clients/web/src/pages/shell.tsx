// The bar above every page.
import type {ComponentChildren} from "preact";
import {connection} from "../live/stream";
import {newVersion} from "../live/version_watch";
import {address} from "../state/router";
import {mayChange, session} from "../api/client";
import {shownTheme, theme} from "../state/settings";
import {t} from "../i18n/texts";
import {Link} from "../design/link";
import {StaleNote} from "../design/states";

function Brand() {
    return (
        <Link to="experiments" class="brand" aria-label={`hpsearch, ${t("nav.experiments")}`}>
            <svg width="18" height="18" viewBox="0 0 16 16" aria-hidden="true">
                <path fill="currentColor" d="M2 14V9h3v5zm4.500 0V5h3v9zM11 14V2h3v12z" />
            </svg>
            <span>hpsearch</span>
        </Link>
    );
}

function NavLink({to, label}: {to: string; label: string}) {
    const first = address.value.path[0] ?? "experiments";
    const current = first === to || (to === "experiments" && first === "e");
    return (
        <Link to={to} class="nav-link" aria-current={current ? "page" : undefined}>
            {label}
        </Link>
    );
}

function ThemeButton() {
    const dark = shownTheme.value === "dark";
    const label = dark ? t("settings.use_light") : t("settings.use_dark");
    return (
        <button
            class="icon-button"
            aria-label={label}
            title={label}
            onClick={() => {
                theme.value = dark ? "light" : "dark";
            }}
        >
            <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.500">
                {dark ? (
                    <>
                        <circle cx="8" cy="8" r="3" />
                        <path
                            d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.400 1.400M11.600 11.600L13 13M3 13l1.400-1.400M11.600 4.400L13 3"
                            stroke-linecap="round"
                        />
                    </>
                ) : (
                    <path d="M13.500 9.500A6 6 0 0 1 6.500 2.500a5.800 5.800 0 1 0 7 7z" stroke-linejoin="round" />
                )}
            </svg>
        </button>
    );
}

function LiveDot() {
    const kind = connection.value.kind;
    return (
        <span class={`live-dot ${kind}`} title={t(`live.${kind}`)}>
            <span class="live-word">{t(`live.${kind}`)}</span>
        </span>
    );
}

export function Shell({children}: {children: ComponentChildren}) {
    const name = session.value?.name;
    return (
        <>
            <a
                class="skip"
                href="#main"
                onClick={(event) => {
                    event.preventDefault();
                    document.getElementById("main")?.focus();
                }}
            >
                {t("nav.skip")}
            </a>
            <header class="top">
                <div class="top-row">
                    <Brand />
                    <nav class="nav" aria-label={t("nav.label")}>
                        <NavLink to="experiments" label={t("nav.experiments")} />
                        <NavLink to="workers" label={t("nav.workers")} />
                    </nav>
                    <div class="top-end">
                        <LiveDot />
                        <ThemeButton />
                        <Link
                            to="settings"
                            class="icon-button"
                            aria-label={t("nav.settings")}
                            title={name ? `${name} · ${t("nav.settings")}` : t("nav.settings")}
                        >
                            <svg
                                width="16"
                                height="16"
                                viewBox="0 0 16 16"
                                aria-hidden="true"
                                fill="none"
                                stroke="currentColor"
                                stroke-width="1.500"
                                stroke-linecap="round"
                            >
                                <path d="M2 4.500h7M13 4.500h1M2 11.500h1M7 11.500h7" />
                                <circle cx="11" cy="4.500" r="1.800" />
                                <circle cx="5" cy="11.500" r="1.800" />
                            </svg>
                        </Link>
                        {mayChange() && (
                            <Link to="new" class="button primary new-button">
                                <span class="new-word">{t("nav.new")}</span>
                                <span class="new-sign" aria-hidden="true">
                                    +
                                </span>
                            </Link>
                        )}
                    </div>
                </div>
                <StaleNote />
                {newVersion.value && (
                    <div class="stale" role="status">
                        {t("state.new_version", {version: newVersion.value})}{" "}
                        <button class="link" onClick={() => location.reload()}>
                            {t("action.reload")}
                        </button>
                    </div>
                )}
            </header>
            <main id="main" class="main" tabIndex={-1}>
                {children}
            </main>
        </>
    );
}
