# SPDX-License-Identifier: MIT
# atexit: the last one first, arguments, unregister, what one raises.
import atexit


@atexit.register
def first():
    print("last of all")


def say(*words, end="."):
    print(*words, end=end + "\n")


def gone():
    print("never")


print(atexit.register(say, "one", "two", end="!") is say)
atexit.register(say, 3)
atexit.register(gone)
atexit.register(gone)
atexit.unregister(gone)
for bad in (lambda: atexit.register(), lambda: atexit.register(3)):
    try:
        bad()
    except TypeError as e:
        print(type(e).__name__)


class Late:
    def __call__(self):
        print("an object")
        atexit.register(say, "registered while leaving")


atexit.register(Late())
print("the program ends")
