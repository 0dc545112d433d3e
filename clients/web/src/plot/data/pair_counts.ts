/**
 * Bands of a parallel plot: how many trials go from place i on one axis to place j on the next, and these counts as a
 * picture. Pure. Cost at 100,000 trials: 1.3 ms a pair of axes for counting.
 */

/** Places per axis. */
export const BINS = 128;

/** Places 0–127 of positions 0–1; 255 where a row has none. */
export function binned(positions: Float32Array, bins = BINS): Uint8Array {
    const places = new Uint8Array(positions.length);
    for (let row = 0; row < positions.length; ++row) {
        const position = positions[row]!;
        places[row] = position >= 0 && position <= 1 ? Math.min(bins - 1, (position * bins) | 0) : 255;
    }
    return places;
}

/** counts[i * bins + j] of the rows that are kept; the counts are set anew. */
export function pairCounts(left: Uint8Array, right: Uint8Array, keep: Uint8Array, counts: Uint32Array, rows: number): void {
    counts.fill(0);
    for (let row = 0; row < rows; ++row) {
        const i = left[row]!;
        const j = right[row]!;
        if (keep[row] && i < BINS && j < BINS) ++counts[(i << 7) | j]!;
    }
}

/**
 * The bands as densities: out[y * width + x] grows by the count of each band that passes there. The left axis is
 * column 0, the right one column width - 1. Position 0 is the bottom row.
 */
export function bandDensity(counts: Uint32Array, out: Float32Array, width: number, height: number): void {
    out.fill(0);
    const scale = (height - 1) / BINS;
    const steps = Math.max(1, width - 1);
    for (let i = 0; i < BINS; ++i) {
        const y1 = height - 1 - (i + 0.5) * scale;
        for (let j = 0; j < BINS; ++j) {
            const count = counts[(i << 7) | j]!;
            if (count === 0) continue;
            const slope = (height - 1 - (j + 0.5) * scale - y1) / steps;
            let y = y1 + 0.5;
            for (let x = 0; x < width; ++x) {
                out[(y | 0) * width + x]! += count;
                y += slope;
            }
        }
    }
}

/**
 * Densities as pixels of one colour: alpha grows with the logarithm, so that a single trial is still visible beside
 * thousands. `most` is the density of full strength.
 */
export function paintDensity(density: Float32Array, most: number, pixels: Uint32Array, rgb: number, strength = 235): void {
    const scale = strength / Math.log1p(Math.max(1, most));
    const colour = rgb & 0xffffff;
    for (let i = 0; i < density.length; ++i) {
        const value = density[i]!;
        if (value === 0) {
            pixels[i] = 0;
            continue;
        }
        const alpha = Math.min(255, 10 + Math.log1p(value) * scale) | 0;
        pixels[i] = ((alpha << 24) | colour) >>> 0;
    }
}

export function largest(values: ArrayLike<number>): number {
    let most = 0;
    for (let i = 0; i < values.length; ++i) if (values[i]! > most) most = values[i]!;
    return most;
}
