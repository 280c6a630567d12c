-- SPDX-License-Identifier: MIT
-- torch/dcp_trace.lua: the traceback that PyTorch prints inside a
-- CheckpointException: where in its planners a save or a load fails.  A fact
-- of each release, as its texts are; people search for these lines.

local M = {}

-- {file, line, function, the source line}; « » is what Python underlines.
-- What moved or is written otherwise: {before, since the release MOVED}.
local MOVED = 14
local COMMON = {
  {"distributed/checkpoint/utils.py", {193, 194}, "reduce_scatter",
    "local_data = «map_fun()»"},
  {"distributed/checkpoint/logger.py", 90, "wrapper",
    "result = «func(*args, **kwargs)»"},
}
local LOAD = {
  {"distributed/checkpoint/state_dict_loader.py", 281, "local_step",
    "local_plan = «planner.create_local_plan()»"},
  {"distributed/checkpoint/default_planner.py", {372, 373}, "create_local_plan",
    "return «create_default_local_load_plan(»"},
}
local SAVE = {
  {"distributed/checkpoint/state_dict_saver.py", 471, "local_step",
    "local_plan = «planner.create_local_plan()»"},
  {"distributed/checkpoint/default_planner.py", {108, 109}, "create_local_plan",
    "plan = «create_default_local_save_plan(self.state_dict, "
    .. "self.is_coordinator)»"},
}

local function load_plan(line, text)
  return {"distributed/checkpoint/default_planner.py", line,
    "create_default_local_load_plan", text}
end

-- By phase, then by how the message begins: the steps, one list after another.
local PLACES = {
  load = {
    ["Missing key"] = {LOAD, {load_plan({495, 496},
      'raise RuntimeError(f"Missing key in checkpoint state_dict: {fqn}.")')}},
    ["Size mismatch"] = {LOAD, {load_plan({505, 511}, "raise ValueError(")}},
    ["Invalid checkpoint metadata"] = {LOAD, {
      load_plan({514, 520}, "requests += «_create_read_items(fqn, md, obj)»"),
      {"distributed/checkpoint/planner_helpers.py", {444, 479}, "_create_read_items",
        "raise ValueError("}}},
    ["metadata is None"] = {{
      {"distributed/checkpoint/state_dict_loader.py", 265, "local_step",
        'raise AssertionError("; ".join(error_parts))'}}},
  },
  save = {
    ["Checkpoint already exists"] = {{
      {"distributed/checkpoint/state_dict_saver.py", 472, "local_step",
        "local_plan = «storage_writer.prepare_local_plan(local_plan)»"},
      {"distributed/checkpoint/filesystem.py", {662, 666}, "prepare_local_plan",
        'raise RuntimeError(f"Checkpoint already exists and '
        .. '{self.overwrite=}.")'}}},
    ["Any checkpointing related"] = {SAVE, {
      {"distributed/checkpoint/default_planner.py", {548, 554},
        "create_default_local_save_plan",
        "requests += «_create_write_items(fqn, obj)»"},
      {"distributed/checkpoint/planner_helpers.py", {397, 428}, "_create_write_items",
        {"return «object.__create_write_items__(fqn, object)»",
         "return «object.__create_write_items__(fqn, object)»"
         .. "  # type: ignore[attr-defined]"}},
      {"distributed/tensor/_api.py", {812, 894}, "__create_write_items__",
        "self._raise_if_contains_partial_placements()"},
      {"distributed/tensor/_api.py", {806, 888},
        "_raise_if_contains_partial_placements", "raise ValueError("}}},
  },
}

local function as_in_release(v)
  if type(v) ~= "table" then return v end
  local minor = tonumber(dt._profile().torch:match "%.(%d+)")
  return v[minor >= MOVED and 2 or 1]
end

local function step_text(s)
  local code = as_in_release(s[4])
  local before, marked, after = code:match("^(.-)«(.-)»(.*)$")
  local text = marked and before .. marked .. after or code
  local out = ('  File "torch/%s", line %d, in %s\n    %s\n'):format(s[1],
    as_in_release(s[2]), s[3], text)
  if not marked then return out end
  return out .. "    " .. (" "):rep(#before) .. ("^"):rep(#marked) .. "\n"
end

-- frames(phase, message): the lines of the traceback; "" for what has none
-- here.
function M.frames(phase, message)
  for start, lists in pairs(PLACES[phase]) do
    if message:sub(1, #start) == start then
      local out = {}
      for _, s in ipairs(COMMON) do out[#out + 1] = step_text(s) end
      for _, list in ipairs(lists) do
        for _, s in ipairs(list) do out[#out + 1] = step_text(s) end
      end
      return table.concat(out)
    end
  end
  return ""
end

return M
