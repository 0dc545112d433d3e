/** Plots describe what they draw more closely than the API's description does. Here the types check that it has each field. */
import type * as Api from "../../api/types";
import type {Curve, Curves, Density} from "../curves";
import type {History, HistoryPoint} from "../history";
import type {Importance} from "../importance";
import type {Bracket, Ladder, Rung, RungResult} from "./ladder_layout";
import type {Bar, Slot, Timeline} from "../timeline";

type Has<Described, Drawn extends keyof Described> = [Described, Drawn];

export type Checked = [
    Has<Api.Curve, keyof Curve>,
    Has<Api.Curves, keyof Curves>,
    Has<Api.Curves, keyof Density>,
    Has<Api.History, keyof History>,
    Has<Api.BestPoint, keyof HistoryPoint>,
    Has<Api.Importance, keyof Importance>,
    Has<Api.RungLadder, keyof Ladder>,
    Has<Api.LadderBracket, keyof Bracket>,
    Has<Api.LadderRung, keyof Rung>,
    Has<Api.RungResult, keyof RungResult>,
    Has<Api.Timeline, keyof Timeline>,
    Has<Api.TimelineBar, keyof Bar>,
    Has<Api.TimelineSlot, keyof Slot>,
];
