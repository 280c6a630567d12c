-- TEST: ranks=1 needs=data tags=quick,one_thread
-- SPDX-License-Identifier: MIT
-- What help pages say that a function takes is what PyTorch's takes: the Python
-- page shows PyTorch's own signature, and the keywords and defaults that the page
-- of Lua shows are among its parameters (facts of PyTorch:
-- lua/repl/help/signatures.lua).

local T = require "tests.lua.lib.check"
local pages = require "repl.pages"

-- Keywords of the library's own, which PyTorch has not: {page = words}.
local own = {
  zeros = "device",                     -- torch.zeros has it, the page is on both
  ["library.define"] = "impl meta backward",    -- PyTorch: functions of their own
  ["spmd.assert_type"] = "axis",        -- a mesh's dimension by its name
  ["torch.distributed.checkpoint.async_save"] = "checkpoint_id",
  ["torch.utils.checkpoint.checkpoint"] = "use_reentrant",      -- what to write
}
-- Defaults that are written otherwise and mean the same.
local same = {}
for a, b in ("sum=SUM none=None nil=None"):gmatch("(%S+)=(%S+)") do same[a] = b end

-- "a, b=1, *, c=(0.9, 0.999)" -> {a = "", b = "1", c = "(0.9, 0.999)"}, open?
local function parameters(text)
  local out, open = {}, false
  text = text:gsub("%b()", function (s) return (s:gsub(",", "\1")) end)
    :gsub("%b[]", function (s) return (s:gsub(",", "\1")) end)
  for word in (text .. ","):gmatch("%s*(.-)%s*,") do
    local name, default = word:match("^([%a_][%w_]*)=?(.*)$")
    if name then out[name] = default:gsub("\1", ",") end
    open = open or word:find("^%*%*") ~= nil
  end
  return out, open
end

local function plain(text)
  text = text:gsub("^{(.*)}$", "(%1)"):gsub("[\"']", ""):gsub("^ReduceOp%.", "")
  local a, b = text:match("^(%d+)/(%d+)$")
  text = text:lower()
  local n = a and a / b or tonumber(text)
  return n and n + 0.0 or same[text] or text
end

local compared, wrong = 0, {}
for _, name in ipairs(pages.names()) do
  local takes = pages.signature(name)
  local call = pages.call(name):match("^[%w_.:]+(%b())$")
  if takes and call then
    local known, open = parameters(takes)
    call = call:gsub("%b\"\"", function (s) return (s:gsub(",", "\1")) end)
    for key, value in call:gmatch("([%a_][%w_]*) ?= ?([^,})]*)") do
      compared = compared + 1
      local default = known[key]
      value = value:gsub("%s+$", "")
      local owns = (own[name] or ""):find(key, 1, true) or key:find("^_")
      if owns then
        default = nil
      elseif not default and not open then
        wrong[#wrong + 1] = ("%s has no %s"):format(name, key)
      end
      if default and default ~= "" and value ~= "" and value ~= "…"
          and default ~= "..." and plain(value) ~= plain(default)
          and not value:find("^[{(]") then
        wrong[#wrong + 1] = ("%s: %s is %s, not %s"):format(name, key, default, value)
      end
    end
  end
end
T.ok(compared > 300, "enough were compared: " .. compared)
T.eq(table.concat(wrong, "\n"), "", "keywords and defaults")
T.eq((pages.page("nn.Linear", true):match("^[^\n]*")),
  "nn.Linear(in_features, out_features, bias=True, device=None, dtype=None)",
  "PyTorch's own signature")
T.has(pages.page("distributed.all_reduce", true) or "", "tensor, op=",
  "of a collective")
T.ok(#pages.calls() > 900, "what the script that asks PyTorch is given")
T.finish()
