-- SPDX-License-Identifier: MIT
-- python/absent.lua: what a program imports and dtrepl does not have.
-- Repros import much that they never use: a name may be there, be passed
-- on, annotate; what is called or derived from is said with its line.  An
-- import inside try raises as in Python: the program has an answer to it.

local dt = require "dt"
local V = require "python.values"
local exceptions = require "python.exceptions"

local M = {}
local strict = false                -- a package that is not here is an error
local is_here                       -- is_here(name): is there such a module?

-- Python's own modules: what dtrepl lacks of them is no package to install.
local own = {}
for name in ([[
  abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit
  audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb
  chunk cmath cmd code codecs codeop collections colorsys compileall
  concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes
  curses dataclasses datetime dbm decimal difflib dis distutils doctest email
  encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
  fractions ftplib functools gc genericpath getopt getpass gettext glob
  graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp
  importlib inspect io ipaddress itertools json keyword lib2to3 linecache
  locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder
  msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers
  opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes
  pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty
  pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re
  readline reprlib resource rlcompleter runpy sched secrets select selectors
  shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver
  spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string
  stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny
  tarfile telnetlib tempfile termios textwrap this threading time timeit
  tkinter token tokenize tomllib trace traceback tracemalloc tty turtle
  turtledemo types typing unicodedata unittest urllib uu uuid venv warnings
  wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp
  zipfile zipimport zlib zoneinfo]]):gmatch "%S+" do own[name] = true end

local function refuse(name, line)
  local e = dt.error("NOTIMPL", ("%s, imported on line %d, is not part of "
    .. "dtrepl"):format(name, line), "NotImplementedError")
  e.reason, e.lacks = "absent", name
  error(e, 0)
end

-- is_own(module): is it, or what it lies in, a module of Python's own?
function M.is_own(module) return own[module:match("^[^.]*")] == true end

-- make(name, line): a value for torch.fx.Tracer, imported on that line.
function M.make(name, line)
  return setmetatable({absent = name, line = line, __name__ = name,
    shown = ("<'%s': not part of dtrepl>"):format(name),
    test = function () return false end,
    call = function () return refuse(name, line) end}, V.builtin_mt)
end

-- name(v): what is absent, or nil.
function M.name(v) return type(v) == "table" and rawget(v, "absent") or nil end

-- get(v, name): v.name.
function M.get(v, name) return M.make(v.absent .. "." .. name, v.line) end

-- refuse(v): raise, with what and where.
function M.refuse(v) return refuse(v.absent, v.line) end

-- set_strict(on): whole programs say themselves what they do without a package.
function M.set_strict(on) strict = on end

-- set_modules(f): f(name): is there a module of that name?
function M.set_modules(f) is_here = f end

-- The package of a module that Python would have to install, or nil.
local function foreign(name)
  local package = name:match("^[^.]+")
  return not own[package] and not is_here(package) and package or nil
end

-- import(f, name, line, guarded): what f() gives; when there is no such module
-- or name, something that stands for it, unless the import is `guarded`, or it
-- is a file of the program that cannot import something, or a whole program's
-- package is absent: Python raises there, too.
function M.import(f, name, line, guarded)
  local ok, v = pcall(f)
  if ok then return v end
  local e = exceptions.exception(v)
  local of_file = type(v) == "table" and v.raised_in
  if guarded or of_file or (e.class ~= "ModuleNotFoundError" and e.class ~= "ImportError")
  then
    error(v, 0)
  end
  local package = strict and foreign(name)
  if package then
    e = dt.error("NOTIMPL", ("No module named '%s'"):format(package),
      "ModuleNotFoundError")
    e.reason, e.lacks, e.name = "absent", package, package
    e.explain = "dtrepl has no such package; an import inside `try: … except "
      .. "ImportError:` lets the program go on without it"
    error(e, 0)
  end
  return M.make(name, line)
end

return M
