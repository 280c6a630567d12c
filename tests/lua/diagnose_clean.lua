-- TEST: ranks={1}
-- SPDX-License-Identifier: MIT
-- diagnose_clean.lua: lines of a pasted log by the rank that wrote them: prefixes
-- go (the space behind one stays), a line without one goes on where the one before it stood, and what was
-- said before is not said again.

local T = require "tests.lua.lib.check"
local clean = require "dt.diagnose.clean"

local function lines(...)
  return table.concat(clean.read(table.concat({...}, "\n")).lines, " | ")
end

T.eq(lines("head", "[rank1]: one", "and on", "[rank0]: two", "as well",
           "[rank1]: three"),
  "head |  one | and on |  three |  two | as well", "each rank's own lines together")
T.eq(lines("[rank0]: a", "", "b"), " a | b", "an empty line ends no rank")
T.eq(lines("a", "b"), "a | b", "without ranks as it was")

-- A line of 24 characters or more is said once, a shorter one each time.
local long, short = " " .. ("x"):rep(23), " " .. ("y"):rep(22)
T.eq(lines("[rank0]:" .. long, "[rank1]:" .. long, "[rank1]: end"),
  long .. " |  end", "a long line once")
T.eq(lines("[rank0]:" .. short, "[rank1]:" .. short), short .. " | " .. short,
  "a short one twice")

-- Which ranks spoke, and which of them raised what.
local doc = clean.read("[rank2]: ValueError: no\n[rank0]: ValueError: no\n"
  .. "[rank1]: fine\n")
T.eq(table.concat(doc.ranks, " "), "0 1 2", "all that spoke")
T.eq(table.concat(doc.raised[" ValueError: no"] or {}, " "), "0 2", "that raised")

-- The longest name that is kept, the longest line, and one character more.
local word = ("w"):rep(200)
T.eq(lines(word), word, "a name of 200")
T.eq(lines(word .. "w"), word, "a name of 201")
T.eq(#lines(("ab "):rep(6700)), 20000, "a line of 20,100")
T.eq(#lines(("ab "):rep(6666) .. "cd"), 20000, "a line of 20,000")

-- The exception that ends a traceback, and what is none.
for text, want in pairs {
  ["ValueError: no"] = "ValueError no", ["  E  TypeError: x: y"] = "TypeError x: y",
  ["torch.OutOfMemoryError: m"] = "OutOfMemoryError m", ["KeyError"] = "KeyError ",
  ["Unsupported: z"] = "Unsupported z", ["BuildFailed: b"] = "BuildFailed b",
  ["Errors: 3"] = false, ["Erroring"] = false, ["a b: c"] = false, [""] = false,
} do
  local class, rest = clean.exception_of(text)
  T.eq(class and class .. " " .. rest or false, want, "exception of " .. text)
end

-- Boilerplate goes, wherever it begins; the same words further on stay.
T.eq(lines("  CPU op-mode(s): 64", "a", "on a CPU op-mode"),
  "a | on a CPU op-mode", "boilerplate")
T.finish()
