// The start of the pages.
import {render} from "preact";
import "./design/tokens.css";
import "./design/base.css";
import "./design/shell.css";
import "./design/parts.css";
import "./design/pages.css";
import "./design/plots.css";
import {App} from "./pages/app";
import {readSession} from "./api/client";
import {findPageKey} from "./api/page_key";
import {startStream} from "./live/stream";
import {watchVersion} from "./live/version_watch";
import {comeFromProvider} from "./pages/settings/provider_sign_in";
import {exchangeCode} from "./pages/settings/sign_in_code";

// A one-time code stands behind #, which no log has. It is taken out of the address before anything else.
await exchangeCode();
await comeFromProvider();
await findPageKey();
void readSession();
startStream();
watchVersion();
render(<App />, document.getElementById("app")!);
