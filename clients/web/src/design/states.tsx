// The states of a view that are not its data: loading, empty, error, forbidden. And the note that data are stale.
import type {ComponentChildren} from "preact";
import {useEffect, useState} from "preact/hooks";
import {connection} from "../live/stream";
import type {Resource} from "../state/resource";
import {address} from "../state/router";
import {t, type TextKey} from "../i18n/texts";
import {formatDuration} from "../i18n/format";
import {Link} from "./link";
import {useNow} from "./now";

type Ways = readonly (readonly [to: string, text: TextKey])[];

/// Pages to go on with from one that has nothing.
export function LeadOn({ways}: {ways: Ways}) {
    return (
        <p class="chips">
            {ways.map(([to, text]) => (
                <Link key={to} to={to} class="button">
                    {t(text)}
                </Link>
            ))}
        </p>
    );
}

/// Grey bars, after 150 ms, so that what comes at once doesn't flicker.
/// `top`: they stand for the whole page, with its heading.
export function Loading({rows = 6, top = false}: {rows?: number; top?: boolean}) {
    const [shown, setShown] = useState(false);
    const [slow, setSlow] = useState(false);
    useEffect(() => {
        const first = setTimeout(() => setShown(true), 150);
        const second = setTimeout(() => setSlow(true), 2000);
        return () => {
            clearTimeout(first);
            clearTimeout(second);
        };
    }, []);
    if (!shown) return <div class="skeleton" aria-busy="true" />;
    return (
        <div class="skeleton" role="status" aria-busy="true" aria-label={t("state.loading")}>
            {top && <h1 class="unseen">{t("state.loading")}</h1>}
            {Array.from({length: rows}, (_, index) => (
                <div class="skeleton-bar" key={index} style={{width: `${92 - ((index * 37) % 45)}%`}} />
            ))}
            {slow && <p class="muted small">{t("state.loading_slow")}</p>}
        </div>
    );
}

/// What would fill the view, and the command that does.
/// `top`: it is the heading of the whole page.
export function Empty({
    title,
    children,
    command,
    ways,
    top = false,
}: {
    title: string;
    children?: ComponentChildren;
    command?: string | undefined;
    ways?: Ways;
    top?: boolean;
}) {
    return (
        <div class="state-note">
            {top ? <h1>{title}</h1> : <h2>{title}</h2>}
            {children}
            {command && (
                <pre class="command">
                    <code>{command}</code>
                </pre>
            )}
            {ways && <LeadOn ways={ways} />}
        </div>
    );
}

/// From what is not there: to what it would be a part of.
function waysFrom(path: readonly string[]): Ways {
    const list = ["experiments", "nav.experiments"] as const;
    if (path[0] !== "e" || path.length < 3) return [list];
    return [[`e/${path[1]}`, "tab.overview"], [`e/${path[1]}/trials`, "tab.trials"], list];
}

export function ProblemNote({resource, top = false}: {resource: Resource<unknown>; top?: boolean}) {
    const problem = resource.problem!;
    const title =
        problem.status === 403
            ? t("state.forbidden")
            : problem.status === 404
              ? t("state.not_found")
              : problem.status === 0
                ? t("state.unreachable")
                : t("state.error");
    return (
        <div class="state-note" role="alert">
            {top ? <h1>{title}</h1> : <h2>{title}</h2>}
            <p>{problem.message}</p>
            {problem.status === 404 && <LeadOn ways={waysFrom(address.value.path)} />}
            {problem.requestId && <p class="muted small">{t("state.request", {id: problem.requestId})}</p>}
            <button class="button" onClick={resource.reload}>
                {t("action.try_again")}
            </button>
        </div>
    );
}

/// Shows the data of a resource, or the state it is in instead.
export function View<T>({
    resource,
    rows,
    top = false,
    children,
}: {
    resource: Resource<T>;
    rows?: number;
    top?: boolean;
    children: (data: T) => ComponentChildren;
}) {
    if (resource.data !== undefined) {
        return (
            <>
                {resource.problem && resource.problem.status !== 0 && resource.problem.status !== 401 && (
                    <p class="inline-problem" role="alert">
                        {resource.problem.message}{" "}
                        <button class="link" onClick={resource.reload}>
                            {t("action.try_again")}
                        </button>
                    </p>
                )}
                {children(resource.data)}
            </>
        );
    }
    if (resource.problem) return <ProblemNote resource={resource} top={top} />;
    return <Loading top={top} {...(rows === undefined ? {} : {rows})} />;
}

/// "Connection lost 12 s ago, trying": data stay.
export function StaleNote() {
    const lost = connection.value.kind === "lost";
    const now = useNow(lost);
    if (!lost) return null;
    const seconds = Math.max(0, now - connection.value.since / 1000);
    return seconds < 1.5 ? null : (
        <div class="stale" role="status">
            <span class="stale-dot" />
            {t("state.stale", {age: formatDuration(Math.round(seconds))})}
        </div>
    );
}
