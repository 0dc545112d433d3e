// The header and the tabs of an experiment, around each of its pages.
import {useEffect} from "preact/hooks";
import type {Experiment} from "../../api/shapes";
import type {Message} from "../../live/stream";
import {address, type Query} from "../../state/router";
import {useResource} from "../../state/resource";
import {t} from "../../i18n/texts";
import {Link} from "../../design/link";
import {Empty, View} from "../../design/states";
import {ExperimentHeader} from "./experiment_header";
import {Lazy} from "../lazy";
import {sharedState} from "../page_state";
import {experimentRoutes, routeFor} from "../routes";

function Tabs({id, current}: {id: number; current: string}) {
    const query = Object.fromEntries(Object.entries(address.value.query).filter(([name]) => Object.hasOwn(sharedState, name)));
    return (
        <nav class="tabs" aria-label={t("tab.label")}>
            {experimentRoutes
                .filter((route) => !route.hidden)
                .map((route) => (
                    <Link
                        key={route.pattern}
                        to={{path: route.pattern === "" ? ["e", String(id)] : ["e", String(id), route.pattern], query}}
                        class="tab"
                        aria-current={current === route.pattern ? "page" : undefined}
                        ref={(link: HTMLAnchorElement | null) => {
                            if (link && current === route.pattern) intoView(link);
                        }}
                    >
                        {t(route.title)}
                    </Link>
                ))}
        </nav>
    );
}

/// On a narrow screen the row of tabs scrolls; the current one has to be seen.
function intoView(link: HTMLElement): void {
    const row = link.parentElement;
    if (!row) return;
    const left = link.offsetLeft - row.offsetLeft;
    if (left < row.scrollLeft || left + link.offsetWidth > row.scrollLeft + row.clientWidth) row.scrollLeft = left - 16;
}

export const mergeExperiment = (message: Message, old: Experiment): Experiment | undefined =>
    typeof message["experiment"] === "object" && message["experiment"] !== null
        ? {...old, ...(message["experiment"] as Partial<Experiment>)}
        : undefined;

export function ExperimentFrame({id, rest, query}: {id: number; rest: readonly string[]; query: Query}) {
    const experiment = useResource<Experiment>(`experiments/${id}`, {topic: `experiment:${id}`, merge: mergeExperiment});
    const {route, captured} = routeFor(experimentRoutes, rest) ?? {route: undefined, captured: []};
    const name = experiment.data?.name;
    const page = route ? t(route.title, {trial: captured[0] ?? ""}) : "";
    useEffect(() => {
        document.title = [page, name ?? `${id}`, "hpsearch"].filter((part) => part !== "").join(" · ");
    }, [page, name, id]);
    return (
        <View top resource={experiment}>
            {(data) => (
                <>
                    <ExperimentHeader experiment={data} compact={rest.length > 0} reload={experiment.reload} />
                    <Tabs id={id} current={route?.tab ?? route?.pattern ?? "?"} />
                    <div class="page">
                        {route ? (
                            <Lazy key={route.pattern} load={route.load} props={{experiment: data, query, captured}} />
                        ) : (
                            <Empty
                                title={t("state.no_page")}
                                ways={[
                                    [`e/${id}`, "tab.overview"],
                                    [`e/${id}/trials`, "tab.trials"],
                                ]}
                            >
                                <p>{t("state.no_page_text", {address: rest.join("/")})}</p>
                            </Empty>
                        )}
                    </div>
                </>
            )}
        </View>
    );
}
