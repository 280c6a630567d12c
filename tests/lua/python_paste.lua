-- TEST: ranks=4 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- What people paste for Python: Markdown, transcripts of
-- shells, notebooks, quotes and spaces of web pages.

local T = require "tests.lua.lib.check"
local prompt = require "torch.prompt"
local paste = require "python.paste"

local function worth(what, text, want)
  local ok, v = pcall(prompt.python, text)
  T.ok(ok and tostring(v) == want, ("%s: %s"):format(what, tostring(v)))
end

worth("a transcript", [[
>>> import torch
>>> def f(x):
...     return x + 1
...
>>> f(torch.ones(2))
tensor([9., 9.])
]], "tensor([2., 2.])")
worth("IPython's", [[
In [1]: import torch

In [2]: x = torch.ones(3)
   ...: for i in range(2):
   ...:     x = x * 2
   ...:

In [3]: x.sum()
Out[3]: tensor(99.)
]], "tensor(12.)")
worth("Markdown", [[
Here is my script:

```python
def g(a):
    b = a + 1

    return b
g(1)
```
and the output
```
not Python at all
```
]], "2")
worth("a notebook", "!pip install torch\n%matplotlib inline\na = 3\na + 1\n",
  "4")
worth("a mail's spaces", "    a = 5\n    a\xC2\xA0+ 1\n", "6")
worth("Windows and quotes", "a = \xE2\x80\x9Chi\xE2\x80\x9D\r\nif a:\r\n"
  .. "\tb = a + \xE2\x80\x99!\xE2\x80\x99\r\nb\r\n", "'hi!'")
worth("a name in another script", "größe = 2\ngröße + 1\n", "3")
worth("quotes in a text stay", 'c = "it\xE2\x80\x99s"\nlen(c)\n', "4")

T.ok(paste.read("x = (1,\n") == "x = (1,\n", "what is cut off stays")
local ok, e = pcall(prompt.python, ">>> x = (1,\n")
T.ok(not ok and tostring(e):find("never closed", 1, true)
  or tostring(e):find("invalid syntax", 1, true), "and is refused")
ok, e = pcall(prompt.python, "x = 1 \xE2\x86\x92 2")
T.ok(not ok and tostring(e):find("invalid character '→' (U+2192)", 1, true),
  "an arrow is named")

T.finish()
