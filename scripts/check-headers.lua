-- SPDX-License-Identifier: MIT
-- check-headers.lua: every public prototype has a comment above it, and a
-- kind word stands in it: Pure, Local, Collective or Agreed.  A run of
-- prototypes below one comment, without an empty line, shares it.  A header
-- whose opening comment says "All functions here are Local" (or another kind)
-- needs no more.  Headers ending in _int.h are private and exempt.

local kinds = {"Pure", "Local", "Collective", "Agreed"}
local bad, seen = 0, 0

-- A prototype begins in column 0 with a type, then `dt_name (`.
local function prototype(line)
  if line:find("^static") or line:find("^typedef") or line:find("^#") or
     line:find("^%s") or line:find("^%*") then
    return nil
  end
  return line:match("^[%a_][%w_%s%*]*[%s%*](dtL?_[%w_]+) ?%(") or
    line:match("^[%a_][%w_%s%*]*[%s%*](dtL_[%w_]+) ?%(")
end

local function has_kind(text)
  for _, k in ipairs(kinds) do
    if text:find("%f[%w]" .. k .. "%f[%W]") then return true end
  end
  return false
end

-- Comment of the whole file: its kind word covers all prototypes when it
-- says "All functions ... are Pure" or the like.
local function default_kind(text)
  local head = text:match("/%*.-%*/") or ""
  return head:find("All functions") and has_kind(head)
end

local function check(path)
  local f = assert(io.open(path))
  local text = f:read("a")
  f:close()
  local covered = default_kind(text)
  local comment, inside, n = nil, false, 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    n = n + 1
    if inside then
      comment = comment .. " " .. line
      if line:find("%*/") then inside = false end
    elseif line:find("^/%*") then
      comment = line
      inside = not line:find("%*/")
    elseif line:find("^%s*$") then
      comment = nil
    else
      local name = prototype(line)
      if name then
        seen = seen + 1
        if not comment and not covered then
          bad = bad + 1
          print(("%s:%d: %s: no comment"):format(path, n, name))
        elseif not covered and not has_kind(comment) then
          bad = bad + 1
          print(("%s:%d: %s: no kind word (%s)"):format(path, n, name,
            table.concat(kinds, ", ")))
        end
      end
    end
  end
end

local p = assert(io.popen("ls src/*/*.h 2>/dev/null"))
for path in p:lines() do
  if not path:find("_int%.h$") then check(path) end
end
p:close()
print(("%d prototypes, %d violations"):format(seen, bad))
os.exit(bad == 0 and seen > 0 and 0 or 1)
