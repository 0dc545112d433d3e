// A component whose file is loaded when it is first shown.
import type {ComponentType} from "preact";
import {useEffect, useState} from "preact/hooks";
import {t} from "../i18n/texts";
import {Loading} from "../design/states";
import {connection} from "../live/stream";

type Load = () => Promise<{default: ComponentType<any>}>;
const loaded = new Map<Load, ComponentType<any>>();

export function Lazy({load, props}: {load: Load; props: object}) {
    const [, redraw] = useState(0);
    const [failed, setFailed] = useState(false);
    const lost = connection.value.kind === "lost";
    useEffect(() => {
        setFailed(false);
        if (loaded.has(load)) return;
        load().then(
            ({default: component}) => {
                loaded.set(load, component);
                redraw((n) => n + 1);
            },
            () => setFailed(true),
        );
    }, [load, lost]);
    const Component = loaded.get(load) as ComponentType<object> | undefined;
    if (failed && lost)
        return (
            <div class="state-note">
                <h2>{t("state.unreachable")}</h2>
            </div>
        );
    if (failed) {
        // The files of another version of the daemon, most likely.
        return (
            <div class="state-note">
                <p>{t("state.page_gone")}</p>
                <button class="button" onClick={() => location.reload()}>
                    {t("action.reload")}
                </button>
            </div>
        );
    }
    return Component ? <Component {...props} /> : <Loading />;
}
