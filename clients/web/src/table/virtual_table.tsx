// A table of which only the visible rows are in the document. Rows have one height; two empty rows keep the scroll bar true.
import type {ComponentChildren} from "preact";
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";

export const rowHeight = 37;
const spare = 8;

export interface TableColumn {
    readonly key: string;
    readonly label: string;
    /// A second line of the head: what the label has in common with others, or says of all.
    readonly sub?: string;
    readonly title?: string;
    readonly number?: boolean;
    readonly width: number;
    readonly sortable?: boolean;
    readonly cell: (row: number) => ComponentChildren;
}

interface Props {
    readonly caption: string;
    readonly columns: readonly TableColumn[];
    readonly rows: Uint32Array;
    readonly sort: string;
    readonly onSort: (sort: string) => void;
    readonly rowKey: (row: number) => number;
    readonly chosen: ReadonlySet<number>;
    readonly onChoose: (key: number, range: boolean) => void;
    readonly onChooseAll: () => void;
    readonly chooseLabel: (key: number) => string;
    readonly chooseAllLabel: string;
    readonly onHover?: (key: number | null) => void;
    readonly hovered?: number | null;
    readonly onOpen: (key: number) => void;
    /// The last rows are seen.
    readonly onEnd?: () => void;
}

/// On its own, so that the observer does not keep the first rows for as long as the table is there.
function useHeight(box: {readonly current: HTMLElement | null}): number {
    const [height, setHeight] = useState(600);
    useLayoutEffect(() => {
        const element = box.current!;
        const measure = () => setHeight(element.clientHeight);
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    return height;
}

export function VirtualTable(props: Props) {
    const {columns, rows, sort} = props;
    const box = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0);
    const height = useHeight(box);
    useEffect(() => {
        // Another order or filter starts at its beginning.
        if (box.current) box.current.scrollTop = 0;
    }, [sort]);
    const first = Math.max(0, Math.floor(top / rowHeight) - spare);
    const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + spare);
    const shown = rows.subarray(first, last);
    useEffect(() => {
        if (last >= rows.length && rows.length > 0) props.onEnd?.();
    }, [last, rows.length]);
    const main = sort.split(",")[0] ?? "";
    const width = 44 + columns.reduce((sum, column) => sum + column.width, 0);
    const press = (event: KeyboardEvent, index: number) => {
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (step === 0) return;
        event.preventDefault();
        const next = Math.max(0, Math.min(rows.length - 1, index + step));
        const edge = next * rowHeight;
        const element = box.current!;
        if (edge < element.scrollTop) element.scrollTop = edge;
        if (edge + 2 * rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = edge + 2 * rowHeight - element.clientHeight;
        requestAnimationFrame(() => element.querySelector<HTMLElement>(`[data-index="${next}"] [data-open]`)?.focus());
    };
    return (
        <div
            class="virtual"
            ref={box}
            onScroll={(event) => setTop(event.currentTarget.scrollTop)}
            tabIndex={0}
            role="region"
            aria-label={props.caption}
        >
            <table class="table fixed" style={{width: `${width}px`}} aria-rowcount={rows.length + 1}>
                <caption class="unseen">{props.caption}</caption>
                <colgroup>
                    <col style={{width: "44px"}} />
                    {columns.map((column) => (
                        <col key={column.key} style={{width: `${column.width}px`}} />
                    ))}
                </colgroup>
                <thead>
                    <tr>
                        <th class="check">
                            <input
                                type="checkbox"
                                aria-label={props.chooseAllLabel}
                                checked={rows.length > 0 && props.chosen.size >= rows.length}
                                onChange={props.onChooseAll}
                            />
                        </th>
                        {columns.map((column, index) => {
                            const order = main === column.key ? "ascending" : main === `-${column.key}` ? "descending" : "none";
                            return (
                                <th
                                    key={column.key}
                                    scope="col"
                                    class={`${column.number ? "number" : ""}${index === 0 ? " pinned" : ""}`}
                                    aria-sort={column.sortable === false ? undefined : order}
                                    title={column.title}
                                >
                                    {column.sortable === false ? (
                                        <>
                                            {column.label}
                                            {column.sub && <span class="name-shared">{column.sub}</span>}
                                        </>
                                    ) : (
                                        <button
                                            class="sort"
                                            onClick={() =>
                                                props.onSort(order === "ascending" ? `-${column.key}` : order === "descending" ? "" : column.key)
                                            }
                                        >
                                            {column.label}
                                            <span aria-hidden="true">{order === "ascending" ? " ↑" : order === "descending" ? " ↓" : ""}</span>
                                            {column.sub && <span class="name-shared">{column.sub}</span>}
                                        </button>
                                    )}
                                </th>
                            );
                        })}
                    </tr>
                </thead>
                <tbody onPointerLeave={() => props.onHover?.(null)}>
                    {first > 0 && (
                        <tr class="spacer" aria-hidden="true">
                            <td colSpan={columns.length + 1} style={{height: `${first * rowHeight}px`}} />
                        </tr>
                    )}
                    {Array.from(shown, (row, offset) => {
                        const key = props.rowKey(row);
                        const index = first + offset;
                        return (
                            <tr
                                key={key}
                                data-row
                                data-index={index}
                                aria-rowindex={index + 2}
                                style={{height: `${rowHeight}px`}}
                                class={`${props.chosen.has(key) ? "chosen" : ""}${props.hovered === key ? " hovered" : ""}`}
                                onPointerEnter={() => props.onHover?.(key)}
                                onKeyDown={(event) => press(event, index)}
                                onDblClick={() => props.onOpen(key)}
                            >
                                <td class="check">
                                    <input
                                        type="checkbox"
                                        aria-label={props.chooseLabel(key)}
                                        checked={props.chosen.has(key)}
                                        onClick={(event) => props.onChoose(key, event.shiftKey)}
                                    />
                                </td>
                                {columns.map((column, place) => (
                                    <td key={column.key} class={`${column.number ? "number" : ""}${place === 0 ? " pinned" : ""}`}>
                                        {column.cell(row)}
                                    </td>
                                ))}
                            </tr>
                        );
                    })}
                    {last < rows.length && (
                        <tr class="spacer" aria-hidden="true">
                            <td colSpan={columns.length + 1} style={{height: `${(rows.length - last) * rowHeight}px`}} />
                        </tr>
                    )}
                </tbody>
            </table>
        </div>
    );
}
