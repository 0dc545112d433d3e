"""CPU time of a proposal of the model."""

from .report import MODEL_PAGE, build, markdown_table, output_of, provenance, publish

SHORT = "one size, to the terminal: does it run?"


def run(arguments):
    program = build("model_bench") / "bench" / "model_bench"
    made_by = provenance("scripts/bench proposals")
    printed = output_of(program, *(["20", "8", "100"] if arguments.short else []))
    rows = [[line[0], f"{int(line[1]):,}", *(f"{float(cell):.1f}" for cell in line[2:5])]
            for line in map(str.split, printed.splitlines()[1:])]
    text = made_by + "\n" + markdown_table(["parameters", "results", "median", "99 %", "worst"], rows)
    publish("proposals", text, arguments.short, page=MODEL_PAGE)
