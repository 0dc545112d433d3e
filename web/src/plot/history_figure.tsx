/** History and states over time of one experiment: for the overview, and larger on a page of its own. */
import { useMemo } from "preact/hooks";
import type { Experiment } from "../api/shapes";
import { daemonNow } from "../api/client";
import { t, tWord } from "../i18n/texts";
import { useResource } from "../state/resource";
import { View } from "../design/states";
import { columnOf, numbersOf, wordOf, type Columns } from "./columns";
import type { Clip } from "./domain";
import { Plot, say } from "./frame";
import { historyFigure, startOf, type History, type HistoryX, type Results } from "./history";
import type { ScaleKind } from "./scale";
import { statesFigure, type Lives } from "./states_over_time";
import { useColumns } from "./use_columns";

export const plotPace = (experiment: Experiment) => (experiment.trials_total > 20000 ? 5000 : 2000);

export function useHistory(experiment: Experiment) {
  return useResource<History>(`experiments/${experiment.id}/history`, { topic: `experiment:${experiment.id}`, every: plotPace(experiment) });
}

/**
 * What every trial reached, placed on the axis of a history. Columns have no time of a result: trials that made the
 * best better have it in the history, the others stand where their training would have ended without waiting.
 */
export function resultsOf(columns: Columns | null, x: HistoryX, history: History): Results | null {
  const trials = columns && columnOf(columns, "trial");
  const metric = columns && columnOf(columns, "metric");
  if (!columns || !trials || !metric || x === "slot_seconds") return null;
  const numbers = (name: string) => {
    const column = columnOf(columns, name);
    return column ? numbersOf(column, columns.filled) : new Float64Array(columns.filled).fill(NaN);
  };
  const [started, ended, spent] = [numbers("started_at"), numbers("ended_at"), numbers("slot_seconds")];
  const known = new Map(history.points.map((point) => [point.trial, point.time]));
  const startedAt = startOf(history);
  const places = new Float64Array(columns.filled);
  for (let row = 0; row < columns.filled; ++row) {
    const trained = started[row]! + (Number.isNaN(spent[row]!) ? 0 : spent[row]!);
    const time = known.get(trials.data[row]!) ?? (ended[row]! < trained ? ended[row]! : trained);
    places[row] = x === "trials" ? row + 1 : Math.min(history.end.time, time) - startedAt;
  }
  return { trials: trials.data, x: places, metric: numbersOf(metric, columns.filled) };
}

export interface HistoryViewProps {
  readonly experiment: Experiment;
  readonly history: History;
  readonly columns: Columns | null;
  readonly x?: HistoryX;
  readonly kind?: ScaleKind;
  readonly clip?: Clip;
  readonly height?: number;
  readonly quiet?: boolean;
  readonly others?: readonly { readonly name: string; readonly history: History }[];
  readonly controls?: preact.ComponentChildren;
}

export function HistoryPlot(props: HistoryViewProps) {
  const { experiment, history, columns, x = "time", kind = "linear", clip = "auto", others = [] } = props;
  const results = useMemo(() => resultsOf(columns, x, history), [columns, columns?.filled, x, history]);
  return (
    <Plot name="history" label={t("tab.history")} experiment={experiment.id} height={props.height ?? 260} quiet={props.quiet ?? false}
      controls={props.controls}
      make={(size, look) => historyFigure(history, results, { x, kind, clip, unit: experiment.unit, name: experiment.name, small: props.quiet ?? false, others }, size, look)}
      deps={[history, results, x, kind, clip, others, experiment.unit]} />
  );
}

export function StatesOverTime({ experiment, columns, height = 200 }: { experiment: Experiment; columns: Columns | null; height?: number }) {
  const lives = useMemo(() => (columns ? livesOf(columns) : null), [columns, columns?.filled]);
  if (!lives || lives.created.length === 0) return null;
  const from = experiment.created_at;
  const to = experiment.ended_at ?? Math.max(daemonNow(), ...lastOf(lives));
  return (
    <Plot name="states" label={say("plot.states.label")} experiment={experiment.id} height={height} quiet
      make={(size, look) => statesFigure(lives, from, to, (state) => (state === "RUNNING" ? say("plot.states.open") : tWord("state", state)), size, look)} deps={[lives, from, experiment.ended_at]} />
  );
}

function lastOf(lives: Lives): number[] {
  let last = 0;
  for (const time of lives.ended) if (time > last) last = time;
  return [last];
}

export function livesOf(columns: Columns): Lives | null {
  const created = columnOf(columns, "created_at");
  const state = columnOf(columns, "state");
  if (!created || !state) return null;
  const numbers = (name: string) => {
    const column = columnOf(columns, name);
    return column ? numbersOf(column, columns.filled) : new Float64Array(columns.filled).fill(NaN);
  };
  return { created: numbers("created_at"), started: numbers("started_at"), ended: numbers("ended_at"), state: Array.from({ length: columns.filled }, (_, row) => wordOf(state, row)) };
}

/** For the overview. */
export default function HistoryFigure({ experiment }: { experiment: Experiment }) {
  const history = useHistory(experiment);
  const columns = useColumns(experiment, "trial,state,metric,slot_seconds,created_at,started_at,ended_at");
  return (
    <View resource={history} rows={4}>
      {(data) => <>
        <HistoryPlot experiment={experiment} history={data} columns={columns.columns} quiet />
        <StatesOverTime experiment={experiment} columns={columns.columns} />
      </>}
    </View>
  );
}
