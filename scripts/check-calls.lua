-- SPDX-License-Identifier: MIT
-- check-calls.lua: who calls whom in src.  Two laws:
-- Inside a module calls go one way.  Files that call each other in a circle
-- are named below: short ones are one thought in several files, long ones are
-- debts, from which a file is taken out when its calls go one way.
-- A public function has a caller in another file of src.  Those that have none
-- are named below: some exist for tests, the rest should be static.
-- Read from the text, so that it needs no build: a definition begins at the
-- margin and has a space before its parenthesis, as .clang-format makes it.

-- module = circles, each the files (without .c) that may call each other.
-- The lists only shrink.
local circles = {
  base = {
    "buf error mem",
  },
  bind = {
    "box field l_error l_raised names",
    "l_nested open",
  },
  comm = {
    "comm p2p",
  },
  debug = {
    "bp bp_read control",
    "autopsy debug doctor record repair repair_mesh repair_move verify " ..
      "verify_cause verify_replay verify_torn",
  },
  diag = {
    "claims diag rules_adjoint rules_answer rules_batch rules_capped " ..
      "rules_clamped rules_comm rules_copies rules_cut rules_dealt " ..
      "rules_deviation rules_drift rules_factors rules_graph rules_groups " ..
      "rules_lag rules_local rules_loss rules_lost rules_master " ..
      "rules_meet rules_mem rules_meter rules_noise rules_order rules_p2p " ..
      "rules_part rules_perm rules_picked rules_result rules_rows " ..
      "rules_scattered rules_shards rules_share rules_shuffled " ..
      "rules_stale rules_state rules_steps rules_tied rules_total rules_train " ..
      "rules_units rules_unread rules_whole",
  },
  engine = {
    "argminmax autograd call coll conv dispatch dist dist_grad event " ..
      "gradcall handlers local marks mask move node packing random redist resized " ..
      "saving sdpa session slices unwrap var wrap",
  },
  kernel = {
    "copy pointwise",
  },
  parity = {
    "compare read",
  },
  repl = {
    "cmd cmd_files cmd_record cmd_session cmd_user complete complete_arg " ..
      "help near repl repl_addr repl_co repl_editor repl_eval repl_json " ..
      "repl_keep repl_names repl_slips repl_stop repl_write",
    "main repl_start",
  },
  shard = {
    "cost plan plan_graph",
    "cache decomp expand prop result rule select strategy tuple twin " ..
      "user why",
  },
}

-- Public functions without a caller in another file of src.
local alone = {
  "dtL_call_op dtL_control_open dtL_load_embed " ..
  "dtL_push_results dt_board_procstate dt_comm_fault dt_comm_open_mpi " ..
  "dt_cost_local_gb dt_diag_along dt_diag_claims dt_diag_judge " ..
  "dt_dispatch_specs dt_dispatch_text dt_f32_to_f8e4m3 " ..
  "dt_f32_to_f8e5m2 dt_f8e4m3_to_f32 dt_f8e5m2_to_f32 dt_fold_name dt_glob " ..
  "dt_greedy_shapes dt_line_open_plain dt_map_del_str dt_mats_triangle " ..
  "dt_mesh_flat_named dt_mesh_own_name dt_mesh_pos " ..
  "dt_parity_run dt_philox dt_plan_ref dt_planner_warning " ..
  "dt_rng_normal dt_rng_uniform_f32 dt_schema_fits " ..
  "dt_sheet_in dt_spec_valid dt_specs_free dt_unwrap_arg_of dt_value_hash " ..
  "op_g_sum_to"
}

local bad = 0
local function complain(path, ...)
  bad = bad + 1
  print(path .. ": " .. table.concat({...}, " "))
end

-- What a list here need not hold any more.
local function note(...)
  print("scripts/check-calls.lua: take out: " .. table.concat({...}, " "))
end

-- The text without comments and strings, line breaks kept.
local function code_of(path)
  local f = assert(io.open(path, "rb"))
  local s = f:read("a")
  f:close()
  s = s:gsub("/%*.-%*/", function (c) return c:gsub("[^\n]", "") end)
  s = s:gsub("//[^\n]*", "")
  s = s:gsub("\\.", ""):gsub('"[^"\n]*"', '""'):gsub("'[^'\n]*'", "''")
  return s
end

local files = {}                -- of all: {path, module, name, uses = {name}}
local pasted = {}               -- beginnings of names that macros complete
local owner = {}                -- public function = its file

