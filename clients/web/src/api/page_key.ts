// The second secret of a session. The browser sends a cookie to every port of its host, so other programs of the machine
// can see it. This key stays with the pages of this origin, which send it in a header with every request.
import {base} from "../state/router";
import {language} from "../state/settings";

const name = `hpsearch-page-key:${base.pathname}`;
const header = "X-Hpsearch-Page-Key";
const waitForOtherTabs = 250;

type Message = {readonly what: "ask"} | {readonly what: "key"; readonly key: string};

const inThisTab: Storage | undefined = globalThis.sessionStorage;
const inThisBrowser: Storage | undefined = globalThis.localStorage;
let key = inThisTab?.getItem(name) ?? "";
let changed: () => void = () => {};
let heard: () => void = () => {};
let channel: BroadcastChannel | undefined;

function keep(given: string): void {
    key = given;
    inThisTab?.setItem(name, given);
}

/// To the other tabs, and from them.
function others(): BroadcastChannel | undefined {
    if (!channel && "BroadcastChannel" in globalThis) {
        channel = new BroadcastChannel(name);
        channel.addEventListener("message", ({data}: MessageEvent<Message>) => {
            if (data.what === "ask") {
                if (key !== "") channel?.postMessage({what: "key", key} satisfies Message);
            } else if (data.key !== key) {
                keep(data.key);
                heard();
                changed();
            }
        });
    }
    return channel;
}

/// The headers of a request, the language of the answer's sentences, and the key if there is one.
export const withOwnHeaders = (headers: Record<string, string> = {}): Record<string, string> => ({
    ...headers,
    "Accept-Language": language.peek(),
    ...(key === "" ? {} : {[header]: key}),
});

/// A sign-in gave this key, or a sign-out took it away (""): for all tabs.
export function setPageKey(given: string): void {
    keep(given);
    // Not the key: only that a tab that has none may find it in another one.
    inThisBrowser?.setItem(name, given === "" ? "" : "another tab may have it");
    others()?.postMessage({what: "key", key: given} satisfies Message);
}

/// Called when another tab has signed in or out.
export function onPageKey(then: () => void): void {
    changed = then;
}

/// Called once, at the start: a new tab gets the key from one that is open.
export async function findPageKey(): Promise<void> {
    const channel = others();
    if (key !== "" || !channel || !inThisBrowser?.getItem(name)) return;
    const found = new Promise<void>((done) => {
        heard = done;
    });
    channel.postMessage({what: "ask"} satisfies Message);
    await Promise.race([found, new Promise((done) => setTimeout(done, waitForOtherTabs))]);
    heard = () => {};
}
