"""A plot of regret over budgets, as SVG."""

import math

from .elsewhere import references
from .races import BUDGETS


def quality_plot(by_method, plotted, elsewhere=None):
    """Regret over budget, on a logarithmic axis of budgets, as SVG; bands are the intervals. `plotted`: what the legend
    says of a method, and its colour. `elsewhere`: the same of what others measured, as dashed lines."""
    width, height, left, right, top, bottom = 760, 440, 60, 20, 20, 50
    shown = {name: by_method[name] for name in plotted if name in by_method}
    theirs = {about: points for (about, _), points in references().items() if about in (elsewhere or {})}
    highest = min(1.0, max(high for points in shown.values() for _, _, high in points.values()))
    ceiling = math.ceil(highest * 10) / 10

    def x(budget):
        share = math.log(budget / BUDGETS[0]) / math.log(BUDGETS[-1] / BUDGETS[0])
        return left + share * (width - left - right)

    def y(regret):
        return top + (1 - min(regret, ceiling) / ceiling) * (height - top - bottom)

    def path(points):
        return " ".join(f"{x(budget):.1f},{y(regret):.1f}" for budget, regret in points)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for tenth in range(round(ceiling * 10) + 1):
        at = y(tenth / 10)
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    for budget in BUDGETS:
        out.append(f'<line x1="{x(budget):.1f}" x2="{x(budget):.1f}" y1="{top}" y2="{height - bottom}" stroke="#eeeeee"/>')
        out.append(f'<text x="{x(budget):.1f}" y="{height - bottom + 18}" text-anchor="middle">{budget}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">'
               'full trainings of work</text>')
    out.append(f'<text transform="translate(16 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">'
               'normalised regret</text>')
    for name, points in shown.items():
        band = [(budget, high) for budget, (_, _, high) in points.items()]
        band += [(budget, low) for budget, (_, low, _) in reversed(points.items())]
        out.append(f'<polygon points="{path(band)}" fill="{plotted[name][1]}" fill-opacity="0.12"/>')
    drawn = [(points, *plotted[name], "") for name, points in shown.items()]
    drawn += [(points, *elsewhere[about], ' stroke-dasharray="5 4"') for about, points in theirs.items()]
    for place, (points, text, colour, dashes) in enumerate(drawn):
        line = [(budget, float(mean)) for budget, (mean, _, _) in points.items()]
        out.append(f'<polyline points="{path(line)}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        at = top + 16 + 18 * place
        out.append(f'<line x1="{width - 270}" x2="{width - 246}" y1="{at - 4}" y2="{at - 4}" stroke="{colour}" '
                   f'stroke-width="3"{dashes}/>')
        out.append(f'<text x="{width - 238}" y="{at}">{text}</text>')
    return "\n".join(out) + "\n</svg>\n"
