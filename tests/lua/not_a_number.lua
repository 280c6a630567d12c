-- TEST: ranks=1 world=threads tags=quick
-- SPDX-License-Identifier: MIT
-- A NaN in the first, the middle and the last place, in every floating type:
-- what PyTorch 2.13 gives, the same for all of them.  And numbers so large
-- that their exponentials are not numbers.

local nan = 0 / 0

local function same(what, got, want)
  if type(got) ~= "table" then got = {got} end
  if type(want) ~= "table" then want = {want} end
  for i, w in ipairs(want) do
    local g = got[i]
    assert(g == w or g ~= g and w ~= w,
      ("%s: %s at %d, not %s"):format(what, g, i, w))
  end
  assert(#got == #want, what)
end

-- by place of the NaN in {1, 2, 3}
local sorted = {{1, 2, 0}, {0, 2, 1}, {0, 1, 2}}
local highest = {{0, 0, 0}, {0, 1, 1}, {0, 1, 2}}
local lowest = {{0, 0, 0}, {0, 1, 1}, {0, 0, 2}}
local after = {3, 2, 1}                 -- NaNs once one was met
local others = {5, 4, 3}
local middle = {2, 1, 1}

for _, dtype in ipairs {dt.f32, dt.f64, dt.bf16, dt.f16} do
  for _, list in ipairs {{1000.0, 0.0}, {0.0, 1000.0}} do
    local x = dt.tensor(list, {dtype = dtype})
    local what = " of 1000 in " .. tostring(dtype)
    same("softmax" .. what, x:softmax(0):tolist(), {list[1] / 1000,
      list[2] / 1000})
    same("log_softmax" .. what, x:log_softmax(0):tolist(), {list[1] - 1000,
      list[2] - 1000})
    same("logsumexp" .. what, x:logsumexp(0):item(), 1000)
  end
  for place = 1, 3 do
    local list = {1.0, 2.0, 3.0}
    list[place] = nan
    local x = dt.tensor(list, {dtype = dtype})
    local zero = dt.zeros_like(x)
    local function is(what, got, want)
      if type(got) == "userdata" then got = got:tolist() end
      same(("%s of %s, NaN in place %d"):format(what, tostring(dtype), place),
        got, want)
    end
    local function count(what, y, want)
      is(what, y:isnan():sum(), want)
    end

    for _, name in ipairs {"amax", "amin", "max", "min", "sum", "prod", "mean",
        "median"} do
      is(name, x[name](x), nan)
    end
    is("argmax", x:argmax(), place - 1)
    is("argmin", x:argmin(), place - 1)
    is("logsumexp", x:logsumexp(0), nan)
    is("nansum", x:nansum(), others[place])
    is("nanmedian", x:nanmedian(), middle[place])
    is("count_nonzero", x:count_nonzero(), 3)
    count("softmax", x:softmax(0), 3)
    count("log_softmax", x:log_softmax(0), 3)
    count("maximum", dt.maximum(x, zero), 1)
    count("maximum from the right", dt.maximum(zero, x), 1)
    count("minimum", dt.minimum(x, zero), 1)
    count("minimum from the right", dt.minimum(zero, x), 1)
    count("fmax", dt.fmax(x, zero), 0)
    count("fmin", dt.fmin(x, zero), 0)
    count("clamp", x:clamp(0, 1), 1)
    count("relu", x:relu(), 1)
    count("sign", x:sign(), 0)
    is("x == x", x:eq(x):sum(), 2)

    local values, at = x:sort()
    is("sort", at, sorted[place])
    count("sorted", values, 1)
    values, at = x:topk(1)
    is("topk", at, {place - 1})
    count("topk's value", values, 1)
    values, at = x:cummax(0)
    is("cummax", at, highest[place])
    count("cummax's values", values, after[place])
    values, at = x:cummin(0)
    is("cummin", at, lowest[place])
    count("cummin's values", values, after[place])
    values, at = x:max(0)
    is("max of a dim", at, place - 1)
    count("max of a dim's value", values, 1)
  end
end
