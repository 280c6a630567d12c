# SPDX-License-Identifier: MIT
"""einops.patterns: patterns read into groups of axes, and their sizes."""

ELLIPSIS = "\u2026"
REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")


class EinopsError(RuntimeError):
    __module__ = "einops"


class Pattern:
    """One side of a pattern: a list of groups of axes; "..." is a group of
    its own, a number an axis with a name that nobody else has."""

    def __init__(self, text, skip=False, again=False):
        self.text, self.skip, self.again = text, skip, again
        self.groups, self.names, self.numbers = [], set(), {}
        self.ellipsis_inside = False
        if "." in text:
            if "..." not in text:
                raise EinopsError("Expression may contain dots only inside "
                                  "ellipsis (...)")
            if text.count("...") != 1 or text.count(".") != 3:
                raise EinopsError("Expression may contain dots only inside "
                                  "ellipsis (...); only one ellipsis for "
                                  "tensor ")
            text = text.replace("...", ELLIPSIS)
        self.read(text)

    def read(self, text):
        group, word = None, ""
        for char in text + " ":
            if char.isalnum() or char in ("_", ELLIPSIS):
                word += char
                continue
            if char not in "() ":
                raise EinopsError(f"Unknown character '{char}'")
            if word:
                self.add(word, group)
            word = ""
            if char == "(":
                if group is not None:
                    raise EinopsError("Axis composition is one-level (brackets "
                                      "inside brackets not allowed)")
                group = []
            elif char == ")":
                if group is None:
                    raise EinopsError("Brackets are not balanced")
                self.groups.append(group)
                group = None
        if group is not None:
            raise EinopsError("Imbalanced parentheses in expression: "
                              f'"{text}"')

    def add(self, word, group):
        if word in self.names and not self.again \
                and not (self.skip and word == "_"):
            raise EinopsError("Indexing expression contains duplicate "
                              f'dimension "{word}"')
        if word == ELLIPSIS:
            self.names.add(word)
            self.ellipsis_inside = group is not None
            if group is None:
                self.groups.append(ELLIPSIS)
            else:
                group.append(word)
            return
        if word.isdecimal():
            size = int(word)
            if size == 1:
                if group is None:
                    self.groups.append([])
                return
            if size < 1:
                raise EinopsError("Anonymous axis should have positive "
                                  f"length, not {size}")
            word = f"{size}-axis #{id(self)}.{len(self.numbers)}"
            self.numbers[word] = size
        elif not (self.skip and word == "_"):
            self.check_name(word, f"Invalid axis identifier: {word}")
        self.names.add(word)
        if group is None:
            self.groups.append([word])
        else:
            group.append(word)

    @staticmethod
    def check_name(name, what):
        if not name.isidentifier():
            raise EinopsError(f"{what}\nnot a valid python identifier")
        if name[0] == "_" or name[-1] == "_":
            raise EinopsError(f"{what}\naxis name should should not start or "
                              "end with underscore")


def _check_names(left, right, how, given):
    if how == "rearrange":
        if left.numbers or right.numbers:
            raise EinopsError("Non-unitary anonymous axes are not supported "
                              "in rearrange (exception is length 1)")
        odd = left.names ^ right.names
        if odd:
            raise EinopsError("Identifiers only on one side of expression "
                              f"(should be on both): {odd}")
    elif how == "repeat":
        odd = left.names - right.names
        if odd:
            raise EinopsError("Unexpected identifiers on the left side of "
                              f"repeat: {odd}")
        odd = right.names - set(right.numbers) - left.names - set(given)
        if odd:
            raise EinopsError("Specify sizes for new axes in repeat: "
                              f"{odd}")
    elif how in REDUCTIONS or callable(how):
        odd = right.names - left.names
        if odd:
            raise EinopsError("Unexpected identifiers on the right side of "
                              f"reduce {how}: {odd}")
    else:
        raise EinopsError(f"Unknown reduction {how}. Expect one of "
                          f"{REDUCTIONS}.")


def _without_ellipsis(groups, axes):
    """The groups with the axes in the place of "..."."""
    out = []
    for group in groups:
        if group == ELLIPSIS:
            out.extend([axis] for axis in axes)
        else:
            out.append([name for axis in group
                        for name in (axes if axis == ELLIPSIS else [axis])])
    return out


def split_pattern(pattern, how, given, ndim):
    """Both sides of a pattern as lists of groups, for a tensor of ndim
    dimensions."""
    left_text, right_text = pattern.split("->")
    left, right = Pattern(left_text), Pattern(right_text)
    if ELLIPSIS in right.names and ELLIPSIS not in left.names:
        raise EinopsError("Ellipsis found in right side, but not left side "
                          f"of a pattern {pattern}")
    if left.ellipsis_inside:
        raise EinopsError("Ellipsis inside parenthesis in the left side is "
                          f"not allowed: {pattern}")
    _check_names(left, right, how, given)
    axes, fixed = [], len(left.groups)
    if ELLIPSIS in left.names:
        fixed -= 1
        if ndim < fixed:
            raise EinopsError(f"Wrong shape: expected >={fixed} dims. "
                              f"Received {ndim}-dim tensor.")
        axes = [ELLIPSIS + str(i) for i in range(ndim - fixed)]
    elif ndim != fixed:
        raise EinopsError(f"Wrong shape: expected {fixed} dims. Received "
                          f"{ndim}-dim tensor.")
    known = dict(left.numbers)
    known.update(right.numbers)
    _check_given(left, right, given)
    sides = (_without_ellipsis(left.groups, axes),
             _without_ellipsis(right.groups, axes))
    return _Groups(sides[0], known), _Groups(sides[1], known)


def _check_given(left, right, given):
    for name in given:
        if not name.isidentifier() or name[0] == "_" or name[-1] == "_":
            raise EinopsError("Invalid name for an axis", name)
        if name not in left.names and name not in right.names:
            raise EinopsError(f"Axis {name} is not used in transform")


class _Groups(list):
    """Groups of one side, with the sizes that the pattern itself tells."""

    def __init__(self, groups, known):
        super().__init__(groups)
        self.known = known


def sizes_of(groups, shape, given):
    """The size of every axis, from the shape and from what was given."""
    sizes = dict(groups.known)
    sizes.update(given)
    for group in groups:
        unknown = {axis for axis in group if axis not in sizes}
        if len(unknown) > 1:
            raise EinopsError(f"Could not infer sizes for {unknown}")
    for group, length in zip(groups, shape):
        product, unknown = 1, None
        for axis in group:
            if axis in sizes:
                product *= sizes[axis]
            else:
                unknown = axis
        if unknown is not None:
            if product == 0 or length % product != 0:
                raise EinopsError("Shape mismatch, can't divide axis of "
                                  f"length {length} in chunks of {product}")
            sizes[unknown] = length // product
        elif length != product:
            raise EinopsError(f"Shape mismatch, {length} != {product}")
    return sizes
