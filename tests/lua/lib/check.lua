-- SPDX-License-Identifier: MIT
-- lib/check.lua: counting checks of values, texts and errors.  finish() prints
-- the counts and leaves with 1 when one failed.

local M = {passed = 0, failed = 0}

local function text(v)
  if type(v) == "string" then return ("%q"):format(v) end
  return tostring(v)
end

function M.ok(cond, what)
  if cond then M.passed = M.passed + 1 return true end
  M.failed = M.failed + 1
  local at = debug.getinfo(2, "Sl")
  print(("FAILED %s (%s:%d)"):format(what, at.short_src, at.currentline))
  return false
end

function M.eq(got, want, what)
  if got == want then M.passed = M.passed + 1 return true end
  M.failed = M.failed + 1
  local at = debug.getinfo(2, "Sl")
  print(("FAILED %s (%s:%d)\n  got  %s\n  want %s"):format(what, at.short_src,
    at.currentline, text(got), text(want)))
  return false
end

-- Does `text` contain `part`, as it is?
function M.has(whole, part, what)
  if tostring(whole):find(part, 1, true) then
    M.passed = M.passed + 1
    return true
  end
  M.failed = M.failed + 1
  local at = debug.getinfo(2, "Sl")
  print(("FAILED %s (%s:%d)\n  %s\n  lacks %s"):format(what, at.short_src,
    at.currentline, text(tostring(whole)), text(part)))
  return false
end

-- f() must raise an error object of which `key` is `value` and whose message
-- contains `part`; returns the object.
local function expect(key, value, part, f, ...)
  local ok, e = pcall(f, ...)
  local at = debug.getinfo(3, "Sl")
  local where = ("%s:%d"):format(at.short_src, at.currentline)
  if not ok and type(e) == "table" and e[key] == value
     and tostring(e.message):find(part, 1, true) then
    M.passed = M.passed + 1
    return e
  end
  M.failed = M.failed + 1
  local got = ok and "no error"
    or type(e) ~= "table" and "no error object: " .. tostring(e)
    or ("%s: %s"):format(e[key], e.message)
  print(("FAILED at %s\n  got  %s\n  want %s: … %s …"):format(where, got, value,
    part))
  return type(e) == "table" and e or {}
end

-- An error of a code (DT0101), of a class (ValueError).
function M.raises(code, part, f, ...)
  local e = expect("code", code, part, f, ...)
  return e
end
function M.throws(class, part, f, ...)
  local e = expect("class", class, part, f, ...)
  return e
end

-- All numbers of two tensors (or tables) equal within tol (default: exactly)?
function M.close(a, b, what, tol)
  local x = type(a) == "table" and a or dt.testing.numbers(a)
  local y = type(b) == "table" and b or dt.testing.numbers(b)
  local same = #x == #y
  for i = 1, same and #x or 0 do
    local d = math.abs(x[i] - y[i])
    same = same and d <= (tol or 0) * (1 + math.abs(y[i]))
  end
  if same then M.passed = M.passed + 1 return true end
  M.failed = M.failed + 1
  local at = debug.getinfo(2, "Sl")
  print(("FAILED %s (%s:%d)\n  got  %s\n  want %s"):format(what, at.short_src,
    at.currentline, table.concat(x, " ", 1, math.min(#x, 32)),
    table.concat(y, " ", 1, math.min(#y, 32))))
  return false
end

function M.finish()
  print(("%d passed, %d failed"):format(M.passed, M.failed))
  if M.failed > 0 then os.exit(1) end
end

return M
