/* SPDX-License-Identifier: MIT
** repl/cmd_import.c: :import reads a pasted bug report, :explain gives the page
** on an error.  Both are written in Lua (lua/dt/diagnose); the text goes there
** as a string, never as code. */
#include "repl/cmd.h"

#include <string.h>
#include "debug/control.h"
#include "debug/debug.h"

/* dt.diagnose.prompt.<fn>(text), its result into the output. */
static DtStatus call_prompt (DtCmdCall *c, const char *fn, const char *text,
                             size_t n) {
  lua_State *L = c->r->L;
  int top = lua_gettop(L);
  DtStatus st = DT_OK;
  lua_pushcfunction(L, dtL_traceback);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "dt.diagnose.prompt");
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
    if (s != NULL)
      dt_buf_addn(c->out, s, len);
    dt_buf_addc(c->out, '\n');
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

/* Without a word: the error the person sees. */
static DtStatus explain_last (DtCmdCall *c) {
  lua_State *L = c->r->L;
  int top = lua_gettop(L);
  DtStatus st;
  if (c->r->at != NULL && c->r->at->why == DT_WHY_ERROR) {
    const char *id =
      dt_error_info(dt_debug_of(c->r->s)->failed.code)->id;
    return call_prompt(c, "explain", id, strlen(id));
  }
  if (lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR) != LUA_TTABLE ||
      (lua_pushliteral(L, "id"), lua_rawget(L, -2)) != LUA_TSTRING)
    st = dt_cmd_error(c, 0, "nothing has failed; wanted an error code, a "
                      "class, an operator or words of a message");
  else
    st = call_prompt(c, "explain", lua_tostring(L, -1), lua_rawlen(L, -1));
  lua_settop(L, top);
  return st;
}

static DtStatus cmd_explain (DtCmdCall *c) {
  if (*c->arg == '\0')
    return explain_last(c);
  const DtFindKind *k = dt_find_lookup(c->arg);
  if (k != NULL) {
    dt_find_page(k, c->out);
    return DT_OK;
  }
  return call_prompt(c, "explain", c->arg, strlen(c->arg));
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
  {NULL, NULL, 0, NULL, NULL, NULL}
};
