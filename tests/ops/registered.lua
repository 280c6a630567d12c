-- TEST: ranks=1 world=threads args=--trust torch=2.13
-- SPDX-License-Identifier: MIT
-- An overload that PyTorch has no sharding rule or strategy for must have
-- none here either, or a refusal would be missed: the reverse of what
-- `dtrepl parity` checks with registry/ops.jsonl.

local S = require "tests.ops.lib.samples"
local dir = os.getenv("DT_PARITY_DIR") or "tests/parity/2.13"

local known, lines = {}, 0
for _, file in ipairs {"ops", "ops_context_parallel", "ops_loss_parallel"} do
  for line in io.lines(("%s/registry/%s.jsonl"):format(dir, file)) do
    local name = line:match('"op": ?"([^"]+)"')
    known[name or line] = true
    lines = lines + 1
  end
end
assert(lines > 1000, "the registry was not read")

-- These answer with a number.  PyTorch takes them apart before it asks for a
-- strategy; what they are placed by is _local_scalar_dense's.
known["aten.item.default"] = true
known["aten.is_nonzero.default"] = true

local extra = {}
for _, item in ipairs(S.all()) do
  local i = item.info
  if (i.decided_by == "rules" or i.decided_by == "strategy")
     and not known[i.name] then
    extra[#extra + 1] = ("%s: %s"):format(i.name, i.decided_by)
  end
end
if #extra > 0 then
  error("sharded here, but not in PyTorch:\n" .. table.concat(extra, "\n"), 0)
end
