// What is around every page, and the choice of the page.
import {useEffect} from "preact/hooks";
import {signedOut} from "../api/client";
import {address, go, queryOf} from "../state/router";
import {t} from "../i18n/texts";
import {Empty} from "../design/states";
import {Link} from "../design/link";
import {Dialogs} from "../design/dialog";
import {Announcer} from "../design/announce";
import {Shell} from "./shell";
import {Lazy} from "./lazy";
import {ExperimentFrame} from "./experiment_frame";
import {fits, plainRoutes} from "./routes";
import {Keys} from "./keys";

const loadLogin = plainRoutes.find((route) => route.pattern === "login")!.load;

function CurrentPage() {
    const {path} = address.value;
    const query = queryOf(address.value);
    useEffect(() => {
        if (path.length === 0) go("experiments", {replace: true});
    }, [path.length]);
    if (signedOut.value) return <Lazy load={loadLogin} props={{query, captured: []}} />;
    if (path[0] === "e" && /^\d+$/.test(path[1] ?? "")) return <ExperimentFrame id={Number(path[1])} rest={path.slice(2)} query={query} />;
    for (const route of plainRoutes) {
        const captured = fits(route.pattern, path);
        if (captured) return <PlainPage title={t(route.title)}><Lazy load={route.load} props={{query, captured}} /></PlainPage>;
    }
    if (path.length === 0) return null;
    return <Empty top title={t("state.no_page")}><p>{t("state.no_page_text", {address: path.join("/")})}</p>
        <p><Link to="experiments">{t("nav.experiments")}</Link></p></Empty>;
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
