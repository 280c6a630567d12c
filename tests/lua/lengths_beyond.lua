-- TEST: ranks=1 world=threads needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Lengths whose sum, and numbers of bins whose successor, are beyond the
-- largest integer: errors, not labels read from where there are none.

local most = math.maxinteger
local function fails(what, f, ...)
  local ok, e = pcall(f, ...)
  if ok then error(what .. ": no error", 2) end
  return tostring(e)
end

local steps = {3, 3, 3, 3}
local log_probs = dt.zeros(3, 4, 5)
local none = dt.zeros(0, {dtype = "int64"})
local lists = {                 -- their sums, cut to 64 bits, are 0
  {most, most, 1, 1}, {most, 1, most, 1}
}
for _, labels in ipairs(lists) do
  local e = fails("ctc_loss", dt._ctc_loss, log_probs, none, steps, labels)
  assert(e:find("'targets'", 1, true), e)
  e = fails("its gradient", dt._ctc_loss_backward, dt.ones(4), log_probs, none,
            steps, labels, dt.ones(4), dt.ones(4, 3, 9), 0)
  assert(e:find("'targets'", 1, true), e)
end

for _, type in ipairs { "float32", "uint8" } do
  fails("histogram", dt.histogram, dt.ones(4, {dtype = type}), most)
end
