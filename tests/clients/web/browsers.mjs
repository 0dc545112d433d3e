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

/// playwright sends a command at the start of each context that this Firefox does not have yet; themes are not chosen here,
/// so it is left out.
export async function launchFirefox(preferences = {}) {
    const {firefox} = require("playwright-core");
    const browser = await firefox.launch({executablePath: firefoxPath, channel: "moz-firefox", firefoxUserPrefs: {"ui.prefersReducedMotion": 1, ...preferences}});
    const session = Object.getPrototypeOf(browser._connection.toImpl(browser)._browserSession);
    const {send} = session;
    session.send = function (method, parameters) {
        return method === "emulation.setMediaFeaturesOverride" ? Promise.resolve({}) : send.call(this, method, parameters);
    };
    return browser;
}