local function defines(file, text)
  for head, name, rest in ("\n" .. text):gmatch(
      "\n([%a_][^\n;{}()]-)([%a_][%w_]*) (%b()[^;{]*[;{])") do
    if rest:sub(-1) == "{" and not head:find("^static") and
       not head:find("^typedef") and head:find("%S") then
      owner[name] = owner[name] or file
    end
  end
end

local p = assert(io.popen("ls src/*/*.c src/*/*.h src/*/*.def"))
for path in p:lines() do
  local module, name, kind = path:match("^src/([^/]+)/(.+)%.(%w+)$")
  local file = {path = path, module = module, name = name, kind = kind,
    uses = {}}
  local text = code_of(path)
  for word in text:gmatch("[%a_][%w_]*") do file.uses[word] = true end
  for word in text:gmatch("([%a_][%w_]*_)%s*##") do pasted[#pasted + 1] = word end
  if kind == "c" then defines(file, text) end
  files[#files + 1] = file
end
p:close()

-- ---- public functions without a caller elsewhere ----

-- Headers declare and do not call, unless a macro or an inline function does;
-- tables (.def) are read by the file that includes them.
local function called_elsewhere(name, file)
  for _, f in ipairs(files) do
    if f ~= file and f.kind ~= "h" and f.uses[name] then return true end
  end
  for _, prefix in ipairs(pasted) do
    if name:sub(1, #prefix) == prefix then return true end
  end
  return false
end

local function inline_use(name)
  for _, f in ipairs(files) do
    if f.kind == "h" and f.uses[name] then
      local n = 0
      for _ in code_of(f.path):gmatch("%f[%w_]" .. name .. "%f[^%w_]") do
        n = n + 1
      end
      if n > 1 then return true end
    end
  end
  return false
end

local function check_alone()
  local names, known = {}, {}
  for name in table.concat(alone, " "):gmatch("%S+") do known[name] = true end
  for name, file in pairs(owner) do
    if name ~= "main" and not called_elsewhere(name, file)
       and not inline_use(name) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    if not known[name] then
      complain(owner[name].path, "no caller in another file:", name)
    end
    known[name] = nil
  end
  for name in pairs(known) do
    note("has a caller, or is gone:", name)
  end
end

-- ---- circles ----

-- edges[file name] = {callee's file name = a function}
local function edges_of(module)
  local edges = {}
  for _, f in ipairs(files) do
    if f.module == module and f.kind == "c" then
      edges[f.name] = {}
      for name in pairs(f.uses) do
        local to = owner[name]
        if to and to.module == module and to ~= f then
          edges[f.name][to.name] = name
        end
      end
    end
  end
  return edges
end

-- Tarjan's strongly connected components.
local function components(edges)
  local index, low, open, stack, n, out = {}, {}, {}, {}, 0, {}
  local function visit(v)
    n = n + 1
    index[v], low[v] = n, n
    stack[#stack + 1], open[v] = v, true
    for w in pairs(edges[v]) do
      if not index[w] then
        visit(w)
        low[v] = math.min(low[v], low[w])
      elseif open[w] then
        low[v] = math.min(low[v], index[w])
      end
    end
    if low[v] ~= index[v] then return end
    local c = {}
    repeat
      local w = table.remove(stack)
      open[w] = nil
      c[#c + 1] = w
    until w == v
    table.sort(c)
    if #c > 1 then out[#out + 1] = c end
  end
  local names = {}
  for v in pairs(edges) do names[#names + 1] = v end
  table.sort(names)
  for _, v in ipairs(names) do
    if not index[v] then visit(v) end
  end
  return out
end

local function words(s)
  local set = {}
  for w in s:gmatch("%S+") do set[w] = true end
  return set
end

-- The named circle that holds all of c, taken out of the list; else nil.
local function named(module, c)
  for i, text in ipairs(circles[module] or {}) do
    local set, fits = words(text), true
    for _, v in ipairs(c) do fits = fits and set[v] end
    if fits then
      for _, v in ipairs(c) do set[v] = nil end
      if next(set) then
        note("no longer in this circle:", (next(set)))
      end
      circles[module][i] = ""
      return true
    end
  end
end

local function check_circles(module)
  for _, c in ipairs(components(edges_of(module))) do
    if not named(module, c) then
      complain("src/" .. module, "files call each other:",
        table.concat(c, " "))
    end
  end
  for _, text in ipairs(circles[module] or {}) do
    if text ~= "" then
      note("no circle any more:", text)
    end
  end
end

check_alone()
local seen = {}
for _, f in ipairs(files) do
  if not seen[f.module] then
    seen[f.module] = true
    check_circles(f.module)
  end
end
print(("%d files, %d violations"):format(#files, bad))
os.exit(bad == 0 and #files > 0 and 0 or 1)
