/** What the latest attempt of a trial used of its machine, over its time. */
import type {Experiment} from "../api/shapes";
import type {Utilization} from "../api/types";
import {t} from "../i18n/texts";
import {useResource} from "../state/resource";
import {Plot, say} from "./drawing/frame";
import {utilizationFigure, type Column} from "./utilization_figure";

/** Nothing where nothing was measured. */
export function TrialUtilization({experiment, trial}: {experiment: Experiment; trial: number}) {
    const {data} = useResource<Utilization>(`experiments/${experiment.id}/trials/${trial}/attempts/0/utilization`, {
        topic: `trials:${experiment.id}`,
        every: 10000,
    });
    if (!data?.at.length) return null;
    const gigabytes = (column: Column) => column.map((bytes) => bytes && bytes / 1e9);
    const memory = `${t("use.memory")} (GB)`;
    const plots: [string, Column][] = [
        [t("use.cores"), data.cores],
        [memory, gigabytes(data.memory_bytes)],
        ...data.devices.flatMap(({index, utilization, memory_bytes}): [string, Column][] => {
            const device = say("plot.use.device", {index});
            return [
                [`${device} (%)`, utilization],
                [`${device}: ${memory}`, gigabytes(memory_bytes)],
            ];
        }),
    ];
    return (
        <div class="plot-smalls">
            {plots.map(([name, column], i) => (
                <Plot
                    key={i}
                    name="utilization"
                    label={name}
                    height={150}
                    quiet
                    make={(size, look) => utilizationFigure(data, name, column, size, look)}
                    deps={[data]}
                />
            ))}
        </div>
    );
}
