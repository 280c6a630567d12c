-- SPDX-License-Identifier: MIT
-- gen-docs.lua BUILD [--check]: the tables as Markdown in BUILD/docs, and in
-- the marked sections of README.md:
--   <!-- begin NAME (generated) --> ... <!-- end NAME -->
-- --check only compares, and names the command that repairs a difference.
--
-- .def files are X-macro rows, X(a, "b", ...); every string and word between
-- the commas is a cell.  The operators come from the program itself, where
-- their definitions already are a table.

local build = arg[1] or "build"
local check = arg[2] == "--check"

local function read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local s = f:read("a")
  f:close()
  return s
end

-- The cells of one row: strings unquoted and joined, words as they are.
local function cells(row)
  local list, cell, i = {}, "", 1
  local depth = 0
  while i <= #row do
    local c = row:sub(i, i)
    if c == '"' then
      local text, stop = "", i + 1
      while row:sub(stop, stop) ~= '"' do
        if row:sub(stop, stop) == "\\" then stop = stop + 1 end
        text = text .. row:sub(stop, stop)
        stop = stop + 1
      end
      cell, i = cell .. text, stop
    elseif c == "," and depth == 0 then
      list[#list + 1] = cell
      cell = ""
    elseif not c:find("%s") or cell:find("%w$") and not cell:find("%s$") then
      if c == "(" then depth = depth + 1 elseif c == ")" then
        depth = depth - 1 end
      cell = cell .. (c:find("%s") and " " or c)
    end
    i = i + 1
  end
  list[#list + 1] = cell
  return list
end

-- Rows X(...) of .def files that share their columns; nil when the first is
-- not there.
local function rows_of(paths)
  local text = ""
  for path in paths:gmatch("%S+") do
    local part = read(path)
    if not part then return nil end
    text = text .. part:gsub("/%*.-%*/", "")
  end
  local rows = {}
  for row in ("\n" .. text):gmatch("\n%s*[A-Z_]+(%b())") do
    rows[#rows + 1] = cells(row:sub(2, -2))
  end
  return rows
end

local function markdown(head, rows)
  local out = {"| " .. table.concat(head, " | ") .. " |",
    "|" .. ("---|"):rep(#head)}
  for _, r in ipairs(rows) do
    local line = {}
    for i = 1, #head do
      line[i] = ((r[i] or ""):gsub("|", "\\|"):gsub("%s+$", ""))
    end
    out[#out + 1] = "| " .. table.concat(line, " | ") .. " |"
  end
  return table.concat(out, "\n") .. "\n"
end

-- Column names from the opening comment's X(NAME, "id", ...).
local function head_of(path, n)
  local comment = read(path:match("%S+")):match("/%*.-%*/"):gsub("\n%*%* *", " ")
  local spec = comment:match("X(%b())")
  local head = spec and cells(spec:sub(2, -2)) or {}
  for i = #head + 1, n do head[i] = "" end
  return head
end

local function program(options)
  local p = io.popen(build .. "/dtrepl " .. options .. " 2>/dev/null")
  local s = p:read("a")
  return p:close() and s ~= "" and s or nil
end

local docs = {}
for _, d in ipairs{{"errors", "src/base/errors.def " ..
    "src/base/errors_shard.def src/base/errors_comm.def " ..
    "src/base/errors_tool.def"},
    {"events", "src/engine/events.def"}, {"profiles",
    "src/compat/profiles.def"}, {"devices", "src/compat/devices.def"},
    {"dtypes", "src/tensor/dtypes.def"}} do
  local rows = rows_of(d[2])
  if rows and #rows > 0 then
    local width = 0
    for _, r in ipairs(rows) do width = math.max(width, #r) end
    docs[d[1]] = markdown(head_of(d[2], width), rows)
  end
end
local options = program("--help")
if options then docs.options = "```text\n" .. options .. "```\n" end

-- Sections of the README.
local readme = read("README.md") or ""
local fresh = readme:gsub(
  "(<!%-%- begin (%w+) %(generated%) %-%->\n)(.-)(<!%-%- end %2 %-%->)",
  function (open, name, _, close)
    if not docs[name] then return nil end
    return open .. docs[name] .. close
  end)

if check then
  if fresh ~= readme then
    print("README.md: a generated section is stale; run: make docs")
    os.exit(1)
  end
  print("README.md: generated sections are fresh")
  os.exit(0)
end
os.execute("mkdir -p " .. build .. "/docs")
local names = {}
for name in pairs(docs) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local f = assert(io.open(build .. "/docs/" .. name .. ".md", "wb"))
  f:write("# ", name, "\n\n", docs[name])
  f:close()
end
if fresh ~= readme then
  local f = assert(io.open("README.md", "wb"))
  f:write(fresh)
  f:close()
end
print("wrote " .. #names .. " files to " .. build .. "/docs")
