// What is around every page, and the choice of the page.
import {useEffect} from "preact/hooks";
import {signedOut} from "../api/client";
import {address, go, queryOf, unreadableHere} from "../state/router";
import {fitting} from "../state/shapes";
import {t} from "../i18n/texts";
import {Empty} from "../design/states";
import {Dialogs} from "../design/dialog";
import {Announcer} from "../design/announce";
import {Shell} from "./shell";
import {Lazy} from "./lazy";
import {ExperimentFrame} from "./experiment/experiment_frame";
import {IgnoredNote} from "./experiment/ignored_note";
import {experimentOf, plainRoutes, routeFor, stateOf} from "./routes";
import {Keys} from "./settings/keys";

const loadLogin = plainRoutes.find((route) => route.pattern === "login")!.load;

const everywhere = [
    ["experiments", "nav.experiments"],
    ["workers", "nav.workers"],
    ["new", "nav.new"],
] as const;

function CurrentPage() {
    const {path} = address.value;
    // Pages get what they can use. What they can't is ignored here, for all of them, and said.
    const shapes = stateOf(path);
    const {query: fit, ignored} = shapes ? fitting(address.value.query, shapes) : {query: address.value.query, ignored: []};
    const query = queryOf({path, query: fit});
    useEffect(() => {
        if (path.length === 0) go("experiments", {replace: true});
    }, [path.length]);
    if (signedOut.value) return <Lazy load={loadLogin} props={{query, captured: []}} />;
    const note = <IgnoredNote parts={[...unreadableHere(), ...ignored]} remove={() => go({path, query: fit}, {replace: true})} />;
    const experiment = experimentOf(path);
    if (experiment !== undefined)
        return (
            <>
                {note}
                <ExperimentFrame id={experiment} rest={path.slice(2)} query={query} />
            </>
        );
    const plain = routeFor(plainRoutes, path);
    if (plain)
        return (
            <>
                {note}
                <PlainPage title={t(plain.route.title)}>
                    <Lazy load={plain.route.load} props={{query, captured: plain.captured}} />
                </PlainPage>
            </>
        );
    if (path.length === 0) return null;
    return (
        <Empty top title={t("state.no_page")} ways={everywhere}>
            <p>{t("state.no_page_text", {address: path.join("/")})}</p>
        </Empty>
    );
}

function PlainPage({title, children}: {title: string; children: preact.ComponentChildren}) {
    useEffect(() => {
        document.title = `${title} · hpsearch`;
    }, [title]);
    return <>{children}</>;
}

export function App() {
    return (
        <Shell>
            <CurrentPage />
            <Dialogs />
            <Announcer />
            <Keys />
        </Shell>
    );
}
