#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=1800 tags=slow
# Of every class that --run reproduces one report, exported, ends in the installed
# PyTorch as it ends here: with the same error, or with none.  Running the reports
# is most of the time, so the sweep is told where it finds one; EVERY=1 looks
# through the reports of the other classes, too.
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
# By file of tests/diagnose the classes of which one of its reports is taken, and
# its place among those of the class, if it is not the first.
FIRST = {
    "claims": """
        argmax-local-index clip-grad-cross-mesh
        distribute-source-rank-wins from-local-lies
        from-local-uneven-shape fsdp-2d-mesh-is-hsdp
        fsdp-uneven-nonzero-dim fsdp2-mixed-dtype-group
        global-shape-as-local grad-norm-is-partial-dtensor
        hidden-redistribution inplace-placement-change mesh-dim-required
        mesh-larger-than-world mixed-attention-operand
        optimizer-built-before-sharding optimizer-cross-mesh
        partial-plus-scalar partial-read-as-value
        raw-collective-on-dtensor redistribute-cross-mesh
        redistribute-to-partial to-local-grad-placement
        tp-local-output-uneven tp-plan-unmatched view-unflatten-uneven
        weighted-mean-loss""",
    "collected": """
        async-result-not-waited:1 cp-backend-or-mask distribute-misuse
        fsdp-tp-mesh-relationship fsdp2-plain-entry-in-sharded-state-dict
        invalid-mesh-dim-name meta-device-not-materialised:1
        mixed-optimizer-group:2 mixed-tensor-dtensor
        tp-heads-not-divisible""",
    "described": """
        fsdp2-scalar-parameter implicit-redistribution-forbidden
        out-variant-kwarg-dtensor tp-hook-kwargs-only""",
    "drawn": """
        fsdp1-dtensor-legacy fsdp2-non-float-parameter""",
    "fresh": """
        dynamic-output-shape""",
    "later": """
        mesh-arguments placement-kind-assumed""",
    "mesh": """
        pin-memory-dtensor""",
    "mixed": """
        backend-op-missing mixed-activation-checkpoint-recompute
        register-sharding-limits""",
    "parallel": """
        flex-attention-dtensor""",
}
# What torch_xla or a package that is not installed would have to raise.
BEYOND = {"xla-sharded-tensor", "spmd-type-error"}

PYTHON = os.environ["PYTHON"]
TEXTS = os.environ["HERE"] + "/tests/diagnose"
release = subprocess.run([PYTHON, "release.py"], capture_output=True,
                         text=True).stdout.strip()


def reports_of(path):
    for part in open(path).read().split("\n=== ")[1:]:
        head, _, text = part.partition("\n")
        yield head.split()[0], text


def told():
    """The reports that FIRST names."""
    for name, labels in FIRST.items():
        wanted = dict(w.split(":") if ":" in w else (w, "0")
                      for w in labels.split())
        count = {}
        for label, text in reports_of(f"{TEXTS}/{name}.txt"):
            if str(count.get(label, 0)) == wanted.get(label):
                yield label, text
            count[label] = count.get(label, 0) + 1


def reports():
    yield from told()
    known = {w.split(":")[0] for labels in FIRST.values() for w in labels.split()}
    for path in sorted(glob.glob(TEXTS + "/*.txt")):
        for label, text in reports_of(path):
            if label in known or os.environ.get("EVERY"):
                yield label, text


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
    if words.startswith("ranks took different paths"):
        words = "Detected mismatch between collectives on ranks"
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
