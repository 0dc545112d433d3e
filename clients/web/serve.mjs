// Serves built pages as hpsearchd does, and passes requests for the API on to a daemon. For development and tests.
import {createServer, request} from "node:http";
import {readFileSync, existsSync} from "node:fs";
import {extname, join, normalize} from "node:path";

const types = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
};

export const pageHeaders = {
    "Content-Security-Policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
};

const isApi = (path) => /^\/(api|healthz|readyz|version|metrics)(\/|$|\?)/.test(path);

/// A server for the files of `root`, below the path `prefix`. `daemon` is "HOST:PORT". `intercept` may answer a request
/// in the daemon's place; then it returns true.
export function servePages({root, daemon, prefix = "", intercept = undefined}) {
    const [host, port] = daemon.split(":");
    const below = encodeURI(prefix);
    return createServer((question, answer) => {
        if (!question.url.startsWith(`${below}/`) && question.url !== below) {
            answer.writeHead(404).end();
            return;
        }
        const url = question.url.slice(below.length) || "/";
        if (intercept?.(question, answer, url)) return;
        if (isApi(url)) {
            const headers = {...question.headers, host: `${host}:${port}`};
            if (headers.origin) headers.origin = `http://${host}:${port}`;
            delete headers.referer;
            const passed = request({host, port, path: url, method: question.method, headers}, (response) => {
                answer.writeHead(response.statusCode, response.headers);
                response.pipe(answer);
            });
            passed.on("error", () => {
                if (!answer.headersSent) answer.writeHead(502);
                answer.end();
            });
            answer.on("close", () => passed.destroy());
            question.pipe(passed);
            return;
        }
        const path = normalize(decodeURI(url.split("?")[0]));
        const file = join(root, path);
        const known = /^\/(assets\/[^/]+|LICENSES\.txt)$/.test(path) && existsSync(file);
        if (known) {
            answer.writeHead(200, {
                "Content-Type": types[extname(file)] ?? "application/octet-stream",
                ...pageHeaders,
                "Cache-Control": "public, max-age=31536000, immutable",
            });
            answer.end(readFileSync(file));
            return;
        }
        const depth = path.split("/").length - 2;
        answer.writeHead(200, {"Content-Type": types[".html"], ...pageHeaders, "Cache-Control": "no-cache"});
        answer.end(readFileSync(join(root, "index.html"), "utf8").replaceAll("{{base}}", depth > 0 ? "../".repeat(depth) : "./"));
    });
}
