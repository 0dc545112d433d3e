// Rows of a table that stay where they are while data change: new trials are counted, and come in when asked for.
import {useEffect, useRef, useState} from "preact/hooks";
import {columnOf, type Columns} from "../plot/data/columns";
import {RowSource} from "./ask_rows";
import type {Wish} from "./rows";

export interface Rows {
    readonly rows: Uint32Array;
    /// Trials that fit but are not shown yet.
    readonly fresh: number;
    readonly update: () => void;
    readonly ready: boolean;
}

/// Lists of many trials are told apart by a number each.
const listNumbers = new WeakMap<object, number>();
let lists = 0;

function numberOf(list: object): number {
    if (!listNumbers.has(list)) listNumbers.set(list, ++lists);
    return listNumbers.get(list)!;
}

export function useRows(columns: Columns | undefined, wish: Wish, busy: () => boolean): Rows {
    const source = useRef<RowSource>(undefined);
    const [state, setState] = useState<{
        rows: Uint32Array;
        trials: Uint32Array;
        fresh: number;
        columns: Columns | undefined;
    }>({rows: new Uint32Array(0), trials: new Uint32Array(0), fresh: 0, columns: undefined});
    const shownWish = useRef("");
    const [forced, force] = useState(0);
    const shownForce = useRef(0);
    const spelled = `${JSON.stringify({...wish, trials: undefined, matching: undefined})}#${wish.trials ? numberOf(wish.trials) : ""}`;
    useEffect(() => () => source.current?.close(), []);
    useEffect(() => {
        if (columns) (source.current ??= new RowSource()).set(columns);
    }, [columns, columns?.filled]);
    useEffect(() => {
        if (!columns || !source.current) return;
        let over = false;
        void source.current.ask(wish).then((found) => {
            if (over) return;
            const numbers = columnOf(columns, "trial")?.data;
            const trialsOf = (rows: Uint32Array) => Uint32Array.from(rows, (row) => numbers?.[row] ?? row);
            const keep = shownWish.current === spelled && shownForce.current === forced && state.columns !== undefined && busy();
            if (!keep) {
                shownWish.current = spelled;
                shownForce.current = forced;
                setState({rows: found.rows, trials: trialsOf(found.rows), fresh: 0, columns});
                return;
            }
            // The rows stay; each shows the newest values of its trial.
            const rowOf = new Map<number, number>();
            for (let row = 0; row < columns.filled; row += 1) rowOf.set(numbers?.[row] ?? row, row);
            const rows = state.trials.map((trial) => rowOf.get(trial) ?? 0);
            const shown = new Set(state.trials);
            let fresh = 0;
            for (const trial of trialsOf(found.rows)) if (!shown.has(trial)) fresh += 1;
            setState({...state, rows, fresh, columns});
        });
        return () => {
            over = true;
        };
    }, [columns, columns?.filled, spelled, wish.matching, forced]);
    // Rows are numbers into the columns they were found in.
    const ready = state.columns !== undefined && state.columns === columns;
    return {
        rows: state.rows,
        fresh: state.fresh,
        update: () => force((n) => n + 1),
        ready: ready || state.columns !== undefined,
    };
}
