// The example in the field of conditions.
import {columnOf, type Columns} from "../../plot/data/columns";

/// A condition on the first hyperparameter that is a number, with a value that a trial has.
export function exampleOf(columns: Columns, hparams: readonly string[]): string {
    for (const name of hparams) {
        const column = columnOf(columns, name);
        const value = column && !column.words ? column.data.slice(0, columns.filled).find((each) => Number.isFinite(each)) : undefined;
        if (value !== undefined) return `${name.slice("hparams.".length)}<${Number(Number(value).toPrecision(2))}`;
    }
    return "lr<0.1";
}
