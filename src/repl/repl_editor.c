/* SPDX-License-Identifier: MIT
** repl/repl_editor.c: the session's side of `dtrepl --dap`.  The adapter (Lua,
** lua/repl/dap) runs this program as any other, with lines on its input; what
** it asks are lines that begin with byte 1, and the answers are lines of
** standard output that begin with byte 1 and the word in DTREPL_EDITOR, which
** a program's own output cannot know.
**
** Rank 0 says when it waits for a line and where: before the program, at a
** stop, at the prompt after it; and when something runs.  Questions run on every
** rank, like any line. */
#include "repl/repl_int.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "repl/cmd.h"

const char *dt_editor_word (void) {
  const char *w = getenv("DTREPL_EDITOR");
  return w != NULL && *w != '\0' ? w : NULL;
}

static void send_message (DtRepl *r, const char *json, size_t n) {
  DtBuf b;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "\001%s ", r->app->editor);
  dt_buf_addn(&b, json, n);
  dt_buf_addc(&b, '\n');
  dt_output_write(&r->app->out, DT_OUT_RESULT, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
}

void dt_editor_ready (DtRepl *r) {
  DtBuf b;
  if (r->app->editor == NULL)
    return;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "{\"ready\":\"%s\",\"pid\":%ld,\"code\":%d,\"ranks\":%d}",
              r->at != NULL && !r->at->light ? "stop"
              : r->begin == 0 && r->app->o.script != NULL ? "begin" : "prompt",
              (long)getpid(), r->ended, r->comm->no_data ? 1 : r->comm->size);
  send_message(r, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
}

void dt_editor_running (DtRepl *r) {
  static const char text[] = "{\"running\":true}";
  if (r->app->editor != NULL && dt_repl_first(r))
    send_message(r, text, sizeof text - 1);
}

typedef struct Asked { DtRepl *r; const char *text; DtBuf *line; } Asked;

/* Protected: the library's answer, and a line to run. */
static int ask_library (lua_State *L) {
  Asked *a = lua_touserdata(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "repl.editor");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "answer");
  lua_pushstring(L, a->text);
  lua_pushinteger(L, a->r->past);
  lua_call(L, 2, 2);
  if (lua_isstring(L, -2) && dt_repl_first(a->r)) {
    size_t n;
    const char *s = lua_tolstring(L, -2, &n);
    send_message(a->r, s, n);
  }
  if (lua_isstring(L, -1))
    dt_buf_add(a->line, lua_tostring(L, -1));
  return 0;
}

void dt_editor_line (DtRepl *r, const char *text, DtBuf *line) {
  lua_State *L = r->L;
  Asked a = {r, text, line};
  lua_pushcfunction(L, ask_library);
  lua_pushlightuserdata(L, &a);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    lua_pop(L, 1);
    if (dt_repl_first(r))
      send_message(r, "{\"failed\":true}", 15);
  }
  dt_error_clear(r->cx);
  if (strcmp(dt_buf_str(line), "!run") == 0 ||
      strcmp(dt_buf_str(line), "!entry") == 0) {
    r->begin = dt_buf_str(line)[1] == 'r' ? 1 : 2;
    dt_buf_clear(line);
  }
}

/* dt.debug._select(i): frame `i` is the one whose variables values see. */
static int l_select (lua_State *L) {
  DtRepl *r = dtL_state(L)->stop_ud;
  if (r != NULL && r->at != NULL)
    (void)dt_stop_select(r, (int)luaL_checkinteger(L, 1));
  return 0;
}

/* dt.debug._value(text) -> values of an expression in that frame. */
static int l_value (lua_State *L) {
  bool expression;
  const char *text = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  if (!dt_eval_compile(L, text, &expression) || !expression)
    return dtL_errorf(L, DT_E_VALUE, "no expression: %s", text);
  lua_call(L, 0, LUA_MULTRET);
  return lua_gettop(L) - 1;
}

void dt_editor_open (lua_State *L) {
  lua_pushcfunction(L, l_select);
  lua_setfield(L, -2, "_select");
  lua_pushcfunction(L, l_value);
  lua_setfield(L, -2, "_value");
}
