"""Draws and grids, written a second time from the papers and the specification."""

import math
from fractions import Fraction

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1


def philox(counter, key):
    """Philox 4x32-10: Salmon et al., SC 2011, section 4.3."""
    key = list(key)
    for _ in range(10):
        a = 0xD2511F53 * counter[0]
        b = 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & MASK32, (a >> 32) ^ counter[3] ^ key[1], a & MASK32]
        key = [(key[0] + 0x9E3779B9) & MASK32, (key[1] + 0xBB67AE85) & MASK32]
    return counter


class Draw:
    """Draw n of the stream (seed, trial, name)."""

    def __init__(self, seed, trial, name):
        key = 0xCBF29CE484222325  # FNV-1a, 64 bits
        for byte in seed.to_bytes(8, "little") + name.encode():
            key = (key ^ byte) * 0x100000001B3 & MASK64
        key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & MASK64  # finaliser of SplitMix64
        key = (key ^ key >> 27) * 0x94D049BB133111EB & MASK64
        key ^= key >> 31
        self.key = (key & MASK32, key >> 32)
        self.trial = (trial & MASK32, trial >> 32)
        self.next = 0

    def bits(self):
        block = philox([self.next & MASK32, self.next >> 32, *self.trial], self.key)
        self.next += 1
        return block[0] | block[1] << 32

    def unit(self):
        return math.ldexp(self.bits() >> 11, -53)

    def below(self, bound):
        """Lemire's multiply and reject; the bound may be 2^64."""
        while True:
            product = self.bits() * bound
            if product % 2**64 >= 2**64 % bound:
                return product >> 64


def leaves(space):
    """(path, parameter) of every leaf, keys in byte-wise order per level. A space is {path: parameter}."""
    return sorted(space.items(), key=lambda leaf: [key.encode() for key in leaf[0].split(".")])


def same(a, b):
    """1, 1.0 and true are three values."""
    return type(a) is type(b) and a == b


def active(space, path, values):
    """Whether a leaf is active where every leaf has its value."""
    return all(
        active(space, parent, values) and any(same(values[parent], one) for one in allowed)
        for parent, allowed in space[path].get("when", {}).items()
    )


def only_active(space, values):
    return {path: value for path, value in values.items() if active(space, path, values)}


def grid_order(space):
    """A leaf with conditions stands right behind the last of its parents."""
    order = []

    def place(path):
        order.append(path)
        for child, parameter in leaves(space):
            parents = parameter.get("when", {})
            if child not in order and path in parents and all(parent in order for parent in parents):
                place(child)

    for path, parameter in leaves(space):
        if not parameter.get("when"):
            place(path)
    return order


def combinations(space, axis):
    """Each different one of the values on the axes, in the grid's order."""

    def after(order, values):
        if not order:
            yield values
        elif not active(space, order[0], {**dict.fromkeys(space), **values}):
            yield from after(order[1:], values)
        else:
            for value in axis(space[order[0]]):
                yield from after(order[1:], {**values, order[0]: value})

    return list(after(grid_order(space), {}))


def is_conditional(space):
    return any(parameter.get("when") for parameter in space.values())


def real_draw(parameter, unit):
    low, high = parameter["minval"], parameter["maxval"]
    drawn = low + unit * (high - low)
    return drawn if drawn < high else math.nextafter(high, low)


def decimal(number):
    """What the shortest text of a number says, exactly."""
    return Fraction(str(number))


def levels(parameter):
    """The values of an int, or of a double with a step; None for other doubles."""
    kind, step = parameter["type"], parameter.get("step")
    if kind == "int":
        return range(parameter["minval"], parameter["maxval"] + 1, step or 1)
    if kind != "double" or step is None:
        return None
    low, high = decimal(parameter["minval"]), decimal(parameter["maxval"])
    return [float(low + i * decimal(step)) for i in range(math.floor((high - low) / decimal(step)) + 1)]


def how_many(values):
    """len(), which stops at 2^63."""
    return (values[-1] - values[0]) // values.step + 1 if isinstance(values, range) else len(values)


def in_levels(parameter, draw):
    values = levels(parameter)
    if parameter.get("scale") != "log":
        return values[draw.below(how_many(values))]
    step = parameter.get("step", 1)
    edges = [max(values[0] - step / 2, values[0] / 2), *(value + step / 2 for value in values)]
    place = draw.unit() * math.log(edges[-1] / edges[0])
    inside = [value for value, edge in zip(values, edges) if math.log(edge / edges[0]) <= place]
    return inside[-1]


