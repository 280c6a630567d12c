-- SPDX-License-Identifier: MIT
-- dt/diagnose/forms.lua: the lines of a report that say nothing of its fault:
-- what collect_env and the like print of the machine, the questions of a
-- project's form, what a launcher adds when a process has failed, the heads of
-- comments.  Such lines name frameworks that only happen to be installed, raise
-- errors of their own, and complain in words that are not the reporter's.

local M = {}

local function set_of(text)
  local set = {}
  for key in text:gmatch "[^|]+" do set[key] = true end
  return set
end

-- ---- what is ours ------------------------------------------------------

-- Settings that a list of settings is read for.
local ours = {"parallel", "fsdp", "mesh", "shard", "rank", "world", "nproc",
  "num_processes", "num_machines", "gpus", "compile", "offload", "distributed", "degree"}

local function names_ours(line)
  local low = line:lower()
  for _, text in ipairs(ours) do
    if low:find(text, 1, true) then return true end
  end
  return low:find "%f[%a][tdcpes]p[_%A]"
end

-- ---- the machine -------------------------------------------------------

-- Before the colon, in lower case.
local keys = set_of("is debug build|cuda used to build pytorch|"
  .. "rocm used to build pytorch|gcc version|clang version|cmake version|"
  .. "libc version|python version|python platform|is cuda available|"
  .. "cuda runtime version|cuda_module_loading set to|"
  .. "gpu models and configuration|nvidia driver version|cudnn version|"
  .. "is xpu available|hip runtime version|miopen runtime version|"
  .. "is xnnpack available|caching allocator config|"
  .. "cpu op-mode(s)|address sizes|byte order|cpu(s)|on-line cpu(s) list|"
  .. "vendor id|model name|cpu family|thread(s) per core|"
  .. "core(s) per socket|socket(s)|core(s) per cluster|cluster(s)|stepping|"
  .. "bogomips|flags|virtualization|virtualization type|hypervisor vendor|"
  .. "l1d cache|l1i cache|l2 cache|l3 cache|numa node(s)|cpu max mhz|"
  .. "cpu min mhz|cpu mhz|frequency boost|versions of relevant libraries|"
  .. "accelerate config|using gpu in script?|gpu type|"
  .. "using distributed or parallel set-up in script?|accelerator(s)|"
  .. "running on google colab?|running in notebook?|nvidia gpu models|"
  .. "using hpu in script?|using npu in script?|accelerator")

-- A release, or that there is none: all that may follow "DeepSpeed version:".
local function is_version(value)
  return value:find "^v?%d[%w%.%+%-]*$" or value:find "^v?%d[%w%.%+%-]*%s*%(%u+%)$"
    or value:find "^not installed" or value:find "^N/A" or value == "None"
    or value:find "^Could not collect"
end

-- "torch==2.9.0 transformers==4.57.1", and nothing else.
local function is_freeze(line)
  if not line:find("==", 1, true) then return false end
  local rest = line:gsub("[%w_%.%-]+%[?[%w_,]*%]?==[%w%.%+%-%*]+", "")
  return not rest:find "[%w=]"
end

local function is_machine(line)
  if line:find "^%s*%[pip3?%]" or line:find "^%s*%[conda%]"
    or line:find "^Collecting environment information" or is_freeze(line)
    or line:find "^%s*/usr/lib/[%w_/%-]*libcudnn" then
    return true
  end
  local key, value = line:match "^%s*[-*|]?%s*`?(%a[%w %-%(%)/?_`]-)%s*:%s*(.-)%s*$"
  if not key or #key > 60 then return false end
  key = key:lower():gsub("`", "")
  return keys[key] or key:find "^gpu %d+$" or key:find "^numa node%d* cpu"
    or key:find "^vulnerability "
    or key:find "version" and is_version(value) and not names_ours(line)
end

-- ---- forms -------------------------------------------------------------

