"""Our search quality beside what others measured."""

from .races import SHOWN_BUDGETS, csv_rows
from .report import ROOT, markdown_table

REFERENCE = ROOT / "bench" / "quality" / "reference.csv"

COMPARED = ("\nMeasured elsewhere with the same definition, ten instances and ten seeds ([reference.csv]"
            "(../bench/quality/reference.csv)). *inside*: our mean, rounded as theirs are, lies in their 95 % interval, "
            "or their mean in ours where theirs has none; else *better* or *worse*.")


def references():
    """What others measured, in the order of reference.csv: (about, our method or ""): {budget: (mean as it is written,
    low, high)}, the last two None where they are not known."""
    theirs = {}
    for row in csv_rows(REFERENCE):
        ends = (float(row[end]) if row[end] else None for end in ("low", "high"))
        theirs.setdefault((row["about"], row["ours"]), {})[float(row["budget"])] = ("0" + row["mean"], *ends)
    return theirs


def compared_table(ours, only_ours=False):
    """Theirs and ours, side by side; `only_ours`: where we have the method."""
    rows = []
    for (about, method), points in references().items():
        if only_ours and method not in ours:
            continue
        cells = []
        for budget in SHOWN_BUDGETS:
            mean, low, high = points[budget]
            cells.append(mean + (f" [{low:.2f}, {high:.2f}]" if low is not None else ""))
            found = ours[method][budget] if method else None
            cells.append(f"{found[0]:.3f} {place_of(found, points[budget])}" if found else "")
        rows.append([about, f"`{method}`" if method else "none", *cells])
    titles = ["measured elsewhere", "ours", *(title for budget in SHOWN_BUDGETS
                                              for title in (f"theirs at {budget}", f"ours at {budget}"))]
    return markdown_table(titles, rows, right_from=2)


def place_of(ours, theirs):
    """Where our mean lies; lower is better. Their intervals have two digits."""
    if theirs[1] is None:
        mean, (low, high) = float(theirs[0]), ours[1:]
        return "inside" if low <= mean <= high else "better" if ours[0] < mean else "worse"
    mean, (low, high) = round(ours[0], 2), theirs[1:]
    return "inside" if low <= mean <= high else "better" if mean < low else "worse"
