"""docs/man has a page for each group of commands of hpsearch, for each other program and for experiment files. They come from
what the programs describe (--describe-options), from the schema of experiment files, and from docs/man/sections, which has what
no program knows: files, signals, examples. docs/man/man7/hpsearch-env.7 is written by hand.

  manual_pages.py BIN           fails when they differ; BIN is a directory with the programs
  manual_pages.py --write BIN   writes them"""

import difflib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAN = ROOT / "docs" / "man"
SCHEMA = ROOT / "docs" / "experiment-file.schema.json"
PROGRAMS = {"hpsearchd": 8, "hpsearch-worker": 8, "hpsearch-report": 1}
BY_HAND = {"man7/hpsearch-env.7", "man8/hpsearch-shim.8"}
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
# The page hpsearch-worker is the program's.
OTHER_PAGE = {"worker": "administer"}


def described(bin_directory, program):
    done = subprocess.run([pathlib.Path(bin_directory) / program, "--describe-options"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


# --- roff ---

def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("→", "\\->")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def plain(text):
    return escaped(" ".join(text.split()))


def bold(text):
    return f"\\fB{escaped(text)}\\fR"


def italic(text):
    return f"\\fI{escaped(text)}\\fR"


def heading(page, section):
    return f'.\\" Made by tests/docs/manual_pages.py.\n.TH {page.upper()} {section} "" hpsearch "hpsearch manual"\n'


def see_also(pages):
    """`pages`: (name, section)."""
    return ".SH SEE ALSO\n" + ",\n".join(f".BR {escaped(name)} ({section})" for name, section in pages).replace(",\n", " ,\n") + "\n"


# --- options ---

def value_of(option):
    """What stands behind an option: "table|json", "DIR", "N"; "" for a flag."""
    if words := re.search(r":\{([^}]*)\}", option["type"]):
        return "|".join(words[1].split(","))
    base = re.sub(r":(\{|\[\d|[UF]?(INT|LOAT)\b|SIZE|FILE$|DIR$|PATH).*", "", option["type"])
    name = option["names"][-1] if option["names"] else ""
    if base == "TEXT" and name.endswith(("-file", "-template")):
        return "FILE"
    if base == "TEXT" and name.endswith(("-dir", "-root", "-to")):
        return "DIR"
    return {"UINT": "N", "INT": "N", "FLOAT": "N"}.get(base, base)


def argument_text(option):
    """As the help shows it: [EXPERIMENT [TRIAL]]."""
    name, least, most = option["argument"], option["least"], option["most"]
    if (least, most) == (0, 2):
        return "[EXPERIMENT [TRIAL]]"
    if name == "TRIAL" and most == 3:
        return "[EXPERIMENT] TRIAL DIR"
    if name == "TRIAL" and most == 2:
        return "[EXPERIMENT] TRIAL"
    text = name + ("..." if most is None or most > 1 else "")
    return text if option["required"] else f"[{text}]"


def arguments_of(command):
    return [option for option in command["options"] if option["argument"]]


def synopsis(called, command):
    words = [bold(called), "[" + italic("OPTIONS") + "]", *(italic(argument_text(each)) for each in arguments_of(command))]
    return " ".join(words)


def names_text(option):
    value = value_of(option)
    names = ", ".join(bold(name) for name in option["names"])
    if option["argument"]:
        names = italic(argument_text(option)) + (f", {names}" if names else "")
        return names
    return names + (f" {italic(value)}" if value else "")


def option_text(option):
    about = plain(option["about"])
    notes = []
    if option["default"]:
        notes.append(f"Default: {plain(option['default'])}.")
    if option["needs"]:
        notes.append("Needs " + " and ".join(bold(name) for name in option["needs"]) + ".")
    if option["excludes"]:
        notes.append("Excludes " + " and ".join(bold(name) for name in option["excludes"]) + ".")
    about = about if not about or about.endswith((".", ")")) else about + "."
    return f".TP\n{names_text(option)}\n" + "\n".join(part for part in [about, *notes] if part) + "\n"


def options_text(options):
    """Those of each group below a title of its own; the usual group has none."""
    text = ""
    for group in dict.fromkeys(option["group"] for option in options):
        text += "" if group == "Options" else f".PP\n{plain(group)}:\n"
        text += "".join(option_text(option) for option in options if option["group"] == group)
    return text


def key(option):
    return json.dumps(option, sort_keys=True)


def every_command(commands, called="hpsearch"):
    for command in commands:
        name = f"{called} {command['name']}"
        if not command["commands"] or arguments_of(command):
            yield name, command
        yield from every_command(command["commands"], name)


def common_options(tree):
    """Options of more than ten commands: they are described once."""
    counts = {}
    for _, command in every_command(tree["commands"]):
        for option in command["options"]:
            if not option["argument"]:
                counts.setdefault(key(option), [option, 0])[1] += 1
    return [option for option, count in counts.values() if count > 10]


def exit_status(footer):
    found = re.match(r"Exit codes?: (.*?)\.?$", " ".join(footer.split()))
    if not found:
        return ""
    text = ".SH EXIT STATUS\n"
    for each in re.split(r", (?=\d+ )", found[1]):
        number, meaning = each.split(" ", 1)
        text += f".TP\n{bold(number)}\n{plain(meaning[0].upper() + meaning[1:])}.\n"
    return text


def more_sections(page, section):
    path = MAN / "sections" / f"{page}.{section}"
    return path.read_text() if path.exists() else ""


# --- pages ---

def page_of(command):
    """"run" for a command below "Run, as …"; a group of commands has a page of its own."""
    if command["commands"]:
        return OTHER_PAGE.get(command["name"], command["name"])
    return command["group"].partition(",")[0].lower()


def command_pages(tree):
    """Page → its commands, as (how it is called, description)."""
    pages = {}
    for command in tree["commands"]:
        pages.setdefault(page_of(command), []).extend(every_command([command]))
    return pages


def page_of_commands(name, commands, common, about, usual_footer):
    page = f"hpsearch-{name}"
    text = heading(page, 1)
    text += f".SH NAME\n{escaped(page)} \\- {plain(about[0].lower() + about[1:])}\n.SH SYNOPSIS\n"
    text += ".br\n".join(synopsis(called, command) + "\n" for called, command in commands)
    text += ".SH COMMANDS\n"
    keys = {key(option) for option in common}
    for called, command in commands:
        text += f".SS {called}\n{plain(command['about'])}.\n"
        own = [option for option in command["options"] if key(option) not in keys]
        text += options_text([option for option in own if option["argument"]] + [option for option in own if not option["argument"]])
        shared = [option["names"][-1] for option in command["options"] if key(option) in keys]
        if command["footer"] != usual_footer:
            text += f".PP\n{plain(command['footer'])}\n"
        text += ".PP\nCommon options: " + ", ".join(bold(option) for option in shared) + ".\n" if shared else ""
    return text + more_sections(page, 1) + see_also([("hpsearch", 1)])


def page_of_hpsearch(tree, pages, common):
    text = heading("hpsearch", 1)
    text += f".SH NAME\nhpsearch \\- asynchronous hyperparameter search\n.SH SYNOPSIS\n{bold('hpsearch')} [{italic('OPTIONS')}] {italic('COMMAND')} ...\n"
    text += ".SH COMMANDS\n"
    for group in dict.fromkeys(command["group"] for command in tree["commands"]):
        text += f".SS {plain(group)}\n"
        for command in tree["commands"]:
            if command["group"] == group:
                text += f".TP\n{bold(command['name'])}\n{plain(command['about'])}.\n"
                if command["commands"]:
                    text += f"See\n.BR {escaped('hpsearch-' + page_of(command))} (1).\n"
        text += f".PP\nSee\n.BR {escaped('hpsearch-' + group.partition(',')[0].lower())} (1)\nfor the others.\n"
    text += ".SH OPTIONS\n" + options_text(tree["options"])
    keys = {key(option) for option in tree["options"]}
    text += ".SS Common options\nMost commands have these options, too.\n"
    text += options_text([option for option in common if key(option) not in keys])
    text += more_sections("hpsearch", 1) + exit_status(tree["footer"])
    others = sorted(f"hpsearch-{name}" for name in pages)
    return text + see_also([*((name, 1) for name in others), ("hpsearch-report", 1), ("hpsearch.yaml", 5), ("hpsearch-env", 7),
                            ("hpsearch-worker", 8), ("hpsearchd", 8)])


def page_of_program(program, section, tree):
    text = heading(program, section)
    about = " ".join(tree["about"].split()).rstrip(".")
    text += f".SH NAME\n{escaped(program)} \\- {plain(about[0].lower() + about[1:])}\n.SH SYNOPSIS\n{synopsis(program, tree)}\n"
    for command in tree["commands"]:
        text += ".br\n" + synopsis(f"{program} {command['name']}", command) + "\n"
    text += ".SH OPTIONS\n" + options_text(tree["options"])
    if tree["commands"]:
        text += ".SH COMMANDS\n"
    inherited = {key(option) for option in tree["options"]}
    for command in tree["commands"]:
        own = [option for option in command["options"] if key(option) not in inherited]
        text += f".SS {program} {command['name']}\n{plain(command['about'])}.\n" + options_text(own)
    text += more_sections(program, section) + exit_status(tree["footer"])
    others = sorted({("hpsearch", 1), *PROGRAMS.items()} - {(program, section)})
    return text + see_also(others)


# --- the experiment file ---

def resolved(schema, field):
    merged = {}
    for part in (*field.get("allOf", ()), field):
        if "$ref" in part:
            target = schema
            for step in part["$ref"].removeprefix("#/").split("/"):
                target = target[int(step)] if isinstance(target, list) else target[step]
            merged |= resolved(schema, target)
        merged |= {name: value for name, value in part.items() if name != "$ref"}
    return merged


def forms_of(schema, field, seen):
    """The field itself and its alternatives, each once, without those that contain themselves."""
    here = resolved(schema, field)
    yield here
    for part in [*here.get("anyOf", ()), *here.get("oneOf", ())]:
        reference = part.get("$ref", "")
        if reference not in seen or not reference:
            yield from forms_of(schema, part, seen | {reference} - {""})


def fields_of(schema, field, prefix="", seen=frozenset()):
    """(dotted name, field) of each field below, in order."""
    found = {}
    for form in forms_of(schema, field, seen):
        for name, inner in form.get("properties", {}).items():
            found.setdefault(name, inner)
    for name, inner in found.items():
        reference = inner.get("$ref", "")
        yield prefix + name, resolved(schema, inner)
        if reference not in seen or not reference:
            yield from fields_of(schema, inner, f"{prefix}{name}.", seen | {reference} - {""})


def page_of_the_file(schema):
    text = heading("hpsearch.yaml", 5)
    text += ".SH NAME\nhpsearch.yaml \\- experiment file of hpsearch\n.SH DESCRIPTION\n"
    text += ("An experiment file says what is searched, how the program is started and when the search ends.\n"
             "It is YAML or JSON, with the fields below; a dot stands between a field and one inside it.\n"
             f".PP\n{bold('hpsearch validate')} {italic('FILE')} checks a file, and {bold('hpsearch config')} shows it with all defaults.\n")
    text += more_sections("hpsearch.yaml", 5) + ".SH FIELDS\n"
    for name, field in fields_of(schema, schema):
        if "description" not in field:
            continue
        about = LINK.sub(r"\1", field["description"])
        text += f".TP\n{bold(name)}\n{plain(about)}\n"
        if field.get("default") not in (None, "", [], {}):
            text += f"Default: {plain(json.dumps(field['default']))}.\n"
    return text + see_also([("hpsearch", 1), ("hpsearch-env", 7)])


def made(bin_directory, describe=described):
    """Path below docs/man → text, for each page that is made."""
    tree = describe(bin_directory, "hpsearch")
    common, pages = common_options(tree), command_pages(tree)
    groups = {command["name"]: command["about"] for command in tree["commands"] if command["commands"]}
    texts = {"man1/hpsearch.1": page_of_hpsearch(tree, pages, common),
             "man5/hpsearch.yaml.5": page_of_the_file(json.loads(SCHEMA.read_text()))}
    for name, commands in pages.items():
        about = groups.get(name) or ", ".join(called.partition(" ")[2] for called, _ in commands)
        texts[f"man1/hpsearch-{name}.1"] = page_of_commands(name, commands, common, about, tree["footer"])
    for program, section in PROGRAMS.items():
        texts[f"man{section}/{program}.{section}"] = page_of_program(program, section, describe(bin_directory, program))
    return texts


def main():
    texts = made(sys.argv[-1])
    kept = {path.relative_to(MAN).as_posix(): path.read_text() for path in MAN.glob("man*/*")}
    strangers = set(kept) - set(texts) - BY_HAND
    if "--write" in sys.argv:
        for path in strangers:
            (MAN / path).unlink()
        for path, text in texts.items():
            (MAN / path).write_text(text)
        return
    differences = [f"no program describes {path}\n" for path in sorted(strangers)]
    for path, text in texts.items():
        differences += difflib.unified_diff(kept.get(path, "").splitlines(True), text.splitlines(True), f"docs/man/{path}", "the programs", n=0)
    if differences:
        print("".join(differences)[:20_000])
        sys.exit("Write it: python3 tests/docs/manual_pages.py --write build/dev/bin")


if __name__ == "__main__":
    main()
