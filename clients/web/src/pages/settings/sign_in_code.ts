// The one-time code of `hpsearch open`: http://HOST:PORT/#login=CODE.
import {openSession} from "../../api/client";

export async function exchangeCode(): Promise<void> {
    const found = /^#login=([\w.~-]+)$/.exec(location.hash);
    if (!found) return;
    history.replaceState(null, "", location.pathname + location.search);
    try {
        await openSession({code: found[1]!});
    } catch {
        // The sign-in page appears with the first refused request.
    }
}
