/** The frame of pages that draw columns: what they show while columns load, and where there are none. */
import type { ComponentChildren } from "preact";
import type { Experiment } from "../api/shapes";
import { Empty, Loading } from "../design/states";
import { formatNumber } from "../i18n/format";
import { t } from "../i18n/texts";
import type { Columns } from "./columns";
import { Problem } from "./page_parts";
import { useColumns } from "./use_columns";

export function ColumnsFrame({ experiment, children }: { experiment: Experiment; children: (columns: Columns) => ComponentChildren }) {
  const { columns, problem, complete, reload } = useColumns(experiment);
  if (problem && !columns) return <Problem text={problem.message} again={reload} />;
  if (!columns) return <Loading />;
  if (complete && columns.total === 0) return <Empty title={t("plot.no_trials_title")}><p>{t("plot.no_trials_text")}</p></Empty>;
  return (
    <>
      {!complete && <p class="muted small" role="status">{t("plot.loaded", { n: formatNumber(columns.filled), total: formatNumber(columns.rows) })}</p>}
      {children(columns)}
    </>
  );
}
