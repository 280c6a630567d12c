-- SPDX-License-Identifier: MIT
-- watched.lua: run a script with findings and the comparison with one device.

-- watched(f) -> did it end, its error, the operators that were wrong, findings
local function watched(f)
  dt.debug.findings_clear()
  dt.debug.verify("on")
  local ok, e = pcall(f)
  local d = dt.debug.verify()
  local wrong = {}
  for _, v in ipairs(d.list) do
    if v.verdict == "wrong" then wrong[#wrong + 1] = v end
  end
  dt.debug.verify("off")
  return ok, e, wrong, dt.debug.findings()
end

return watched
