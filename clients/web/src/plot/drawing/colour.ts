/** Colours as data: palettes, contrast as WCAG 2.2 computes it, and mixing. Pure. */

export type Rgb = readonly [number, number, number];

/** Nine stations of viridis (Smith, van der Walt 2015; CC0): dark to light with even steps of lightness. */
const VIRIDIS: readonly Rgb[] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/** Okabe and Ito's eight without black and yellow: told apart with any colour vision. */
export const CATEGORIES_LIGHT: readonly string[] = ["#0072b2", "#b35900", "#00805f", "#a4487e", "#1f7a99", "#8a6d00"];
export const CATEGORIES_DARK: readonly string[] = ["#56b4e9", "#e69f00", "#2fbf95", "#e08cba", "#8fd3f0", "#d8c43c"];

export function viridis(share: number): Rgb {
    const place = Math.min(Math.max(Number.isNaN(share) ? 0 : share, 0), 1) * (VIRIDIS.length - 1);
    const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
    return mix(VIRIDIS[low]!, VIRIDIS[low + 1]!, place - low);
}

/**
 * The colour of a rung of `rungs`: the part of viridis that keeps 3:1 against the surface, longer rungs stronger. On a
 * dark surface the light part, on a light surface the dark part.
 */
export function rungColour(rung: number, rungs: number, dark: boolean): Rgb {
    const share = rungs <= 1 ? 1 : Math.min(Math.max(rung, 0), rungs - 1) / (rungs - 1);
    return dark ? viridis(0.38 + 0.62 * share) : viridis(0.66 * (1 - share));
}

export function mix(from: Rgb, to: Rgb, share: number): Rgb {
    return [0, 1, 2].map((i) => Math.round(from[i]! + (to[i]! - from[i]!) * share)) as unknown as Rgb;
}

export function css(colour: Rgb, alpha = 1): string {
    return alpha >= 1 ? `rgb(${colour.join(",")})` : `rgba(${colour.join(",")},${Number(alpha.toFixed(3))})`;
}

/** #rgb, #rrggbb, rgb(…) and rgba(…); black where the text is none of them. */
export function parseColour(text: string): Rgb {
    const trimmed = text.trim();
    const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(trimmed);
    if (short) return [1, 2, 3].map((i) => parseInt(short[i]! + short[i]!, 16)) as unknown as Rgb;
    const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(trimmed);
    if (long) return [1, 2, 3].map((i) => parseInt(long[i]!, 16)) as unknown as Rgb;
    const numbers = /^rgba?\(([^)]*)\)$/i
        .exec(trimmed)?.[1]
        ?.split(/[\s,/]+/)
        .filter(Boolean)
        .map(Number);
    return numbers && numbers.length >= 3 ? [numbers[0]!, numbers[1]!, numbers[2]!] : [0, 0, 0];
}

function luminance([r, g, b]: Rgb): number {
    const part = (byte: number) => {
        const share = byte / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}

/** 1 (same) to 21 (black on white). */
export function contrast(a: Rgb, b: Rgb): number {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
    return (light + 0.05) / (dark + 0.05);
}

/** Bytes as ImageData stores them on little-endian machines, opaque. */
export function packed([r, g, b]: Rgb, alpha = 255): number {
    return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
