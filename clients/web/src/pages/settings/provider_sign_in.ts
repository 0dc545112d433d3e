// Sign-in at the daemon's OpenID provider: the browser goes there, and comes back to /login?code=…&state=….
import {signal} from "@preact/signals";
import {change, openSession, Problem} from "../../api/client";
import type {SignInAtProvider} from "../../api/types";
import {base, go} from "../../state/router";
import {t} from "../../i18n/texts";

const place = `hpsearch-sign-in:${base.pathname}`;

/// Why the last sign-in failed; "" = it did not.
export const providerProblem = signal("");

const textOf = (cause: unknown): string => (cause instanceof Problem ? cause.message || t("state.unreachable") : String(cause));

/// Leaves the page.
export async function goToProvider(): Promise<void> {
    try {
        const {address, key} = await change<SignInAtProvider>("POST", "session/provider");
        // The address where the person wanted to be, below the base.
        sessionStorage.setItem(place, JSON.stringify([key, location.pathname.slice(base.pathname.length) + location.search]));
        location.assign(address);
    } catch (cause) {
        providerProblem.value = textOf(cause);
    }
}

/// Called once, at the start: ends the sign-in with which the browser comes back.
export async function comeFromProvider(): Promise<void> {
    const query = new URLSearchParams(location.search);
    const state = query.get("state");
    if (location.pathname !== `${base.pathname}login` || state === null) return;
    go("login", {replace: true});
    // Without what this tab kept, the daemon refuses the answer, and says why.
    const [key, back] = JSON.parse(sessionStorage.getItem(place) ?? '["", ""]') as [string, string];
    sessionStorage.removeItem(place);
    const error = query.get("error");
    if (error !== null) {
        providerProblem.value = t("login.refused", {why: query.get("error_description") ?? error});
        return;
    }
    try {
        await openSession({state, code: query.get("code") ?? "", key}, "session/provider/answer");
        go(back === "" || back.startsWith("login") ? "experiments" : back, {replace: true});
    } catch (cause) {
        providerProblem.value = textOf(cause);
    }
}
