#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=1800 tags=slow
# Of every class the first report that --run reproduces, exported, ends in the
# installed PyTorch as it ends here: with the same error, or with none.
here=$(cd "$(dirname "$0")/../.." && pwd)
export DTREPL=${DTREPL:-$here/build/dtrepl} HERE="$here" OMP_NUM_THREADS=1
PYTHON=${DTREPL_PYTHON:-python3}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
. "$here/tests/repl/warm_python.inc"
export PYTHON
cat >sweep.py <<'EOF'
import glob
import json
import os
import re
import subprocess
import sys

FEWEST = 40                     # classes, or the reports are not what they were
TRIES = 3                       # reports of a class
# What torch_xla or a package that is not installed would have to raise.
BEYOND = {"xla-sharded-tensor", "spmd-type-error"}

PYTHON = os.environ["PYTHON"]
release = subprocess.run([PYTHON, "release.py"], capture_output=True,
                         text=True).stdout.strip()


def reports():
    for path in sorted(glob.glob(os.environ["HERE"] + "/tests/diagnose/*.txt")):
        for part in open(path).read().split("\n=== ")[1:]:
            head, _, text = part.partition("\n")
            yield head.split()[0], text


# A set of dtypes is printed in the order of their addresses, each time another.
def letters(text):
    text = re.sub(r"\{([^{}]*)\}", lambda m: "".join(sorted(m[1].split(", "))),
                  text)
    return re.sub(r"\W+", "", text)


def diagnose(text):
    with open("report.txt", "w") as f:
        f.write(f"torch {release}\n{text}\n")
    if os.path.exists("out.py"):
        os.remove("out.py")
    out = subprocess.run([os.environ["DTREPL"], "diagnose", "--run", "--json",
                          "--export", "out.py", "report.txt"],
                         capture_output=True, text=True, timeout=120).stdout
    answer = json.loads(out.splitlines()[0])
    return answer["class"], answer["run"]


# Another release's fault is exported as that: it is not looked for here.
def is_of_release(source):
    said = re.search(r"^# Under torch (\S+):|, under torch (\S+)\.", source, re.M)
    return not said or (said[1] or said[2]) == release


def alike(run, source):
    got = subprocess.run([PYTHON, "out.py"], capture_output=True,
                         text=True, timeout=300)
    words = (run["message"] or "").split("\n")[0]
    raises = "# Under torch" in source or run["own"]
    if raises:
        fine = got.returncode != 0 and letters(words) in letters(
            got.stdout + got.stderr)
    else:
        fine = got.returncode == 0
    return fine, words, got


passed = failed = 0
done, tries = set(), {}
for label, text in reports():
    if label in done or label in BEYOND or label == "-" \
            or tries.get(label, 0) >= TRIES:
        continue
    kind, run = diagnose(text)
    if kind != label or not run["reproduced"] or not os.path.exists("out.py"):
        tries[label] = tries.get(label, 0) + 1
        continue
    source = open("out.py").read()
    if not is_of_release(source):
        tries[label] = tries.get(label, 0) + 1
        continue
    done.add(label)
    fine, words, got = alike(run, source)
    if fine:
        passed += 1
        print("ok -", label)
    else:
        failed += 1
        print("not ok -", label, "\n   wanted:", words, "\n   got:",
              got.returncode, (got.stdout + got.stderr)[-600:])
if len(done) < FEWEST:
    failed += 1
    print(f"not ok - only {len(done)} classes")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
EOF
cat >release.py <<'EOF'
import torch
print(".".join(torch.__version__.split(".")[:2]))
EOF
python3 sweep.py
