#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=900
# The edit that a finding prints is applied to the program's line, and the finding is
# gone then.  One pair of each kind of edit; EDITS=all takes every pair of
# tests/findings/pairs, and counts by code how many print one and what becomes of it.
here=$(cd "$(dirname "$0")/../findings/pairs" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
some="dino_center norm_read_local router_to_local labels_of_rank0 adafactor_rows
  fsdp_ignored grads_past_ddp other_perm router_jitter_tp doubled_backward
  rotary labels_vs_argmax shards_averaged_again grad_max checkpoint_draws dropped_functional spmd_sum_dst
  contrastive_labels gathered_into_one sampler_seed dt_local_mean fsdp_divide_one
  scatter_turned clip_value_first tie_lost_to_empty dealt_two_ways
  sp_gain_averaged grads_of_rank0"
[ "$EDITS" = all ] && some=$(cd "$here" && ls ./*.py | sed 's,^\./,,; s,\.py$,,')

# found CODE TENSOR: the first such finding of the text that has an edit: its line,
# then the lines of the edit.
found () {
  awk -v code="$1" -v name="$2" '
    at && edit && substr($0, 1, edit - 1) !~ /^ *$/ { exit }
    at && edit && substr($0, edit) !~ /^[-+ ] / { exit }
    at && edit { print substr($0, edit); next }
    / DT[0-9]+ T?[0-9]* ?[a-z]+: |^DT[0-9]+ T?[0-9]* ?[a-z]+: / {
      mine = $1 == code || $2 == code; at = "" }
    mine && $1 == "at" { at = $2; sub(/^[^:]*:/, "", at); tensor = $3 ~ /^#/ ? $4 : $3 }
    mine && $1 == "tensor" { tensor = $2 }
    mine && $1 == "edit" && tensor == name {
      edit = index($0, "edit") + 9; print at; print substr($0, edit) }'
}

# edited FILE: with the edit of `edit` at its line, indented as the line is.
edited () {
  awk 'NR == FNR { if (FNR == 1) at = $0; else line[++n] = $0; next }
    FNR != at { if (FNR > at && FNR < at + gone) next; print; next }
    { match($0, /^ */)
      for (i = 1; i <= n; i++) if (line[i] !~ /^[+]/) gone++
      for (i = 1; i <= n; i++)
        if (line[i] !~ /^-/) print substr($0, 1, RLENGTH) substr(line[i], 3) }' edit "$1"
}

# ask NAME [SED]: the pair's wrong half as program.py, changed so, the edit of its
# finding in `edit`.
ask () {
  head=$(head -1 "$here/$1.py")
  code=$(echo "$head" | cut -d' ' -f2)
  tensor=$(echo "$head" | sed 's/^# [^ ]* \(.*\) at: .*/\1/')
  sed "$2" "$here/$1.py" >program.py
  echo :findings | timeout 100 "$DTREPL" -i program.py >out 2>err
  found "$code" "$tensor" <out >edit
}

# A collective that writes into a tensor of the graph would cut it; of a line that
# makes a name of itself it is not known which of the two is meant; and a program
# without the name `dist` cannot say dist.all_reduce.  What is one of several statements,
# or arguments, is not to be mended as a whole.
for what in barlow moe_combine \
    "shards_averaged_again s/dist.all_reduce(g)  #/g.add_(0); dist.all_reduce(g)  #/" \
    "dropped_functional s/^\( *\)\(funcol.*\)  # wrong/\1if True: \2/" \
    "dropped_functional s/^\( *\)\(funcol.*\)  # wrong/\1for y in [y]: \\n\1    \2/" \
    "sampler_seed s/+ rank)/+ rank * 10)/" \
    "sampler_seed s/^ds = /rank_of = 2 * rank\\nds = /; s/+ rank)/+ rank_of)/" \
    "rotary s/arange(n) + 0.0, inv)  #/arange(0, n) + 0.0, inv)  #/" \
    "dino_center s/distributed as dist/distributed/; s/dist\./torch.distributed./g"; do
  name=${what%% *}
  ask "$name" "${what#"$name"}"
  if grep "$code" out >/dev/null && [ ! -s edit ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $name: $code, no edit: $(cat edit)"; fi
done

# mend NAME [SED]: is the finding gone with its edit?
mend () {
  name=$1
  ask "$name" "$2"
  what=none
  if [ -s edit ]; then
    edited program.py >new && mv new program.py
    what=raises
    timeout 100 "$DTREPL" program.py >out 2>err </dev/null && what=gone
    grep "^$code program.py:[0-9]* $tensor: " err >/dev/null && what=stays
  fi
  [ "$EDITS" = all ] && echo "$code $what $name" >>counts
  if [ $what = gone ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $name: the edit of $code: $what"; fi
}

for name in $some; do
  [ "$(head -1 "$here/$name.py")" = "# nothing" ] || mend "$name"
done
# a sum that is dropped takes its division along; what else divides it may be meant
ask shards_averaged_again
if [ "$(grep -c '^-' edit)" = 2 ]; then passed=$((passed + 1)); else
  failed=$((failed + 1)); echo "not ok - the division stays: $(cat edit)"; fi
ask shards_averaged_again "s/g \/= .*/g \/= 3/"
if [ -s edit ]; then
  failed=$((failed + 1)); echo "not ok - an edit that leaves a division: $(cat edit)"; else
  passed=$((passed + 1)); fi
# without the line its block would be empty
mend shards_averaged_again "s/^\( *\)\(dist.all_reduce(g)\)  # wrong/\1if True:\n\1    \2/"
[ "$EDITS" = all ] && cut -d' ' -f1,2 counts | sort | uniq -c
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
