// Sorts and filters rows off the page's thread.
import type {Columns} from "../plot/data/columns";
import {answer, type Wish} from "./rows";

export type ToWorker = {readonly columns: Columns} | {readonly id: number; readonly wish: Wish};

let columns: Columns | undefined;

addEventListener("message", ({data}: MessageEvent<ToWorker>) => {
    if ("columns" in data) {
        columns = data.columns;
        return;
    }
    if (columns) postMessage({id: data.id, ...answer(columns, data.wish)});
});
