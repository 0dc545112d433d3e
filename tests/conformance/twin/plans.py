"""Rungs, brackets and shares (searchers specification, sections 4 and 5), in exact fractions."""

import math
from fractions import Fraction


def part_of(n, divisor):
    """floor(n / d); a divisor that is no integer divides as doubles do."""
    return n // int(divisor) if divisor == int(divisor) else math.floor(n / divisor)


def lengths(max_length, divisor, rungs):
    found = []
    for rung in range(rungs):
        power = 1 if divisor == int(divisor) else 1.0
        for _ in range(rungs - 1 - rung):
            power *= int(divisor) if divisor == int(divisor) else divisor
        length = max(max_length // power if isinstance(power, int) else math.floor(max_length / power), 1)
        if length not in found:
            found.append(length)
    return found


def rungs_within(number, divisor):
    """The most rungs that `number` allows: the largest k with d^(k-1) <= number."""
    rungs, power = 1, Fraction(divisor)
    while power <= number:
        rungs, power = rungs + 1, power * Fraction(divisor)
    return rungs


def brackets(mode, max_rungs, divisor, max_length, max_trials, bracket_rungs=None):
    """[(lengths, trials)], most rungs first."""
    deepest = min(max_rungs, rungs_within(max_length, divisor), rungs_within(max_trials, divisor))
    shallowest = {"aggressive": deepest, "standard": (deepest - 1) // 2 + 1, "conservative": 1}[mode]
    rungs = sorted(bracket_rungs or range(shallowest, deepest + 1), reverse=True)[:max_trials]
    weights = [Fraction(divisor) ** (r - 1) / r for r in rungs]
    trials = [max(math.floor(max_trials * weight / sum(weights)), 1) for weight in weights]
    trials[0] += max_trials - sum(trials)
    assert trials[0] > 0, "a divisor this close to 1 is beyond the twin"
    return [(lengths(max_length, divisor, r), n) for r, n in zip(rungs, trials)]


def shares(slots, count):
    if slots < count:
        return [0] * count  # They take turns.
    return [slots // count + (1 if b < slots % count else 0) for b in range(count)]


def final_counts(plan, divisor):
    """Trials by final length when all metrics are equal and trials may be promoted later."""
    counts = {}
    for rung_lengths, trials in plan:
        for rung, length in enumerate(rung_lengths):
            is_top = rung + 1 == len(rung_lengths)
            go_on = 0 if is_top else part_of(trials, divisor)
            counts[length] = counts.get(length, 0) + trials - go_on
            trials = go_on
    return {length: count for length, count in sorted(counts.items()) if count}
