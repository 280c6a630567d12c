#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=240
# Ranks on two hosts: network namespaces with a cable between them, and names
# of their own, so that MPI takes them for two machines.  The same numbers as
# on one host, lines at the prompt, divergence and death told across.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
MPIRUN=${MPIRUN:-mpirun}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
skip () { echo "SKIP: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "hosts of namespaces are made by root only"
command -v ip >/dev/null 2>&1 ||
  skip "no program ip (Debian: apt-get install iproute2)"
command -v unshare >/dev/null 2>&1 || skip "no program unshare"

tmp=$(mktemp -d) || exit 1
a=dta$$ b=dtb$$
trap 'ip netns del $a 2>/dev/null; ip netns del $b 2>/dev/null
  rm -rf "$tmp"' EXIT
{ ip netns add $a && ip netns add $b &&
  ip -n $a link add v0 type veth peer name v0 netns $b &&
  ip -n $a addr add 10.77.0.1/24 dev v0 &&
  ip -n $b addr add 10.77.0.2/24 dev v0 &&
  ip -n $a link set lo up && ip -n $b link set lo up &&
  ip -n $a link set v0 up && ip -n $b link set v0 up &&
  ip netns exec $a unshare -u true; } >"$tmp/made" 2>&1 ||
  skip "no network namespaces here: $(head -n 1 "$tmp/made")"

# In place of ssh: the second argument on, on the other host.
cat >"$tmp/agent" <<EOF
#!/bin/sh
shift
exec ip netns exec $b unshare -u sh -c "hostname $b; \$*"
EOF
chmod +x "$tmp/agent"

# hosts N ARGUMENT...: dtrepl on N ranks of each host.
hosts () {
  n=$1; shift
  ip netns exec $a unshare -u sh -c 'hostname "$0"; exec "$@"' $a \
    timeout 100 "$MPIRUN" --mca plm_rsh_agent "$tmp/agent" \
    --mca btl_tcp_if_include v0 --mca oob_tcp_if_include v0 \
    --oversubscribe --host "$a:$n,10.77.0.2:$n" -n $((2 * n)) "$DTREPL" "$@"
}

passed=0 failed=0
# has NAME TEXT: TEXT in what the last command said.
has () {
  if printf '%s' "$got" | grep -qF -- "$2"; then
    passed=$((passed + 1)); echo "ok - $1"
  else
    failed=$((failed + 1)); echo "not ok - $1"
    printf '%s\n' "$got" | head -n 15 | sed 's/^/    > /'
  fi
}
cd "$here" || exit 1

cat >"$tmp/one.lua" <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2, 2},
  {mesh_dim_names = {"dp", "tp"}})
local x = dt.distribute_tensor(dt.randn(40, 40), mesh, "S(0) S(1)")
local y = x:matmul(dt.distribute_tensor(dt.randn(40, 8), mesh, "R S(0)"))
print(("%.17g %.17g"):format(y:full_tensor():sum():item(),
  x:full_tensor():abs():sum():item()))
EOF
one=$(timeout 100 "$MPIRUN" --oversubscribe -n 4 "$DTREPL" "$tmp/one.lua" 2>&1 |
  head -n 1)
got=$(hosts 2 "$tmp/one.lua" 2>&1 </dev/null)
has "the numbers of one host" "$one"

got=$(hosts 2 --trust tests/lua/collectives.lua 2>&1 </dev/null)
has "all collectives" " 0 failed"

# A large message is under way while its sender waits in a collective that
# the receiver enters after it: it moves all the same.
cat >"$tmp/isend.lua" <<'EOF'
local m = dt.init_device_mesh("cpu", {4})
local x = dt.distribute_tensor(dt.ones(8), m, "S(0)")
local big, work = dt.full({1 << 21}, dt.rank() + 1.0), nil
if dt.rank() == 2 then work = dt.distributed.isend(big, 0) end
if dt.rank() == 0 then dt.distributed.recv(big, 2) end
local total = x:full_tensor():sum():item()
if work then work:wait() end
if dt.rank() == 0 then print("received", big[-1]:item(), total) end
EOF
got=$(hosts 2 "$tmp/isend.lua" 2>&1 </dev/null)
has "a large message whose sender is in a collective" "received	3.0	8.0"

cat >"$tmp/lines" <<'EOF'
m = dt.init_device_mesh("cpu", {4})
x = dt.distribute_tensor(dt.arange(8), m, "S(0)")
if dt.rank() == 3 then x:full_tensor() end
print("sum", x:full_tensor():sum():item())
EOF
got=$(hosts 2 -q - 2>&1 <"$tmp/lines")
has "divergence between hosts" "DT0502"
has "who did what" "rank 3: waiting in all_gather_into_tensor"

cat >"$tmp/error.lua" <<'EOF'
local m = dt.init_device_mesh("cpu", {4})
local x = dt.distribute_tensor(dt.ones(8), m, "S(0)")
if dt.rank() == 2 then error "only here" end
x:full_tensor()
EOF
got=$(hosts 2 "$tmp/error.lua" 2>&1 </dev/null)
has "an error on the other host" "only here"
has "and the ranks that waited" "rank 2: ended the chunk with an error"

cat >"$tmp/die.lua" <<'EOF'
local m = dt.init_device_mesh("cpu", {4})
local x = dt.distribute_tensor(dt.ones(8), m, "S(0)")
if dt.rank() == 3 then os.execute "kill -9 $PPID" end
x:full_tensor()
EOF
got=$(hosts 2 --trust "$tmp/die.lua" 2>&1 </dev/null)
has "a death on the other host" "rank 3"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
