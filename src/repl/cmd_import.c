/* SPDX-License-Identifier: MIT
** repl/cmd_import.c: :import reads a pasted bug report, :explain gives the page
** on an error, :python runs a Python text.  All are written in Lua
** (lua/dt/diagnose, lua/torch); the text goes there as a string. */
#include "repl/cmd.h"

#include <string.h>
#include "debug/control.h"
#include "debug/debug.h"

/* torch.diagnose.<fn>(text), its result into the output. */
static DtStatus call_prompt (DtCmdCall *c, const char *fn, const char *text,
                             size_t n) {
  lua_State *L = c->r->L;
  int top = lua_gettop(L);
  DtStatus st = DT_OK;
  lua_pushcfunction(L, dtL_traceback);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "torch.diagnose");
  int rc = lua_pcall(L, 1, 1, top + 1);
  if (rc == LUA_OK) {
    lua_getfield(L, -1, fn);
    lua_pushlstring(L, text, n);
    rc = lua_pcall(L, 1, 1, top + 1);
  }
  if (rc != LUA_OK) {
    st = dtL_catch(L, DT_E_KEY);
  } else {
    size_t len;
    const char *s = lua_tolstring(L, -1, &len);
    if (s != NULL && len > 0) {
      dt_buf_addn(c->out, s, len);
      dt_buf_addc(c->out, '\n');
    }
  }
  lua_settop(L, top);
  return st;
}

static DtStatus cmd_import (DtCmdCall *c) {
  char *text = NULL;
  size_t n = 0;
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a report: paste it behind :import, or "
                        "name a file");
  if (strpbrk(c->arg, " \t\n") != NULL)
    return call_prompt(c, "import", c->arg, strlen(c->arg));
  DT_TRY(c->r->cx, dt_repl_file(c->r, c->arg, &text, &n));
  DtStatus st = call_prompt(c, "import", text, n);
  dt_free(c->r->cx, text);
  return st;
}

static DtStatus cmd_python (DtCmdCall *c) {
  char *text = NULL;
  size_t n = strlen(c->arg);
  if (n == 0)
    return dt_cmd_error(c, 0, "wanted Python text: paste it behind :python, "
                        "or name a file");
  if (!dt_is_python_file(c->arg) || strpbrk(c->arg, " \t\n") != NULL)
    return dt_eval_python_line(c->r, c->arg, n, NULL, c->below);
  DT_TRY(c->r->cx, dt_repl_file(c->r, c->arg, &text, &n));
  DtStatus st = dt_eval_python_line(c->r, text, n, c->arg, c->below);
  dt_free(c->r->cx, text);
  return st;
}

/* The page of a class; else what :help knows of the word. */
static DtStatus explain_word (DtCmdCall *c, const char *word, size_t n) {
  size_t before = c->out->len;
  DT_TRY(c->r->cx, call_prompt(c, "explain", word, n));
  return c->out->len > before ? DT_OK : dt_help_page(c->r, word, c->out);
}

/* Without a word: the error the person sees. */
static DtStatus explain_last (DtCmdCall *c) {
  lua_State *L = c->r->L;
  int top = lua_gettop(L);
  DtStatus st;
  if (c->r->at != NULL && c->r->at->why == DT_WHY_ERROR) {
    const char *id =
      dt_error_info(dt_debug_of(c->r->s)->failed.code)->id;
    return explain_word(c, id, strlen(id));
  }
  if (lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR) != LUA_TTABLE ||
      (lua_pushliteral(L, "id"), lua_rawget(L, -2)) != LUA_TSTRING)
    st = dt_cmd_error(c, 0, "nothing has failed; wanted an error code, a "
                      "class, an operator or words of a message");
  else
    st = explain_word(c, lua_tostring(L, -1), lua_rawlen(L, -1));
  lua_settop(L, top);
  return st;
}

/* An error that no operator raised has no call to repair: the catalogue of
** reports is asked for fixes instead. */
bool dt_cmd_other_error (DtCmdCall *c, bool tell) {
  DtRepl *r = c->r;
  lua_State *L = r->L;
  const DtDebug *d = dt_debug_of(r->s);
  int top = lua_gettop(L);
  bool stopped = r->at != NULL && r->at->why == DT_WHY_LUA;
  bool known = lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR) == LUA_TTABLE;
  if ((d->failed.valid && !stopped) || !known || !tell) {
    lua_settop(L, top);
    return stopped || (known && !d->failed.valid);
  }
  lua_pushliteral(L, "id");
  lua_rawget(L, top + 1);
  lua_pushliteral(L, "class");
  lua_rawget(L, top + 1);
  lua_pushliteral(L, "message");
  lua_rawget(L, top + 1);
  const char *id = lua_tostring(L, -3), *kind = lua_tostring(L, -2);
  const char *message = lua_tostring(L, -1);
  dt_buf_addf(c->out, "%s %s is no operator's: there is no call to repair\n",
              id != NULL ? id : "the error", kind != NULL ? kind : "");
  DtBuf b;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "%s %s", id != NULL ? id : "",
              message != NULL ? message : "");
  if (call_prompt(c, "fixes", dt_buf_str(&b), b.len) != DT_OK)
    dt_error_clear(r->cx);
  dt_buf_fini(&b);
  lua_settop(L, top);
  return true;
}

static DtStatus cmd_explain (DtCmdCall *c) {
  c->r->prose = true;
  if (*c->arg == '\0')
    return explain_last(c);
  const DtFindKind *k = dt_find_lookup(c->arg);
  if (k != NULL) {
    dt_find_page(k, c->out);
    return DT_OK;
  }
  return explain_word(c, c->arg, strlen(c->arg));
}

const DtCmd dt_cmds_import[] = {
  {"explain", "explain", 0, "[CODE|WORD]",
   "One page on an error: meaning, example, wording by release, fixes.\n"
   "Without a word, on the last one.  A code (DT0101), a class of :import, an\n"
   "operator or words of a message.\n"
   "Example: :explain DT0101", cmd_explain},
  {"import", "files", DT_CMD_TEXT, "[FILE|TEXT]",
   "Read a bug report, as `dtrepl diagnose` does.\n"
   "A file, or the text pasted behind the command.  Alone it asks for the\n"
   "text: a paste, or lines up to one with a dot, or Ctrl-D.  What the report\n"
   "states is left in mesh and t1, t2, ...\n"
   "Example: :import RuntimeError: Cannot create a submesh from a submesh.",
   cmd_import},
  {"python", "files", DT_CMD_TEXT | DT_CMD_PROGRAM, "[FILE.py|TEXT]",
   "Run Python: a PyTorch program, or lines of one, on this engine.\n"
   "A file, or the text behind the command.  Alone it asks for the text: a\n"
   "paste, or lines up to one with a dot, or Ctrl-D.  Names live on from one\n"
   "text to the next; tensors, meshes and modules are there for Lua too.\n"
   "At a stop in a program of Python it sees and sets that function's variables,\n"
   "after :goto those of then.  After :set python on (or dtrepl --python) all\n"
   "lines are Python's.\n"
   "Example: :python torch.ones(2, 3).sum()", cmd_python},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
