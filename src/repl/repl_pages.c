/* SPDX-License-Identifier: MIT
** repl/repl_pages.c: help on names that are no operators, and what an
** operator's definition holds.  The pages are lua/repl/pages.lua's. */
#include "repl/repl_int.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>
#include "repl/cmd.h"

typedef struct Page {
  const char *fn, *what;        /* a function of repl.pages and its argument */
  bool python;                  /* its second: lines typed are Python's */
  DtBuf *out; bool found;
} Page;

/* Protected, with all it makes: memory may run out. */
static int ask_page (lua_State *L) {
  Page *p = lua_touserdata(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "repl.pages");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, p->fn);
  lua_pushstring(L, p->what);
  lua_pushboolean(L, p->python);
  lua_call(L, 2, 1);
  p->found = lua_isstring(L, -1);
  if (p->found)
    dt_buf_add(p->out, lua_tostring(L, -1));
  return 0;
}

static bool ask (DtRepl *r, const char *fn, const char *what, DtBuf *out) {
  lua_State *L = r->L;
  DtError kept = r->cx->err;
  Page p = {fn, what, r->set.python, out, false};
  /* An example that is tried may raise: the person's last error stays. */
  memset(&r->cx->err, 0, sizeof r->cx->err);
  dt_buf_init(&r->cx->err.message, r->cx);
  dt_buf_init(&r->cx->err.explain, r->cx);
  lua_pushcfunction(L, ask_page);
  lua_pushlightuserdata(L, &p);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK)
    lua_pop(L, 1);
  dt_error_clear(r->cx);
  dt_buf_fini(&r->cx->err.message);
  dt_buf_fini(&r->cx->err.explain);
  r->cx->err = kept;
  return p.found;
}

bool dt_help_everyday (DtRepl *r, const char *what, DtBuf *out) {
  return ask(r, "page", what, out);
}

bool dt_help_operator (DtRepl *r, const char *full, DtBuf *out) {
  return ask(r, "operator", full, out);
}

bool dt_help_python (DtRepl *r, const char *full, DtBuf *out) {
  return ask(r, "python_operator", full, out);
}

bool dt_help_packet (DtRepl *r, const char *what, DtBuf *out) {
  return ask(r, "packet", what, out);
}
