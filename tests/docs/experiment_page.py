"""What a page of the documentation has in its tables and its blocks of YAML."""

import re

import plain_yaml

BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"`([^`]+)`")


def tables(text):
    """Rows of the tables whose first column is `field`, under the heading above them."""
    found, heading, columns = {}, "", None
    for line in text.splitlines():
        if line.startswith("#"):
            heading, columns = line.lstrip("# ").replace("`", ""), None
        elif not line.startswith("|"):
            columns = None
        elif columns is None:
            columns = [cell.strip() for cell in line.strip("|").split("|")]
        elif columns[0] == "field" and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) != len(columns):
                raise AssertionError(f"{heading}: {len(cells)} cells instead of {len(columns)}: {line}")
            found.setdefault(heading, []).append(dict(zip(columns, cells)))
    return found


def names_in(cell):
    """What stands in backticks."""
    return NAME.findall(cell)


def fields(text, *headings):
    """Each field of these tables with its row."""
    found = {}
    for heading in headings:
        for row in tables(text).get(heading, []):
            for name in names_in(row["field"]):
                if name in found:
                    raise AssertionError(f"{name} stands twice under {headings}")
                found[name] = row
    return found


def blocks(text):
    """Every block of YAML: the name in its first comment, or "", and what it holds."""
    for block in BLOCK.findall(text):
        name = re.match(r"# (\S+\.yaml)\n", block)
        yield (name[1] if name else ""), plain_yaml.load(block)
