# SPDX-License-Identifier: MIT
import random
import difflib as d
random.seed(1)
for t in range(25):
    a = ["".join(random.choice("abc \t") for _ in range(random.randint(0, 9))) for _ in range(random.randint(0, 9))]
    b = [x if random.random() < .6 else x + random.choice("abc") if random.random() < .7 else "zz" for x in a if random.random() < .9] + (["new"] if random.random() < .3 else [])
    print(list(d.unified_diff(a, b, "x", "y", n=t % 4)), list(d.context_diff(a, b, "x", "y", "d1", n=1)), list(d.ndiff(a, b)), list(d.restore(d.ndiff(a, b), 2)) == b)
    s = d.SequenceMatcher(None, "".join(a), "".join(b)); print(s.ratio(), s.quick_ratio(), s.real_quick_ratio(), s.get_opcodes(), s.get_matching_blocks()); print(d.get_close_matches("abc", ["".join(random.choice("abc") for _ in range(3)) for _ in range(5)]))
    s = d.SequenceMatcher(lambda x: x == " ", "".join(a) * 9, "".join(b) * 9); print(s.ratio(), s.find_longest_match())
