// Name, state and actions of an experiment.
import type {Experiment} from "../../api/shapes";
import {address} from "../../state/router";
import {t} from "../../i18n/texts";
import {shortened} from "../../i18n/format";
import {Link} from "../../design/link";
import {StateMark} from "../../design/state_mark";
import {AnnotationLine} from "../annotation";
import {ExperimentActions} from "./experiment_actions";

export function ExperimentHeader({experiment, reload}: {experiment: Experiment; compact: boolean; reload: () => void}) {
    const place = [experiment.workspace, experiment.project].filter((part) => part && part !== "default");
    const onTrial = address.value.path[2] === "t" || address.value.path[2] === "compare";
    const name = experiment.name === "" ? t("experiment.unnamed") : experiment.name;
    const Title = onTrial ? "p" : "h1";
    return (
        <header class="head">
            <div class="head-title">
                <p class="crumbs">
                    <Link to="experiments">{t("nav.experiments")}</Link>
                    {place.map((part) => (
                        <>
                            <span>/</span>
                            <span>{part}</span>
                        </>
                    ))}
                    <span>/</span>
                    <span>{experiment.id}</span>
                </p>
                <div class="head-line">
                    <Title class="title" title={name}>
                        {shortened(name, 200)}
                    </Title>
                    <StateMark state={experiment.state} large />
                    {experiment.archived && <span class="tag">{t("list.archived")}</span>}
                </div>
                {!onTrial && <AnnotationLine of={experiment} path={`experiments/${experiment.id}`} name={name} done={reload} />}
            </div>
            <div class="head-actions">
                <ExperimentActions experiment={experiment} done={reload} />
            </div>
        </header>
    );
}
