-- SPDX-License-Identifier: MIT
-- dt/nn/rnn.lua: RNN, LSTM, GRU and their cells, out of linear maps and
-- pointwise operators.  The input's part of the gates is one linear map over
-- the whole sequence; the hidden part is one a step.  A packed sequence (a
-- program's PackedSequence: data, sizes of the steps, order, order back) is the
-- steps of its data one after the other.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local init = require "dt.nn.init_values"
local define = require "dt.nn.define"
local signature = require "dt.torch.signature"
local Module = require("dt.nn.module").Module

local M = {}

local function param(a, ...) return init._empty_param({...}, a) end

local function uniform(m)
  local bound = m.hidden_size > 0 and 1 / math.sqrt(m.hidden_size) or 0
  for p in m:parameters() do init.uniform_(p, -bound, bound) end
end

-- ---- one step ----

-- Each takes the input's part `i` and the hidden part `h` of the gates and the
-- state, and gives the new state: hidden, and cell.
local steps = {}

function steps.RNN_TANH(i, h) return (h + i):tanh() end
function steps.RNN_RELU(i, h) return (h + i):relu() end

function steps.LSTM(i, h, state)
  local g = (h + i):chunk(4, -1)
  local c = g[2]:sigmoid() * state[2] + g[1]:sigmoid() * g[3]:tanh()
  return g[4]:sigmoid() * c:tanh(), c
end

function steps.GRU(i, h, state)
  local gi, gh = i:chunk(3, -1), h:chunk(3, -1)
  local reset = (gh[1] + gi[1]):sigmoid()
  local keep = (gh[2] + gi[2]):sigmoid()
  local new = (gi[3] + gh[3] * reset):tanh()
  return (state[1] - new) * keep + new
end

local gates = {RNN_TANH = 1, RNN_RELU = 1, LSTM = 4, GRU = 3}

-- ---- layers over sequences ----

-- One direction of one layer over x[time][batch][feature].
local function run(mode, x, state, w, backward)
  local step, n, outs = steps[mode], x.shape[1], {}
  local parts = F.linear(x, w.ih, w.bias_ih):unbind(0)
  for k = 1, n do
    local at = backward and n + 1 - k or k
    local h, c = step(parts[at], F.linear(state[1], w.hh, w.bias_hh), state)
    if w.hr then h = F.linear(h, w.hr) end
    state, outs[at] = {h, c}, h
  end
  return dt.stack(outs, 0), state
end

local function rows(t, from, n)
  return t and t:narrow(0, from, n) or nil
end

local function joined(a, b) return a and dt.cat({a, b}, 0) or nil end

-- The same over packed data, of `sizes` rows a step.  Forwards the last rows of
-- the state are done when a step has fewer, backwards more rows begin.
local function run_packed(mode, data, sizes, start, w, backward)
  local step, n, outs, ended = steps[mode], #sizes, {}, {}
  local parts = F.linear(data, w.ih, w.bias_ih):split(sizes, 0)
  local state, width
  for k = 1, n do
    local at = backward and n + 1 - k or k
    local size = sizes[at]
    if not state then
      state = {rows(start[1], 0, size), rows(start[2], 0, size)}
    elseif size > width then
      state = {joined(state[1], rows(start[1], width, size - width)),
        joined(state[2], rows(start[2], width, size - width))}
    elseif size < width then
      table.insert(ended, 1, {rows(state[1], size, width - size),
        rows(state[2], size, width - size)})
      state = {rows(state[1], 0, size), rows(state[2], 0, size)}
    end
    local h, c = step(parts[at], F.linear(state[1], w.hh, w.bias_hh), state)
    if w.hr then h = F.linear(h, w.hr) end
    state, outs[at], width = {h, c}, h, size
  end
  for _, part in ipairs(ended) do
    state = {joined(state[1], part[1]), joined(state[2], part[2])}
  end
  return dt.cat(outs, 0), state
end

local base_text = "input_size, hidden_size, num_layers=1, bias=True, "
  .. "batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, "
  .. "device=None, dtype=None"

local function check_sizes(a)
  local function refuse(text) util.raise("ValueError", "%s", text) end
  if type(a.dropout) ~= "number" or a.dropout < 0 or a.dropout > 1 then
    refuse("dropout should be a number in range [0, 1] representing the "
      .. "probability of an element being zeroed")
  end
  if a.dropout > 0 and a.num_layers == 1 then
    dt._warn(("dropout option adds dropout after all but last recurrent layer, "
      .. "so non-zero dropout expects num_layers greater than 1, but got "
      .. "dropout=%s and num_layers=1"):format(signature.text(a.dropout)))
  end
  for _, name in ipairs {"input_size", "hidden_size"} do
    if math.type(a[name]) ~= "integer" then
      util.raise("TypeError", "%s should be of type int, got: %s", name,
        util.type_text(a[name]))
    elseif a[name] <= 0 then
      refuse(name .. " must be greater than zero")
    end
  end
  if a.num_layers <= 0 then refuse("num_layers must be greater than zero") end
  if a.proj_size < 0 then
    refuse("proj_size should be a positive integer or zero to disable "
      .. "projections")
  elseif a.proj_size >= a.hidden_size then
    refuse("proj_size has to be smaller than hidden_size")
  end
end

local fields = {"input_size", "hidden_size", "num_layers", "bias",
  "batch_first", "dropout", "bidirectional", "proj_size"}

local Base = Module:extend("RNNBase")
M.RNNBase = Base

-- The parameters of all layers, in PyTorch's order and names.
local function build(m, mode, a)
  check_sizes(a)
  if not gates[mode] then
    util.raise("ValueError", "Unrecognized RNN mode: %s", tostring(mode))
  end
  m.mode = mode
  for _, name in ipairs(fields) do m[name] = a[name] end
  m.dropout = a.dropout + 0.0
  local size = gates[mode] * a.hidden_size
  local out = a.proj_size > 0 and a.proj_size or a.hidden_size
  for layer = 0, a.num_layers - 1 do
    for d = 1, a.bidirectional and 2 or 1 do
      local at = "_l" .. layer .. (d == 2 and "_reverse" or "")
      local width = layer == 0 and a.input_size
        or out * (a.bidirectional and 2 or 1)
      m["weight_ih" .. at] = param(a, size, width)
      m["weight_hh" .. at] = param(a, size, out)
      if a.bias then
        m["bias_ih" .. at] = param(a, size)
        m["bias_hh" .. at] = param(a, size)
      end
      if a.proj_size > 0 then
        m["weight_hr" .. at] = param(a, a.proj_size, a.hidden_size)
      end
    end
  end
  m:reset_parameters()
end

-- All parameters uniform in +-1/sqrt(hidden_size).
function Base:reset_parameters() uniform(self) end
-- The weights are separate tensors: nothing to flatten.
function Base.flatten_parameters() end

function Base:extra_repr()
  local parts = {tostring(self.input_size), tostring(self.hidden_size)}
  local standard = {num_layers = 1, bias = true, batch_first = false,
    dropout = 0.0, bidirectional = false}
  if self.proj_size ~= 0 then parts[3] = "proj_size=" .. self.proj_size end
  for _, name in ipairs {"num_layers", "bias", "batch_first", "dropout",
      "bidirectional"} do
    if self[name] ~= standard[name] then
      parts[#parts + 1] = name .. "=" .. signature.text(self[name])
    end
  end
  return table.concat(parts, ", ")
end

local function size_list(t)
  local parts = {}
  for i, n in ipairs(t.shape) do parts[i] = tostring(n) end
  return "[" .. table.concat(parts, ", ") .. "]"
end

local function check_state(m, t, width, batch, text)
  local want = {m.num_layers * (m.bidirectional and 2 or 1), batch, width}
  local s = t.shape
  if #s == 3 and s[1] == want[1] and s[2] == want[2] and s[3] == want[3] then
    return
  end
  util.raise("RuntimeError", text, util.tuple_text(want), size_list(t))
end

local function check_input(m, x, packed)
  local name = m.mode:match("^RNN") or m.mode
  if not util.is_tensor(x) then
    util.raise("TypeError", "%s: Expected input to be a tensor or a "
      .. "PackedSequence, got %s", name, util.type_text(x))
  end
  if packed and x.ndim ~= 2 then
    util.raise("RuntimeError", "input must have 2 dimensions, got %d", x.ndim)
  end
  if x.ndim ~= 2 and x.ndim ~= 3 then
    util.raise("ValueError", "%s: Expected input to be 2D or 3D, got %dD "
      .. "%sinstead", name, x.ndim, name == "RNN" and "tensor " or "")
  end
  local dtype = m.weight_ih_l0.dtype
  if x.dtype ~= dtype then
    util.raise("ValueError", "RNN input dtype (%s) does not match weight dtype "
      .. "(%s). Convert input: input.to(%s), or convert model: model.to(%s)",
      tostring(x.dtype), tostring(dtype), tostring(dtype), tostring(x.dtype))
  end
  if x.shape[x.ndim] ~= m.input_size then
    util.raise("RuntimeError", "input.size(-1) must be equal to input_size. "
      .. "Expected %d, got %d", m.input_size, x.shape[x.ndim])
  end
end

-- The first states: given ones are checked, else zeros.
local function states_of(m, x, hx, batch)
  local lstm = m.mode == "LSTM"
  local width = m.proj_size > 0 and m.proj_size or m.hidden_size
  local n = m.num_layers * (m.bidirectional and 2 or 1)
  if hx == nil then
    local kw = {dtype = x.dtype, device = x.device}
    return {dt.zeros({n, batch, width}, kw),
      lstm and dt.zeros({n, batch, m.hidden_size}, kw) or nil}
  end
  local list = lstm and hx or {hx}
  if lstm then
    check_state(m, list[1], width, batch, "Expected hidden[0] size %s, got %s")
    check_state(m, list[2], m.hidden_size, batch,
      "Expected hidden[1] size %s, got %s")
  else
    check_state(m, list[1], width, batch, "Expected hidden size %s, got %s")
  end
  return list
end

local function weights_of(m, layer, backward)
  local at = "_l" .. layer .. (backward and "_reverse" or "")
  return {ih = m["weight_ih" .. at], hh = m["weight_hh" .. at],
    bias_ih = m.bias and m["bias_ih" .. at] or nil,
    bias_hh = m.bias and m["bias_hh" .. at] or nil,
    hr = m.proj_size > 0 and m["weight_hr" .. at] or nil}
end

-- All layers over x[time][batch][feature], or over packed data with `sizes`:
-- outputs, last states.
local function layers(m, x, states, sizes)
  local directions = m.bidirectional and 2 or 1
  local h, c = states[1]:unbind(0), states[2] and states[2]:unbind(0) or {}
  local last_h, last_c = {}, {}
  for layer = 0, m.num_layers - 1 do
    local outs = {}
    for d = 1, directions do
      local k = layer * directions + d
      local w, state, out = weights_of(m, layer, d == 2), {h[k], c[k]}
      if sizes then
        out, state = run_packed(m.mode, x, sizes, state, w, d == 2)
      else
        out, state = run(m.mode, x, state, w, d == 2)
      end
      outs[d], last_h[k], last_c[k] = out, state[1], state[2]
    end
    x = directions == 2 and dt.cat(outs, -1) or outs[1]
    if m.dropout > 0 and layer < m.num_layers - 1 then
      x = F.dropout(x, m.dropout, m.training)
    end
  end
  return x, dt.stack(last_h, 0), last_c[1] and dt.stack(last_c, 0) or nil
end

local function unbatched_state(hx, f)
  if hx == nil then return nil end
  if util.is_tensor(hx) then return f(hx) end
  return {f(hx[1]), f(hx[2])}
end

local function check_dims(m, x, hx)
  if hx == nil then return end
  local two = x.ndim == 2
  local list = util.is_tensor(hx) and {hx} or hx
  for _, t in ipairs(list) do
    if t.ndim ~= x.ndim then
      local own = ("but got %d-D tensor"):format(t.ndim)
      if m.mode == "LSTM" then
        own = ("but got (%d-D, %d-D) tensors"):format(list[1].ndim,
          list[2].ndim)
      end
      local words = m.mode == "LSTM" and "hx and cx" or "hx"
      util.raise("RuntimeError", "For %s input, %s should also be %s %s",
        two and "unbatched 2-D" or "batched 3-D", words, two and "2-D" or "3-D", own)
    end
  end
end

-- The rows of both states in another order, where there is one.
local function in_order(states, order)
  if not states or not util.is_tensor(order) then return states end
  local f = function (t) return t:index_select(1, order) end
  if util.is_tensor(states) then return f(states) end
  return {f(states[1]), states[2] and f(states[2])}
end

local function is_packed(x)
  return type(x) == "table" and rawget(x, "n") == 4 and util.is_tensor(x[1])
    and util.is_tensor(x[2])
end

local function forward_packed(m, packed, hx)
  local x, sizes = packed[1], packed[2]:tolist()
  check_input(m, x, true)
  local states = states_of(m, x, in_order(hx, packed[3]), sizes[1])
  local out, h, c = layers(m, x, states, sizes)
  local same = setmetatable({}, getmetatable(packed))
  for key, v in next, packed do rawset(same, key, v) end
  rawset(same, 1, out)
  local last = in_order({h, c}, packed[4])
  if c then return same, {last[1], last[2], n = 2} end
  return same, last[1]
end

local function forward(m, a)
  local x, hx = a.input, a.hx
  if is_packed(x) then return forward_packed(m, x, hx) end
  check_input(m, x)
  check_dims(m, x, hx)
  local alone = x.ndim == 2
  if alone then
    x = x:unsqueeze(m.batch_first and 0 or 1)
    hx = unbatched_state(hx, function (t) return t:unsqueeze(1) end)
  end
  if m.batch_first then x = x:transpose(0, 1) end
  local out, h, c = layers(m, x, states_of(m, x, hx, x.shape[2]))
  if m.batch_first then out = out:transpose(0, 1) end
  if alone then
    out = out:squeeze(m.batch_first and 0 or 1)
    h, c = h:squeeze(1), c and c:squeeze(1)
  end
  if c then return out, {h, c, n = 2} end
  return out, h
end

define.init(Base, "RNNBase", "mode, " .. base_text, function (m, a)
  build(m, a.mode, a)
end)

-- nn.LSTM, nn.GRU, nn.RNN(input_size, hidden_size, {num_layers=, ...}): gives
-- the outputs and the last state (of LSTM: {hidden, cell}).
local function sequence(name, mode, text)
  local class = Base:extend(name)
  M[name] = class
  define.init(class, "RNNBase", text or base_text, function (m, a)
    local kind = mode
    if name == "RNN" then
      if a.nonlinearity ~= "tanh" and a.nonlinearity ~= "relu" then
        util.raise("ValueError", "Unknown nonlinearity '%s'. Select from "
          .. "'tanh' or 'relu'.", tostring(a.nonlinearity))
      end
      kind = "RNN_" .. a.nonlinearity:upper()
      m.nonlinearity = a.nonlinearity
    elseif name == "GRU" and a.proj_size > 0 then
      util.raise("ValueError", "proj_size argument is only supported for "
        .. "LSTM, not RNN or GRU")
    end
    build(m, kind, a)
  end)
  define.forward(class, name, "input, hx=None", forward)
end

sequence("LSTM", "LSTM")
sequence("GRU", "GRU")
sequence("RNN", "RNN", (base_text:gsub("num_layers=1, ",
  "num_layers=1, nonlinearity='tanh', ")))

-- ---- cells ----

local function cell(name, mode, text)
  local class = Module:extend(name)
  M[name] = class
  define.init(class, name, text, function (m, a)
    m.input_size, m.hidden_size, m.bias = a.input_size, a.hidden_size, a.bias
    m.nonlinearity = a.nonlinearity
    local n = gates[mode] * a.hidden_size
    m.weight_ih = param(a, n, a.input_size)
    m.weight_hh = param(a, n, a.hidden_size)
    m:register_parameter("bias_ih", a.bias and param(a, n) or nil)
    m:register_parameter("bias_hh", a.bias and param(a, n) or nil)
    m:reset_parameters()
  end)
  class.reset_parameters = uniform
  function class:extra_repr()
    local out = self.input_size .. ", " .. self.hidden_size
    if not self.bias then out = out .. ", bias=False" end
    if self.nonlinearity and self.nonlinearity ~= "tanh" then
      out = out .. ", nonlinearity=" .. self.nonlinearity
    end
    return out
  end
  define.forward(class, name, "input, hx=None", function (m, a)
    local x, state = a.input, a.hx
    if x.ndim ~= 1 and x.ndim ~= 2 then
      util.raise("ValueError", "%s: Expected input to be 1D or 2D, got %dD "
        .. "instead", name, x.ndim)
    end
    local alone = x.ndim == 1
    if alone then x = x:unsqueeze(0) end
    if state == nil then
      local zero = dt.zeros({x.shape[1], m.hidden_size},
        {dtype = x.dtype, device = x.device})
      state = {zero, zero}
    else
      state = util.is_tensor(state) and {state} or {state[1], state[2]}
      for i, t in ipairs(state) do
        if t.ndim ~= 1 and t.ndim ~= 2 then
          util.raise("ValueError", "%s: Expected %s to be 1D or 2D, got %dD "
            .. "instead", name, #state == 2 and ("hx[%d]"):format(i - 1)
            or "hidden", t.ndim)
        end
        if alone then state[i] = t:unsqueeze(0) end
      end
    end
    local kind = mode
    if name == "RNNCell" then
      if m.nonlinearity ~= "tanh" and m.nonlinearity ~= "relu" then
        util.raise("RuntimeError", "Unknown nonlinearity: %s",
          tostring(m.nonlinearity))
      end
      kind = "RNN_" .. m.nonlinearity:upper()
    end
    local h, c = steps[kind](F.linear(x, m.weight_ih, m.bias_ih),
      F.linear(state[1], m.weight_hh, m.bias_hh), state)
    if alone then h, c = h:squeeze(0), c and c:squeeze(0) end
    if c then return h, c end
    return h
  end)
end

local cell_text = "input_size, hidden_size, bias=True, device=None, dtype=None"
cell("LSTMCell", "LSTM", cell_text)
cell("GRUCell", "GRU", cell_text)
cell("RNNCell", "RNN_TANH",
  "input_size, hidden_size, bias=True, nonlinearity='tanh', device=None, "
  .. "dtype=None")

return M
