// A row of the list of experiments.
import type {ExperimentSummary} from "../api/shapes";
import {t} from "../i18n/texts";
import {amount} from "../i18n/amount";
import {formatAgo, formatNumber, formatTime, shortened} from "../i18n/format";
import type {ToldApart} from "../i18n/names";
import {Link} from "../design/link";
import {Shared} from "../design/told_name";
import {StateMark} from "../design/state_mark";
import {Progress, TrialBar} from "../design/bars";
import {troubleOf} from "./failed_search";

/// Longer names give up what they share with others of the list.
export const nameLetters = 48;
export const nameOf = (each: ExperimentSummary) => (each.name === "" ? t("experiment.unnamed") : each.name);

const running = (each: ExperimentSummary) => each.trials["RUNNING"] ?? 0;

interface RowProps {
    readonly each: ExperimentSummary;
    readonly told: ToldApart | undefined;
    readonly chosen: boolean;
    readonly choose: () => void;
    readonly now: number;
}

export function Row({each, told, chosen, choose, now}: RowProps) {
    const name = nameOf(each);
    const trouble = troubleOf(each);
    const place = [each.workspace, each.project].filter((part) => part && part !== "default").join(" / ");
    return (
        <tr data-row class={chosen ? "chosen" : ""}>
            <td class="check">
                <input type="checkbox" checked={chosen} onChange={choose} aria-label={t("list.choose", {name})} />
            </td>
            <td class="name-cell">
                <Link to={`e/${each.id}`} class="strong row-name" data-open title={name}>
                    {each.starred && (
                        <span role="img" class="star" aria-label={t("annotation.starred")}>
                            ★{" "}
                        </span>
                    )}
                    {told?.own ?? name}
                </Link>
                <Shared told={told} />
                <span class="row-sub">
                    <span>{each.id}</span>
                    <span>{each.searcher}</span>
                    {place && <span>{place}</span>}
                    {each.owner && <span>{each.owner}</span>}
                    {each.labels.map((label) => (
                        <span class="tag" key={label}>
                            {shortened(label, 24)}
                        </span>
                    ))}
                </span>
                {trouble !== undefined && <span class="row-sub bad">{shortened(trouble, 120)}</span>}
            </td>
            <td>
                <StateMark state={each.state} />
            </td>
            <td>
                <Progress experiment={each} now={now} />
            </td>
            <td class="number">
                {each.best ? (
                    <>
                        <span class="strong">{formatNumber(each.best.metric)}</span>
                        <span class="row-sub end" title={t("tab.trial", {trial: each.best.trial})}>
                            {shortened(each.metric, 22)} {t("trial.at", {amount: amount(each.best.step, each.unit)})}
                        </span>
                    </>
                ) : (
                    <span class="muted">–</span>
                )}
            </td>
            <td>
                <TrialBar trials={each.trials} total={each.trials_total} />
            </td>
            <td class="number hide-narrow">{running(each) === 0 ? <span class="muted">–</span> : running(each)}</td>
            <td class="number nowrap muted hide-narrow" title={formatTime(each.created_at)}>
                {formatAgo(each.created_at, now)}
            </td>
        </tr>
    );
}
