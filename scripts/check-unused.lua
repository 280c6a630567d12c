-- SPDX-License-Identifier: MIT
-- check-unused.lua: what nobody uses in lua/.  A function that a module gives
-- out is named somewhere else in lua or src, a local function or a local at the
-- margin somewhere else in its file.  Read from the text: a name that is also
-- another's counts as used, so this finds less than there is.

-- Modules whose functions are looked up by names that programs write.
local by_name = {
  ["lua/python/text.lua"] = true,       -- methods of str
  ["lua/dt/cp/init.lua"] = true,        -- names of torch's modules
}

local function read(path)
  local f = assert(io.open(path, "rb"))
  local s = f:read("a")
  f:close()
  return s
end

local function files(where)
  local list = {}
  local p = assert(io.popen("find " .. where .. " | LC_ALL=C sort"))
  for path in p:lines() do list[#list + 1] = path end
  p:close()
  return list
end

local function count_words(text, counts)
  for word in text:gmatch("[%a_][%w_]*") do
    counts[word] = (counts[word] or 0) + 1
  end
  return counts
end

local function without_comments(text) return (text:gsub("%-%-[^\n]*", "")) end

local modules = files "lua -name '*.lua' ! -path 'lua/examples/*'"
local everywhere, texts = {}, {}
for _, path in ipairs(modules) do
  texts[path] = without_comments(read(path))
  count_words(texts[path], everywhere)
end
for _, path in ipairs(files "src -name '*.[ch]' -o -name '*.ops'") do
  count_words(read(path), everywhere)
end

local bad = 0
local function complain(path, name)
  bad = bad + 1
  print(("%s: nobody uses %s"):format(path, name))
end

for _, path in ipairs(modules) do
  local own = count_words(texts[path], {})
  local text = texts[path]:gsub("%[%[.-%]%]", "")     -- programs in texts
  for name in text:gmatch("\nfunction M[.:]([%w_]+)") do
    if everywhere[name] == 1 and not by_name[path] then complain(path, name) end
  end
  for _, form in ipairs{"\nlocal function ([%w_]+)", "\nlocal ([%w_]+) [^\n]*="} do
    for name in text:gmatch(form) do
      if own[name] == 1 then complain(path, name) end
    end
  end
end
os.exit(bad == 0 and 0 or 1)
