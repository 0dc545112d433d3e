// Sign-in with a token, or at the OpenID provider of the daemon.
import {useEffect, useId, useState} from "preact/hooks";
import {get, openSession, Problem, signedOut} from "../../api/client";
import type {SignInProvider} from "../../api/types";
import {address, go} from "../../state/router";
import {t} from "../../i18n/texts";
import type {PageProps} from "../page_props";
import {goToProvider, providerProblem} from "./provider_sign_in";

export default function Login(_: PageProps) {
    const [token, setToken] = useState("");
    const [problem, setProblem] = useState<string | undefined>();
    const [waits, setWaits] = useState(false);
    const [provider, setProvider] = useState<string | null>(null);
    const id = useId();
    useEffect(() => {
        void get<SignInProvider>("session/provider").then(
            ({name}) => setProvider(name),
            () => {},
        );
    }, []);
    const shown = problem ?? (providerProblem.value || undefined);
    const open = async (event: Event) => {
        event.preventDefault();
        // What the field holds now; the state may be one stroke behind it.
        const given = (event.currentTarget as HTMLFormElement).querySelector("input")?.value ?? token;
        setWaits(true);
        setProblem(undefined);
        providerProblem.value = "";
        try {
            await openSession({token: given.trim()});
            if (address.peek().path[0] === "login") go("experiments", {replace: true});
        } catch (cause) {
            // A wrong token is a refused request as well; the page stays.
            signedOut.value = true;
            setProblem(
                cause instanceof Problem ? (cause.status === 401 ? t("login.wrong") : cause.message || t("state.unreachable")) : String(cause),
            );
        } finally {
            setWaits(false);
        }
    };
    return (
        <div class="login">
            <h1>{t("nav.login")}</h1>
            {provider && (
                <button type="button" class="button primary" onClick={goToProvider}>
                    {t("login.with", {name: provider})}
                </button>
            )}
            <p class="muted">{t("login.text")}</p>
            <pre class="command">
                <code>hpsearch open</code>
            </pre>
            <form onSubmit={open}>
                <label class="field" for={`${id}-token`}>
                    <span>{t("login.token")}</span>
                    <input
                        id={`${id}-token`}
                        class="input mono"
                        type="password"
                        autocomplete="current-password"
                        spellcheck={false}
                        value={token}
                        aria-invalid={problem !== undefined}
                        aria-describedby={shown ? `${id}-problem` : undefined}
                        onInput={(event) => setToken(event.currentTarget.value)}
                    />
                </label>
                {shown && (
                    <p class="field-problem" id={`${id}-problem`} role="alert">
                        {shown}
                    </p>
                )}
                <button class={`button primary${waits ? " waits" : ""}`} disabled={waits || token.trim() === ""}>
                    {t("nav.login")}
                </button>
            </form>
        </div>
    );
}
