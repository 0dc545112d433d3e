// The size of a page: its memory, as Chromium counts it, and the lines of its log.
export const isChromium = process.env.HPSEARCH_BROWSER !== "firefox";

/// The most lines that a log page holds, as in clients/web/src/log/log_window.ts; one more may have no end yet.
export const mostLines = 5000;

export const heldLines = (page) => page.evaluate(() => Number(/([\d,]+) lines?/.exec(document.querySelector(".log-bar").textContent)?.[1].replaceAll(",", "")));

const sessions = new WeakMap();

export async function weigh(page) {
    let session = sessions.get(page);
    if (!session) {
        session = await page.context().newCDPSession(page);
        await session.send("Performance.enable");
        sessions.set(page, session);
    }
    await session.send("HeapProfiler.collectGarbage");
    const {usedSize} = await session.send("Runtime.getHeapUsage");
    const {metrics} = await session.send("Performance.getMetrics");
    const of = (name) => metrics.find((each) => each.name === name).value;
    return {heap: usedSize, nodes: of("Nodes"), listeners: of("JSEventListeners"), busy: of("TaskDuration"), at: of("Timestamp")};
}
