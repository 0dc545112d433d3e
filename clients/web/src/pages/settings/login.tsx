// Sign-in with a token.
import {useId, useState} from "preact/hooks";
import {openSession, Problem, signedOut} from "../../api/client";
import {address, go} from "../../state/router";
import {t} from "../../i18n/texts";
import type {PageProps} from "../page_props";

export default function Login(_: PageProps) {
    const [token, setToken] = useState("");
    const [problem, setProblem] = useState<string | undefined>();
    const [waits, setWaits] = useState(false);
    const id = useId();
    const open = async (event: Event) => {
        event.preventDefault();
        // What the field holds now; the state may be one stroke behind it.
        const given = (event.currentTarget as HTMLFormElement).querySelector("input")?.value ?? token;
        setWaits(true);
        setProblem(undefined);
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
                        aria-describedby={problem ? `${id}-problem` : undefined}
                        onInput={(event) => setToken(event.currentTarget.value)}
                    />
                </label>
                {problem && (
                    <p class="field-problem" id={`${id}-problem`} role="alert">
                        {problem}
                    </p>
                )}
                <button class={`button primary${waits ? " waits" : ""}`} disabled={waits || token.trim() === ""}>
                    {t("nav.login")}
                </button>
            </form>
        </div>
    );
}
