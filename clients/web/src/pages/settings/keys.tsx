// Keys for the whole page. They can be switched off, and none works inside a text field.
import {useEffect} from "preact/hooks";
import {address, go} from "../../state/router";
import {keysOn} from "../../state/settings";
import {t, type TextKey} from "../../i18n/texts";
import {show} from "../../design/dialog";
import {experimentRoutes} from "../routes";

const listed: readonly (readonly [string, TextKey])[] = [
    ["/", "keys.search"],
    ["g e", "keys.experiments"],
    ["g w", "keys.workers"],
    ["j  k", "keys.rows"],
    ["x", "keys.select"],
    ["Enter", "keys.open"],
    ["[  ]", "keys.tabs"],
    [".", "keys.actions"],
    ["?", "keys.list"],
];

export function KeyList() {
    return (
        <>
            <h2>{t("keys.title")}</h2>
            <table class="table">
                <tbody>
                    {listed.map(([keys, text]) => (
                        <tr key={keys}>
                            <td class="nowrap">
                                {keys.split("  ").map((key) => (
                                    <>
                                        <kbd>{key}</kbd>{" "}
                                    </>
                                ))}
                            </td>
                            <td>{t(text)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p class="muted small">{t("keys.plots")}</p>
        </>
    );
}

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-row]")];

function moveRow(step: number): void {
    const all = rows();
    if (all.length === 0) return;
    const active = document.activeElement?.closest<HTMLElement>("[data-row]");
    const at = active ? all.indexOf(active) : -1;
    const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + step))]!;
    (next.querySelector<HTMLElement>("[data-open]") ?? next).focus();
    next.scrollIntoView({block: "nearest"});
}

function nextTab(step: number): void {
    const {path} = address.peek();
    if (path[0] !== "e" || !path[1]) return;
    const shown = experimentRoutes.filter((route) => !route.hidden);
    const current = shown.findIndex((route) => route.pattern === (path[2] === "t" ? "trials" : (path[2] ?? "")));
    const next = shown[(current + step + shown.length) % shown.length]!;
    go(next.pattern === "" ? `e/${path[1]}` : `e/${path[1]}/${next.pattern}`);
}

export function Keys() {
    useEffect(() => {
        let afterG = 0;
        const press = (event: KeyboardEvent) => {
            if (!keysOn.peek() || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
            const target = event.target as HTMLElement;
            if (target.closest("input, textarea, select, [contenteditable], dialog, [role=application]")) return;
            const inG = Date.now() - afterG < 1500;
            afterG = 0;
            if (inG && (event.key === "e" || event.key === "w")) {
                go(event.key === "e" ? "experiments" : "workers");
                event.preventDefault();
                return;
            }
            switch (event.key) {
                case "/": {
                    const search = document.querySelector<HTMLElement>("[data-search]");
                    if (!search) return;
                    search.focus();
                    break;
                }
                case "g":
                    afterG = Date.now();
                    break;
                case "j":
                    moveRow(1);
                    break;
                case "k":
                    moveRow(-1);
                    break;
                case "x":
                    target.closest("[data-row]")?.querySelector<HTMLElement>("input[type=checkbox]")?.click();
                    break;
                case "[":
                    nextTab(-1);
                    break;
                case "]":
                    nextTab(1);
                    break;
                case ".":
                    document.querySelector<HTMLElement>("[data-actions]")?.click();
                    break;
                case "?":
                    show(<KeyList />);
                    break;
                default:
                    return;
            }
            event.preventDefault();
        };
        addEventListener("keydown", press);
        return () => removeEventListener("keydown", press);
    }, []);
    return null;
}
