/** What held the slots of a worker in the last day. */
import {t} from "../i18n/texts";
import {useResource} from "../state/resource";
import {View} from "../design/states";
import {Plot, useLook} from "./drawing/frame";
import {Legend} from "./drawing/legend";
import {timelineFigure, timelineHeight, type Timeline} from "./timeline";

export default function WorkerPast({worker}: {worker: number}) {
    const {theme} = useLook();
    const timeline = useResource<Timeline>(`workers/${worker}/timeline`, {topic: "workers", every: 10000});
    return (
        <View resource={timeline} rows={3}>
            {(data) => (
                <>
                    <Plot
                        name="worker"
                        label={t("workers.past")}
                        height={() => timelineHeight(data)}
                        minWidth={320}
                        quiet
                        make={(size, look) => timelineFigure(data, data.from, null, size, look, true)}
                        deps={[data]}
                    />
                    <Legend
                        entries={[
                            {shape: "square", colour: theme.faint, text: t("plot.timeline.is_held")},
                            {shape: "hatch", colour: theme.rule, text: t("plot.timeline.is_idle")},
                            ...(data.quarantines.length > 0
                                ? [{shape: "hatch" as const, colour: theme.states["waiting"]!, text: t("plot.timeline.is_quarantined")}]
                                : []),
                        ]}
                    />
                </>
            )}
        </View>
    );
}
