/** Which hyperparameters matter: bars of shares. Pure. */
import {stepAlong, type Figure, type Hit, type Look, type Size} from "./drawing/figure";
import {shareText} from "./drawing/number";
import {fitEnd, fitText} from "./drawing/pen";
import {toldApart} from "../i18n/names";
import type * as Api from "../api/types";

export type Importance = Api.Importance;

const ROW = 34;

export function importanceHeight(importance: Importance): number {
    return 24 + ROW * Math.max(1, importance.hyperparameters.length);
}

export function importanceFigure(importance: Importance, unit: string, size: Size, look: Look): Figure {
    const {theme, say} = look;
    const all = importance.hyperparameters;
    const nameRoom = Math.min(size.width * 0.36, Math.max(70, ...all.map((each) => each.name.length * 7.4)) + 12);
    const told = toldApart(
        all.map((each) => each.name),
        Math.floor((nameRoom - 12) / 7.4),
    );
    const left = Math.round(nameRoom);
    const right = size.width - 76;
    const most = Math.max(1e-9, ...all.map((each) => each.share + each.deviation));
    const y = (index: number) => 12 + ROW * (index + 0.5);
    const width = (share: number) => Math.max(2, ((right - left) * Math.max(0, share)) / most);
    const hitOf = (index: number): Hit | null => {
        const each = all[index];
        return each
            ? {
                  trial: -1,
                  index,
                  x: left + width(each.share),
                  y: y(index),
                  title: each.name,
                  lines: [
                      [say("plot.importance.share"), `${shareText(each.share)} ± ${shareText(each.deviation)}`],
                      [say("plot.importance.rank"), `${each.rank}`],
                  ],
              }
            : null;
    };
    const top = all
        .slice(0, 3)
        .filter((each, index) => index === 0 || each.share >= 0.01)
        .map((each) => `${each.name} (${shareText(each.share)})`)
        .join(", ");
    return {
        ...size,
        marks: all.length,
        sentence:
            all.length === 0
                ? importance.reason
                : say("plot.importance.sentence", {
                      top,
                      results: importance.results,
                      amount: `${importance.length} ${unit}`,
                      percent: Math.round(importance.gamma * 100),
                  }),
        draw(pen) {
            pen.line([left + 0.5, 8, left + 0.5, 16 + ROW * all.length], {stroke: theme.rule});
            all.forEach((each, index) => {
                const middle = y(index);
                const {own, shared} = told.get(each.name)!;
                const style = {align: "right", base: "middle"} as const;
                pen.text(fitText(pen, own, left - 12, 13), left - 12, shared === "" ? middle : middle - 6, {...style, fill: theme.ink, size: 13});
                if (shared !== "") pen.text(fitEnd(pen, shared, left - 12, 10), left - 12, middle + 9, {...style, fill: theme.muted, size: 10});
                pen.rect(left + 1, middle - 9, width(each.share), 18, theme.accent, 3, index < 3 ? 1 : 0.5);
                const from = left + 1 + width(Math.max(0, each.share - each.deviation));
                const to = left + 1 + width(each.share + each.deviation);
                pen.line([from, middle, to, middle], {stroke: theme.surface, width: 4});
                pen.line([from, middle, to, middle], {stroke: theme.ink, width: 1.5});
                for (const end of [from, to]) pen.line([end, middle - 4, end, middle + 4], {stroke: theme.ink, width: 1.5});
                pen.text(shareText(each.share), to + 8, middle, {fill: theme.ink, size: 12, weight: index < 3 ? 620 : 400, base: "middle"});
            });
        },
        drawStress(pen, {hit}) {
            if (hit?.index !== undefined)
                pen.frame(left + 1, y(hit.index) - 10, width(all[hit.index]!.share), 20, {stroke: theme.ink, width: 1.5}, 3);
        },
        hitAt: (_x, at) => hitOf(Math.floor((at - 12) / ROW)),
        moveBy: (from, key) => stepAlong(all.length, from, key === "ArrowUp" ? "ArrowLeft" : key === "ArrowDown" ? "ArrowRight" : key, hitOf),
        table: () => ({
            columns: [say("plot.importance.rank"), say("plot.importance.name"), say("plot.importance.share"), say("plot.importance.deviation")],
            rows: all.map((each) => [each.rank, each.name, each.share, each.deviation]),
        }),
    };
}
