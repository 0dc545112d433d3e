// The little of a browser that the tested modules touch when they are loaded.
const kept = new Map();
globalThis.localStorage ??= {getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => void kept.set(name, value)};
globalThis.matchMedia ??= () => ({matches: false, addEventListener() {}});
globalThis.document ??= {documentElement: {dataset: {}, lang: "", style: {}}, hidden: false, addEventListener() {}, querySelector: () => null};
globalThis.addEventListener ??= () => {};
globalThis.location ??= new URL("http://127.0.0.1/");
globalThis.history ??= {pushState() {}, replaceState() {}};
globalThis.scrollTo ??= () => {};
globalThis.window ??= globalThis;
if (!globalThis.navigator) Object.defineProperty(globalThis, "navigator", {value: {language: "en"}});
