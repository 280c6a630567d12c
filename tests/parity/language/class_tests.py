# SPDX-License-Identifier: MIT
# What isinstance() and issubclass() refuse to test for.
for c in (None, 3, "s", [int], (int, None), (int, 3), {}):
    for f in (lambda: isinstance(1.5, c), lambda: issubclass(float, c), lambda: isinstance(1, c)):
        try: print(c, f())
        except TypeError as e: print(c, e)
try: issubclass(3, int)
except TypeError as e: print(e)