def sample(space, seed, trial):
    drawn = {}
    for path, parameter in leaves(space):
        draw = Draw(seed, trial, "hyperparameters." + path)
        kind = parameter["type"]
        if kind == "const":
            drawn[path] = parameter["val"]
        elif levels(parameter) is not None:
            drawn[path] = in_levels(parameter, draw)
        elif kind == "categorical":
            drawn[path] = parameter["vals"][draw.below(len(parameter["vals"]))]
        elif parameter.get("scale") == "log":
            low, high = math.log10(parameter["minval"]), math.log10(parameter["maxval"])
            drawn[path] = 10 ** (low + draw.unit() * (high - low))
        else:
            real = real_draw(parameter, draw.unit())
            drawn[path] = parameter.get("base", 10.0) ** real if kind == "log" else real
    return only_active(space, drawn)


def half_away_from_zero(fraction):
    up = math.floor(abs(fraction) + Fraction(1, 2))
    return up if fraction >= 0 else -up


def axis_size(parameter):
    """Points of one axis; None when nobody said how many."""
    kind = parameter["type"]
    if kind == "const":
        return 1
    if kind == "categorical":
        return len(parameter["vals"])
    values = levels(parameter)
    if values is not None and "step" in parameter:
        return min(parameter.get("count", how_many(values)), how_many(values))
    if values is not None and "count" in parameter:
        return min(parameter["count"], how_many(values))
    return parameter.get("count")


def axis_level(parameter, index, size):
    """Levels at equal distances, or at equal ratios; each level once, so that the first follow each other."""
    values = levels(parameter)
    if parameter.get("scale") != "log":
        last = Fraction(how_many(values) - 1)
        return values[half_away_from_zero(index * last / (size - 1) if size > 1 else last / 2)]
    low, high, step = values[0], values[-1], parameter.get("step", 1)
    wanted = [low * (high / low) ** (i / (size - 1) if size > 1 else 0.5) for i in range(index + 1)]
    taken = -1
    for number in wanted:
        taken = max(taken + 1, half_away_from_zero(decimal((number - low) / step))) if size > 1 else (
            half_away_from_zero(decimal((number - low) / step)))
    return values[taken]


def axis_point(parameter, index):
    kind, size = parameter["type"], axis_size(parameter)
    if kind == "const":
        return parameter["val"]
    if kind == "categorical":
        return parameter["vals"][index]
    if levels(parameter) is not None and ("step" in parameter or "scale" in parameter):
        return axis_level(parameter, index, size)
    if parameter.get("scale") == "log":
        place = index / (size - 1) if size > 1 else 0.5
        if place in (0, 1):
            return float(parameter["maxval" if place else "minval"])
        return float(f"{parameter['minval'] * (parameter['maxval'] / parameter['minval']) ** place:.11e}")
    low, high = Fraction(parameter["minval"]), Fraction(parameter["maxval"])
    exact = low + index * (high - low) / (size - 1) if size > 1 else (low + high) / 2
    if kind == "int":
        return half_away_from_zero(exact)
    return parameter.get("base", 10.0) ** float(exact) if kind == "log" else float(exact)


def axis_points(parameter):
    return [axis_point(parameter, index) for index in range(axis_size(parameter))]


def grid_size(space):
    size = 1
    for path, parameter in leaves(space):
        if axis_size(parameter) is None:
            return f"lacks {path}"
        size *= axis_size(parameter)
    if is_conditional(space):
        return len(combinations(space, axis_points))
    return size if size < 2**127 else "overflows"


def grid_point(space, index):
    """The first leaf varies slowest, so the last is the remainder."""
    if is_conditional(space):
        point = combinations(space, axis_points)[index]
        return {path: point[path] for path, _ in leaves(space) if path in point}
    point = {}
    for path, parameter in reversed(leaves(space)):
        index, here = divmod(index, axis_size(parameter))
        point[path] = axis_point(parameter, here)
    return dict(reversed(point.items()))


def all_values(parameter):
    if parameter["type"] == "int":
        return range(parameter["minval"], parameter["maxval"] + 1)
    return parameter["vals"] if parameter["type"] == "categorical" else [parameter["val"]]


def cardinality(space):
    size = 1
    for _, parameter in leaves(space):
        kind = parameter["type"]
        if levels(parameter) is not None:
            size *= how_many(levels(parameter))
        elif kind in ("double", "log"):
            return "endless"
        elif kind == "categorical":
            size *= len({f"{type(value)} {value}" for value in parameter["vals"]})
    if is_conditional(space):
        return len({str(sorted(one.items())) for one in combinations(space, all_values)})
    return size
