-- SPDX-License-Identifier: MIT
-- dt/across/show.lua: what differs between two runs, as text and as JSON.

local json = require "dt.io.json"

local M = {}

local function pad(s, n) return s .. (" "):rep(n - #s) end

-- Differences (compare.lua) of the runs a and b, and their totals.
function M.as_text(out, list, a, b, ta, tb)
  local ra, rb = a.release, b.release
  local wide = math.max(#ra, #rb, 4) + 2
  if #list == 0 then
    out:write(("%s and %s: nothing differs\n"):format(ra, rb))
  else
    out:write(("%s and %s: %d %s, the first at %s\n"):format(ra, rb, #list,
      #list == 1 and "difference" or "differences", list[1].at))
  end
  if a.error and a.error == b.error then
    out:write("both end with ", a.error, "\n")
  end
  local at
  for _, d in ipairs(list) do
    local head = d.at .. (d.op and "  " .. d.op or "")
    if head ~= at then out:write("\n", head, "\n") end
    at = head
    out:write("  ", d.what, d.count > 1 and (" (%d times)"):format(d.count)
      or "", "\n    ", pad(ra, wide), d[1], "\n    ", pad(rb, wide), d[2], "\n")
  end
  out:write("\n", pad("", 18), pad(ra, 12), rb, "\n")
  for _, k in ipairs {"operators", "redistributions", "collectives", "bytes"} do
    out:write(pad(k, 18), pad(tostring(ta[k]), 12), tostring(tb[k]), "\n")
  end
end

local function object(t, keys)
  local out = {}
  for i, k in ipairs(keys) do out[i] = {k, t[k]} end
  return json.object(out)
end

function M.as_json(out, list, a, b, ta, tb)
  local rows, keys = {}, {"operators", "redistributions", "collectives", "bytes"}
  for i, d in ipairs(list) do
    rows[i] = json.object {{"at", d.at}, {"what", d.what}, {"op", d.op or ""},
      {a.release, d[1]}, {b.release, d[2]}, {"count", d.count}}
  end
  out:write(json.encode(json.object {{"differs", #list > 0},
    {"differences", rows},
    {"totals", json.object {{a.release, object(ta, keys)},
      {b.release, object(tb, keys)}}}}), "\n")
end

return M
