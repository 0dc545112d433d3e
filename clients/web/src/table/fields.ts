// Fields of trials that every experiment has.

/// Columns that are there without being asked for; others are requested when they are chosen.
export const standardFields = ["trial", "state", "result", "metric", "at", "nonfinite", "reached", "rung"] as const;
export const extraFields = [
    "last",
    "length",
    "bracket",
    "attempts",
    "restarts",
    "slot_seconds",
    "created_at",
    "ended_at",
    "worker",
    "reason",
    "failure",
    "starred",
    "labels",
    "note",
] as const;
