# SPDX-License-Identifier: MIT
# Signs called by their names, with as many operands as they take and one more.
def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


t(lambda: (2).__pow__(3))
t(lambda: (2).__pow__(3, 5))
t(lambda: (2).__add__(1))
t(lambda: (2).__add__(1, 2))
t(lambda: (2).__add__())
t(lambda: "ab".__contains__("a"))
t(lambda: (2).__neg__())
t(lambda: (2.5).__floor__())
t(lambda: (1).__lt__(2))
t(lambda: (1).__lt__())
t(lambda: (1).__lt__(2, 3))
t(lambda: [1].__iadd__([2]))
t(lambda: [1].__iadd__())
t(lambda: [1].__iadd__([2], [3]))
t(lambda: (7).__rmod__(3))
t(lambda: {1: 2}.__delitem__(3))
t(lambda: {1: 2}.__delitem__(1, 2))
t(lambda: [4, 5].__getitem__(1))
