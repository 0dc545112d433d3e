// What of the address the page ignores: one line, with the way to remove it.
import {t} from "../../i18n/texts";
import {shortened} from "../../i18n/format";

const mostParts = 4;

export function IgnoredNote({parts, remove}: {parts: readonly string[]; remove: () => void}) {
    if (parts.length === 0) return null;
    const shown = parts.slice(0, mostParts).map((part) => shortened(part, 40));
    return (
        <p class="ignored muted small" role="status">
            {t("state.ignored", {parts: [...shown, ...(parts.length > mostParts ? ["…"] : [])].join(" · ")})}{" "}
            <button class="link" onClick={remove}>
                {t("state.ignored_remove")}
            </button>
        </p>
    );
}
