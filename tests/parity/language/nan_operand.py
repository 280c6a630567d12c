# SPDX-License-Identifier: MIT
# A nan beside an operand that is no plain number.
nan = float("nan")


class Box(float):
    pass


class Own:
    pass


print(Own() == nan, nan == Own(), Box("nan") == Box("nan"), Box(2) * nan)
for f in (lambda: Own() < nan, lambda: [1] * nan, lambda: "a" + nan):
    try:
        f()
    except TypeError as e:
        print(e)
