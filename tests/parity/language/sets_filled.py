# SPDX-License-Identifier: MIT
# Sets filled from what the items' own methods change meanwhile.
class Item:
    def __init__(self, change):
        self.change = change

    def __hash__(self):
        return 0

    def __eq__(self, other):
        self.change()
        return False


def fill(make, change):
    given = make(lambda: change(given))
    out = {0}
    try:
        out.update(given)
        return len(out), len(given)
    except Exception as e:
        return type(e).__name__, str(e)


def items(kind):
    return lambda change: kind(Item(change) for _ in range(5))


def add_one(given):
    if len(given) < 8:
        given.append(object())


def drop(given):
    if given:
        given.pop()


print(fill(items(list), list.clear), fill(items(list), drop), fill(items(list), add_one))
for n in (1, 3, 10):
    armed = []
    given = {Item(lambda: armed and given.clear()) for _ in range(n)}
    armed.append(1)
    out = {0}
    out.update(given)
    print(n, len(out), len(given))
