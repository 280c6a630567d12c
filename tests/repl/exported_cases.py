# SPDX-License-Identifier: MIT
"""Scripts of tests/findings, exported and run under PyTorch.

exported_cases.py cut FOLDER FILE...   one script NAME-K.lua for each function in
                                       the tables of the files; prints their names
exported_cases.py compare SCRIPT...    did each show what its comments say, or
                                       raise what SCRIPT.log says?  Its output
                                       is in SCRIPT.out, its error in .err
"""
import math
import os
import re
import sys

TABLES = ("silent", "loud", "clean", "cases", "traps", "rows")
PICK = '''
local all = {}
for _, l in ipairs {%s} do
  local keys = {}
  for k in pairs(l) do keys[#keys + 1] = k end
  table.sort(keys, function (a, b) return tostring(a) < tostring(b) end)
  for _, k in ipairs(#l > 0 and {} or keys) do l[#l + 1] = l[k] end
  for _, c in ipairs(l) do
    for _, f in ipairs(c) do
      if type(f) == "function" then all[#all + 1] = f end
    end
  end
end
'''


def cut(folder, paths):
    for path in paths:
        text = open(path).read()
        head = text
        for word in ("\nfor _, c in ipairs(", "\nlocal function found(",
                     "\nlocal function fixed_by_trial", "\nlocal function wrongs"):
            head = head.split(word)[0]
        tables = [t for t in TABLES if re.search(r"^local %s = {" % t, head, re.M)]
        name = os.path.basename(path)[:-4]
        count = head.count("function ()")               # or fewer
        for k in range(1, count + 1):
            with open(f"{folder}/{name}-{k}.lua", "w") as out:
                out.write(head + PICK % ", ".join(tables)
                          + f"if not all[{k}] then print('no case') return end\n"
                          + f"all[{k}]()\n")
            print(f"{name}-{k}")


def numbers(text):
    text = text.split("device_mesh=")[0].replace("local_tensor=", "")
    text = re.sub(r"(requires_grad|grad_fn|dtype|size)=.*", "", text, flags=re.S)
    text = text.replace("True", "1").replace("False", "0")
    return [float(x) for x in
            re.findall(r"-?(?:inf|nan|\d+\.?\d*(?:e[-+]?\d+)?)", text)]


def said(path):
    """{(name, rank): text} of the comments."""
    had, key = {}, None
    for line in open(path):
        show = re.search(r'show\("([^"]*)"', line)
        mine = re.match(r"# dtrepl had(?: ([^ ]+))??(?: on rank (\d+))?: (.*)", line)
        more = re.match(r"#   (.*)", line)
        if show:
            name = show[1]
        elif mine:
            key = mine[1] or name, int(mine[2] or 0)
            had[key] = mine[3]
        elif more and key:
            had[key] += more[1]
    return had


def shown(path):
    got, key = {}, None
    for line in open(path):
        begins = re.match(r"\[(\d+)\] (\S+) = (.*)", line)
        if begins:
            key = begins[2], int(begins[1])
            got[key] = begins[3]
        elif key:
            got[key] += line
    return got


def close(a, b):
    return a == b or a != a and b != b or math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4)


def differs(path):
    """What is not as it should be, or None."""
    if "torch.library.Library(" in open(path).read():
        return None             # what it computes cannot be carried along
    log = open(path.replace(".py", ".log")).read()
    error = open(path + ".err").read()
    words = re.search(r"PyTorch 2\.13 says: (.*)", log) \
        or re.search(r"^(?:\[[\d,-]+\] +)?DT\d+ \w+: (.*)", log, re.M)
    report = re.sub("(-report)?.py$", ".md", path)      # of what was caught, too
    words = words or re.search(r"^- actual: DT0\d+: (.*)", open(report).read(), re.M)
    if words and words[1][:200] in error:
        return None
    if "Traceback" in error:
        return "raises " + error.strip().split("\n")[-1]
    had = said(path)
    for (name, rank), text in shown(path + ".out").items():
        want = had.get((name, rank), had.get((name, 0)))
        a, b = numbers(text), numbers(want or "")
        if want is not None and (len(a) != len(b)
                                 or not all(map(close, a, b))):
            return f"{name} on rank {rank} is {text}, not {want}"
    return f"does not raise: {words[1]}" if words else None


def compare(paths):
    bad = 0
    for path in paths:
        wrong = differs(path)
        bad += wrong is not None
        if wrong:
            print(f"not ok - {path}: {wrong}")
    print(f"{len(paths) - bad} passed, {bad} failed")
    return bad


if __name__ == "__main__":
    what, names = sys.argv[1], sys.argv[2:]
    if what == "cut":
        cut(names[0], names[1:])
    else:
        sys.exit(1 if compare(names) else 0)
