// The browsers of Debian in which the pages are tested: Chromium, and Firefox ESR through WebDriver BiDi.
import {existsSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const require = createRequire(join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "clients", "web", "package.json"));

const found = (paths) => paths.find((path) => path && existsSync(path)) ?? "";
export const chromiumPath = found([process.env.HPSEARCH_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"]);
export const firefoxPath = found([process.env.HPSEARCH_FIREFOX, "/usr/bin/firefox-esr"]);

export function launchChromium(words = []) {
    const {chromium} = require("playwright-core");
    return chromium.launch({executablePath: chromiumPath, args: ["--no-sandbox", "--disable-gpu", "--force-prefers-reduced-motion", ...words]});
}

/// Closes two gaps between playwright and this Firefox. playwright sends a command at the start of each context that this Firefox
/// doesn't have yet; no test chooses a theme, so it is left out. playwright ignores a download that has neither an id nor a
/// navigation, as those that a page makes of a Blob; its address is unique, so that becomes its id.
export async function launchFirefox(preferences = {}) {
    const {firefox} = require("playwright-core");
    const browser = await firefox.launch({executablePath: firefoxPath, channel: "moz-firefox", firefoxUserPrefs: {"ui.prefersReducedMotion": 1, ...preferences}});
    const session = Object.getPrototypeOf(browser._connection.toImpl(browser)._browserSession);
    const {send, dispatchMessage} = session;
    session.send = function (method, parameters) {
        return method === "emulation.setMediaFeaturesOverride" ? Promise.resolve({}) : send.call(this, method, parameters);
    };
    session.dispatchMessage = function (message) {
        const {method, params} = message;
        if (/^browsingContext\.download/.test(method) && !params.download && !params.navigation) params.download = params.url;
        return dispatchMessage.call(this, message);
    };
    return browser;
}