local headings = set_of("describe the bug|bug description|system info|"
  .. "who can help?|information|tasks|reproduction|expected behavior|versions|"
  .. "checklist|your current environment|environment|error logs|"
  .. "alternatives|additional context|steps to reproduce|to reproduce|"
  .. "environment & system info|environment info|minified repro|detailed information|"
  .. "full logs|commit id|other info|software environment|more info|"
  .. "what version are you seeing the problem on?|how to reproduce the bug|"
  .. "error messages and logs|error messages and logs here please|"
  .. "current environment|before submitting a new issue...")

-- What is ticked in forms.
local ticked = {"official example", "already searched", "one of the scripts in", "officially supported", "my own",
  "have searched", "i searched", "have checked", "i've checked", "have read",
  "have included", "code provided", "system information", "code snippet",
  "docker image", "consistently reproduce", "before submitting", "issue hasn't",
  "hasn't been reported", "contributor guideline", "this is a bug"}

local function is_ticked(line)
  local low = line:lower()
  for _, text in ipairs(ticked) do
    if low:find(text, 1, true) then return true end
  end
end

local function is_form(line)
  local title = line:match "^%s*#+%s+(.-)%s*:?%s*$"
  if title then
    return headings[title:lower():gsub("^[\128-\255]+%s*", "")] or false
  end
  return line:find "^%s*[-*+]%s+%[[ xX]%]" and is_ticked(line)
    or line:find "^%s*[cC][cC][%s:.,]+@" or line:find "^%s*@[%w%-@ ,/]+$"
    or line:find "^%s*@pytorch%l*bot "
    or line:find "^%s*</?details>%s*$" or line:find "^%s*</?summary>"
    or line:find "^[%w%-_%[%]]+ \194\183 [%l ]+ \194\183 %d%d%d%d%-%d%d%-%d%d$"
    or line:find "^This %l+ is stale because it has been open"
    or line:find "^%s*_No response_%s*$"
end

-- ---- launchers ---------------------------------------------------------

-- Where a launcher's own frames are.
local launchers = {"/bin/torchrun", "torch/distributed/run.py",
  "torch/distributed/launch.py", "torch/distributed/launcher/",
  "elastic/multiprocessing/errors/__init__.py", "/bin/accelerate",
  "accelerate/commands/", "<frozen runpy>"}

local function is_launcher_frame(line)
  local path = line:match '^%s*File "([^"]+)", line %d'
  for _, text in ipairs(path and launchers or {}) do
    if path:find(text, 1, true) then return true end
  end
end

-- What is left of a process that ended with 1; any other code says how it ended.
local afterwards = {"^%s*[%w_.]*ChildFailedError:%s*$",
  "^%s*[%w_.]*ProcessRaisedException:%s*$",
  "Sending process %d+ closing signal", "failed %(exitcode: 1%) local_rank",
  "^%s*<NO_OTHER_FAILURES>", "^%s*Root Cause %(first observed failure%)",
  "^%s*Failures:%s*$", "^%s*[%w_/%.%-]+ FAILED%s*$", "^%s*exitcode%s*: 1 ",
  "^%s*error_file:%s", "^%s*traceback : To enable traceback see",
  "^%s*rank%s*: %d+ %(local_rank: %d+%)"}

local function is_afterwards(line)
  for _, pattern in ipairs(afterwards) do
    if line:find(pattern) then return true end
  end
end

-- ---- logs --------------------------------------------------------------

-- What libraries print in runs that go well, too.
local idle = {"NCCL INFO ", "#SBATCH ", "DeepSpeed general environment info",
  "DeepSpeed C++/CUDA extension op report", "just-in-time (JIT) compiled", "wandb: ", "it/s]", "s/it]", "?it/s",
  "Loading checkpoint shards:", "`torch_dtype` is deprecated",
  "is deprecated and will be removed",
  "destroy_process_group() was not called before program exit",
  "to perform barrier as devices used by this process are currently unknown",
  "Guessing device ID based on global rank",
  "No device id is provided via `init_process_group`"}

-- A line of a log at its lowest level, which libraries also write errors to.
local function is_information(line)
  return (line:find("%- INFO %-") or line:find "^%s*%[?INFO%]?[%s:|]")
    and not line:find("rror", 1, true) and not line:find('File "', 1, true)
