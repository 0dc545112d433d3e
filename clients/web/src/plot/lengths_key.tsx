/** The colours of trials by the longest rung that they reached, named by its length. */
import type {Experiment} from "../api/shapes";
import {amount} from "../i18n/amount";
import {css, rungColour} from "./drawing/colour";
import {say} from "./drawing/frame";
import {Legend} from "./drawing/legend";

export function LengthsKey({experiment, count, dark}: {experiment: Experiment; count: number; dark: boolean}) {
    if (count < 2) return null;
    return (
        <Legend
            entries={Array.from({length: count}, (_, rung) => ({
                shape: "square" as const,
                colour: css(rungColour(rung, count, dark)),
                text: experiment.rungs[rung]
                    ? say("plot.curves.reached", {amount: amount(experiment.rungs[rung].length, experiment.unit)})
                    : say("plot.ladder.rung", {rung}),
            }))}
        />
    );
}
