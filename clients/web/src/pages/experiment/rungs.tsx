// The rung ladder: how the search decides, now or at any past moment.
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import type {Explanation} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {selectionOf} from "../../state/selection";
import {t, tWord} from "../../i18n/texts";
import {formatTime} from "../../i18n/format";
import {Link} from "../../design/link";
import {Empty, View} from "../../design/states";
import {css, rungColour} from "../../plot/drawing/colour";
import {Plot, useLook} from "../../plot/drawing/frame";
import {counts, ladderFigure} from "../../plot/data/ladder";
import {ladderHeight, type Ladder} from "../../plot/data/ladder_layout";
import {Legend} from "../../plot/drawing/legend";
import {minWidthOf, useChosen} from "../../plot/page_parts";
import type {ExperimentPageProps} from "../page_props";

export default function Page({experiment, query}: ExperimentPageProps) {
    const at = query.number("at");
    useChosen(experiment.id, query);
    const path = `experiments/${experiment.id}/rungs${at === undefined ? "" : `?at=${Math.round(at)}`}`;
    const resource = useResource<Ladder>(path, at === undefined ? {topic: `experiment:${experiment.id}`, every: 2000} : {});
    // The last answer stays while the next moment loads.
    const kept = useRef<Ladder | undefined>(undefined);
    if (resource.data) kept.current = resource.data;
    const shown = resource.data ?? kept.current;
    const resourceOrKept = shown ? {...resource, data: shown} : resource;
    return (
        <View resource={resourceOrKept}>
            {(ladder) =>
                ladder.brackets.every((bracket) => bracket.rungs.length === 0) ? (
                    <Empty
                        title={t("plot.ladder.none_title")}
                        ways={[
                            [`e/${experiment.id}/curves`, "tab.curves"],
                            [`e/${experiment.id}/trials`, "tab.trials"],
                        ]}
                    >
                        <p>{t("plot.ladder.none_text", {searcher: experiment.searcher})}</p>
                    </Empty>
                ) : (
                    <LadderView ladder={ladder} experiment={experiment} query={query} captured={[]} />
                )
            }
        </View>
    );
}

function LadderView({ladder, experiment, query}: ExperimentPageProps & {ladder: Ladder}) {
    const look = useLook();
    const {theme} = look;
    const number = counts(ladder);
    const top = css(rungColour(2, 3, theme.dark));
    const middle = css(rungColour(1, 3, theme.dark));
    const entries = useMemo(
        () =>
            [
                {shape: "circle" as const, colour: middle, text: t("plot.ladder.is_promoted"), count: 1},
                {shape: "ring" as const, colour: middle, text: t("plot.ladder.is_waiting"), count: number.waiting},
                {shape: "cross" as const, colour: theme.faint, text: t("plot.ladder.is_stopped"), count: number.stopped},
                {shape: "half" as const, colour: theme.states["running"]!, text: t("plot.ladder.training"), count: number.training},
                {shape: "diamond" as const, colour: top, text: t("plot.ladder.is_finished"), count: number.finished},
                {shape: "triangle" as const, colour: theme.bad, text: t("plot.ladder.is_failed"), count: number.failed},
            ].filter((entry) => entry.count > 0),
        [look, ladder],
    );
    return (
        <>
            <p class="plot-lead">{t("plot.ladder.lead", {metric: experiment.metric})}</p>
            <Plot
                name="rungs"
                label={t("tab.rungs")}
                experiment={experiment.id}
                height={() => ladderHeight(ladder)}
                minWidth={minWidthOf(ladder.brackets.length * 240 + 100)}
                make={(size, current) => ladderFigure(ladder, {unit: tWord("unit", experiment.unit)}, size, current)}
                deps={[ladder, experiment.unit]}
                controls={<Legend entries={entries} />}
            />
            <Moments ladder={ladder} query={query} live={experiment.ended_at === null} />
            <Why experiment={experiment} query={query} captured={[]} />
        </>
    );
}

const steps = 60;

/// The slider over the log of the experiment. "Play" goes through its moments.
function Moments({ladder, query, live}: {ladder: Ladder; query: ExperimentPageProps["query"]; live: boolean}) {
    const [playing, setPlaying] = useState(false);
    const at = query.number("at") ?? ladder.last_lsn;
    const to = (lsn: number) => query.set({at: lsn >= ladder.last_lsn ? undefined : Math.round(lsn)}, {replace: true});
    useEffect(() => {
        if (!playing) return;
        // The next moment is asked for when this one is drawn.
        const timer = setTimeout(() => {
            const next = at + Math.max(1, (ladder.last_lsn - ladder.first_lsn) / steps);
            to(next);
            if (next >= ladder.last_lsn) setPlaying(false);
        }, 250);
        return () => clearTimeout(timer);
    }, [playing, ladder, at]);
    const play = () => {
        if (!playing && at >= ladder.last_lsn) to(ladder.first_lsn);
        setPlaying(!playing);
    };
    const now = query.number("at") === undefined;
    return (
        <div class="plot-moments" role="group" aria-label={t("plot.ladder.moments")}>
            <button type="button" class="button" onClick={play}>
                {t(playing ? "plot.ladder.stop" : "plot.ladder.play")}
            </button>
            <input
                type="range"
                min={ladder.first_lsn}
                max={Math.max(ladder.first_lsn + 1, ladder.last_lsn)}
                value={at}
                aria-label={t("plot.ladder.moment")}
                aria-valuetext={formatTime(ladder.time)}
                onInput={(event) => {
                    setPlaying(false);
                    to(Number(event.currentTarget.value));
                }}
            />
            <span class="plot-moment">
                {now ? t(live ? "plot.ladder.now" : "plot.ladder.end") : formatTime(ladder.time)}
                <span class="muted small"> {t("plot.ladder.lsn", {lsn: ladder.lsn})}</span>
            </span>
        </div>
    );
}

/// The decision about the chosen trial, as `hpsearch explain` prints it.
function Why({experiment}: ExperimentPageProps) {
    const chosen = [...selectionOf(experiment.id).selected.value];
    const trial = chosen[chosen.length - 1];
    const explanation = useResource<Explanation>(trial === undefined ? null : `experiments/${experiment.id}/trials/${trial}/explain`, {
        topic: `experiment:${experiment.id}`,
        every: 2000,
    });
    if (trial === undefined) return <p class="muted small">{t("plot.ladder.choose")}</p>;
    return (
        <section class="plot-why" aria-live="polite">
            <h2>
                <Link to={`e/${experiment.id}/t/${trial}`}>{t("plot.trial", {trial})}</Link>
            </h2>
            <View resource={explanation} rows={2}>
                {(data) => (
                    <>
                        <p>
                            {t("plot.trial", {trial})} {data.now}
                        </p>
                        {data.next && <p class="muted">{t("trial.then", {next: data.next})}</p>}
                        {!data.next && data.results_needed !== null && data.results_needed > 0 && (
                            <p class="muted">
                                {t("plot.ladder.needs", {
                                    needed: data.results_needed,
                                    to_come: data.results_to_come ?? 0,
                                })}
                            </p>
                        )}
                    </>
                )}
            </View>
        </section>
    );
}
