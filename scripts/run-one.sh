#!/bin/sh
# SPDX-License-Identifier: MIT
# run-one.sh DIR N SECONDS: run the test command in DIR/N.sh with a time
# limit; output to DIR/N.out and N.err; print "N status milliseconds".
# status is the exit code, "timeout", or "left" when processes stayed behind.
# Whatever the test started is found by a mark in its environment, which also
# marks ranks started by mpirun in process groups of their own.
dir=$1 n=$2 limit=$3
mark="DTREPL_TEST_JOB=$dir/$n"
start=$(date +%s%N)
env "$mark" timeout -k 5 "$limit" sh "$dir/$n.sh" \
  </dev/null >"$dir/$n.out" 2>"$dir/$n.err"
status=$?
[ $status = 124 ] && status=timeout

survivors () {
  grep -lszxF "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}
tries=0
left=$(survivors)
while [ -n "$left" ] && [ $tries -lt 20 ]; do   # two seconds to go away
  sleep 0.1
  tries=$((tries + 1))
  left=$(survivors)
done
if [ -n "$left" ]; then
  for pid in $left; do
    echo "left behind: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")" \
      >>"$dir/$n.err" 2>/dev/null
  done
  kill -KILL $left 2>/dev/null
  [ $status = timeout ] || status=left
fi
end=$(date +%s%N)
echo "$n $status $(((end - start) / 1000000))"
