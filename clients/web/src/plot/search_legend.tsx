/** Which colour each of several searches has. */
import {useLook} from "./drawing/frame";
import {Legend} from "./drawing/legend";
import {lineColours} from "./drawing/theme";

export function SearchLegend({names}: {names: readonly string[]}) {
    const colours = lineColours(useLook().theme);
    return <Legend entries={names.map((text, search) => ({shape: "square", colour: colours[search]!, text}))} />;
}