end

-- What stands in the table of nvidia-smi, whose left bar is gone.
local smi = {"NVIDIA-SMI", "Persistence-M", "Perf ", "MiB /", "Bus-Id", "Process name",
  "Processes:", "No running processes", "GPU Memory", "Disabled", "Enabled"}

-- A line of that table, or "name ...... value".
local function is_drawn(line)
  if line:find "|%s*$" and line:find("   ", 1, true) then
    for _, text in ipairs(smi) do
      if line:find(text, 1, true) then return true end
    end
    if not line:find "%w" then return true end
  end
  return line:find "^%s*[+|][-=+|]+%s*$" or line:find "^%s*[%w_ ]+ %.%.%.%.+ %S"
end

local function is_log(line)
  for _, text in ipairs(idle) do
    if line:find(text, 1, true) then return true end
  end
  return line:find "%d%%|" or is_drawn(line)
end

-- ---- lists -------------------------------------------------------------

-- The form of a line that counts as one of a list only among others of that form:
-- "setting: value", "package 1.2.3", "VARIABLE=value".
local function form_of(line)
  if #line > 120 then return nil end
  if line:find "^%s*[-*]?%s*[%w_%.%-]+:?%s+v?%d+%.%d+%.%d[%w%.%+%-]*%s*$" then
    return "pair"
  end
  if line:find "^%s*e?x?p?o?r?t?%s*%u[%u%d_]+=%S*%s*$" then return "pair" end
  local key, value = line:match "^%s*#?[-*|]?%s*`?(%a[%w%. %-%(%),/_`]-)%s*:%s*(.-)%s*$"
  if key and #key <= 48 and #value <= 60 and not value:find "[%[%](){}=;?]"
    and not key:find "Error" and not key:find "Exception" and not key:find "Warning" then
    return "pair"
  end
end

local LIST <const> = 4           -- so many of a form are a list
local STEP <const> = 2           -- other short lines that may lie between

-- Marks the lines of lists that name nothing of ours.
local function mark_lists(lines, marks)
  local from, count, others = nil, 0, 0
  local function close(to)
    if from and count >= LIST then
      for i = from, to do
        local form = form_of(lines[i])
        if form and not marks[i] and not names_ours(lines[i]) then
          marks[i] = "machine"
        end
      end
    end
    from, count, others = nil, 0, 0
  end
  for i, line in ipairs(lines) do
    if form_of(line) then
      from, count, others = from or i, count + 1, 0
    elseif from and line:find "%S" then
      others = others + 1
      if others > STEP or #line > 48 then close(i - 1) end
    end
  end
  close(#lines)
end

-- ---- lines -------------------------------------------------------------

-- A title between two rules: the head of a part of a machine's description.
local function is_banner(lines, i)
  local before, after = lines[i - 1], lines[i + 1]
  return before and after and #lines[i] < 60 and before:find "^%s*[=-][=-][=-][=-]+%s*$"
    and after:find "^%s*[=-][=-][=-][=-]+%s*$" or lines[i]:find "^%-%-%-%-+[%w ]+%-%-%-%-+$"
end

-- Of the lines that say nothing of the fault "machine" or "form", by their
-- numbers: those of the machine may still be asked for a release or a device.
function M.marks(lines)
  local marks, in_frame = {}, false
  for i, line in ipairs(lines) do
    if in_frame and (line:find "^%s*[%^~]+%s*$" or line:find "^%s%s%s%s%S"
      and not line:find '^%s*File "') then
      marks[i] = "form"                 -- the line of code below such a frame
    else
      in_frame = is_launcher_frame(line) or false
      if in_frame or is_afterwards(line) or is_form(line) or is_banner(lines, i) then
        marks[i] = "form"
      elseif is_machine(line) or is_log(line)
        or is_information(line) and not names_ours(line) then
        marks[i] = "machine"
      end
    end
  end
  mark_lists(lines, marks)
  return marks
end

return M
