/* SPDX-License-Identifier: MIT
** repl/repl_json.c: commands as data.  dt.debug.command(name, arg) runs one and
** gives {cmd, arg, text, data}; every command is dt.debug.<its name>() too,
** where scripts have no function of that name already; with --json a command
** writes that table as one line.
**
** `data` comes from the function of dt.debug that knows the matter; commands
** without one give the lines of their text. */
#include "repl/cmd.h"

#include <lauxlib.h>
#include <string.h>

enum { SCHEMA = 1 };

/* What a command's data is: an expression over dt.debug. */
static const struct { const char *cmd, *expr; } sources[] = {
  {"history", "dt.debug.history(tonumber(arg))"},
  {"break", "dt.debug.breakpoints()"},
  {"tbreak", "dt.debug.breakpoints()"},
  {"watch", "dt.debug.breakpoints()"},
  {"condition", "dt.debug.breakpoints()"},
  {"ignore", "dt.debug.breakpoints()"},
  {"commands", "dt.debug.breakpoints()"},
  {"enable", "dt.debug.breakpoints()"},
  {"disable", "dt.debug.breakpoints()"},
  {"delete", "dt.debug.breakpoints()"},
  {"info", "dt.debug.stop() or dt.debug.breakpoints()"},
  {"bt", "dt.debug.frames()"},
  {"up", "dt.debug.frames()"},
  {"down", "dt.debug.frames()"},
  {"back", "past and {seq = past, names = dt.debug.at(past)}"},
  {"goto", "past and {seq = past, names = dt.debug.at(past)}"},
  {"when", "past and {seq = past, names = dt.debug.at(past)} or "
           "dt.debug.recording()"},
  {"record", "dt.debug.recording()"},
  {"status", "dt.debug.status()"},
  {"list", "dt.debug.stop()"},
  {"fix", "dt.debug.failed()"},
};

static const char *source_of (const char *cmd) {
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
    if (strcmp(sources[i].cmd, cmd) == 0)
      return sources[i].expr;
  return NULL;
}

typedef struct Run {
  DtRepl *r;
  const char *cmd, *arg;
  DtBuf *text;                  /* what it wrote */
  bool failed;
  const char *id, *message;
} Run;

static void set_str (lua_State *L, const char *k, const char *v) {
  lua_pushstring(L, v);
  lua_setfield(L, -2, k);
}

/* Push the data, or nil. */
static void push_data (lua_State *L, const Run *p) {
  const char *expr = source_of(p->cmd);
  lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_ANSWER);
  if (expr == NULL || !lua_isnil(L, -1)) return;    /* the library answered */
  lua_pop(L, 1);
  lua_pushfstring(L, "local arg, past = ... return %s", expr);
  if (luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1),
                       "=[dt.json]", "t") != LUA_OK)
    lua_error(L);
  lua_remove(L, -2);
  lua_pushstring(L, p->arg);
  if (p->r->past != 0)
    lua_pushinteger(L, p->r->past);
  else
    lua_pushnil(L);
  if (lua_pcall(L, 2, 1, 0) != LUA_OK) {
    lua_pop(L, 1);
    lua_pushnil(L);
  }
}

/* What a command says that has nothing but words: {lines = {...}}. */
static void push_lines (lua_State *L, const char *text) {
  lua_createtable(L, 0, 1);
  lua_newtable(L);
  for (int i = 1; *text != '\0'; i++) {
    size_t n = strcspn(text, "\n");
    lua_pushlstring(L, text, n);
    lua_rawseti(L, -2, i);
    text += n + (text[n] == '\n');
  }
  lua_setfield(L, -2, "lines");
}

/* Runs protected: (Run *) -> the table. */
static int push_run (lua_State *L) {
  const Run *p = lua_touserdata(L, 1);
  lua_createtable(L, 0, 6);
  set_str(L, "cmd", p->cmd);
  set_str(L, "arg", p->arg);
  set_str(L, "text", dt_buf_str(p->text));
  if (p->failed) {
    lua_createtable(L, 0, 2);
    set_str(L, "id", p->id);
    set_str(L, "message", p->message);
    lua_setfield(L, -2, "error");
    return 1;
  }
  push_data(L, p);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    push_lines(L, dt_buf_str(p->text));
  }
  lua_setfield(L, -2, "data");
  return 1;
}

/* Run ":cmd arg" with what it writes taken away into `text`. */
static DtStatus run_taken (DtRepl *r, const char *line, DtBuf *text) {
  DtBuf *out = dtL_out(r->L);
  size_t before = out->len;
  lua_pushnil(r->L);
  lua_setfield(r->L, LUA_REGISTRYINDEX, DT_KEY_ANSWER);
  lua_pushboolean(r->L, false);         /* not nil: its place stays */
  lua_setfield(r->L, LUA_REGISTRYINDEX, DT_KEY_SLIP);
  DtStatus st = dt_cmd_run(r, line);
  out = dtL_out(r->L);
  if (out->len > before) {
    dt_buf_addn(text, out->s + before, out->len - before);
    out->len = before;
    out->s[before] = '\0';
  }
  return st;
}

/* Canonical name of the command a line begins with; "" when there is none. */
static const char *name_of (DtRepl *r, const char *line, char *buf) {
  const DtCmd *c;
  const char *s = line + 1 + strspn(line + 1, " \t");
  buf[0] = '\0';
  if (dt_cmd_find(r->cx, s, strcspn(s, " \t\n"), &c) == DT_OK)
    return dt_cmd_name(c, buf);
  dt_error_clear(r->cx);
  return buf;
}

static const char *arg_of (const char *line) {
  const char *s = line + 1 + strspn(line + 1, " \t");
  s += strcspn(s, " \t\n");
  return s + strspn(s, " \t\n");
}

static int write_json (lua_State *L) {
  lua_pushcfunction(L, push_run);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  lua_pushinteger(L, SCHEMA);
  lua_setfield(L, -2, "schema");
  dtL_to_json(L, -1, dtL_out(L));
  dt_buf_addc(dtL_out(L), '\n');
  return 0;
}

/* What a failed command says: the error that is pending, or that its call of Lua
** ended in, which was reported already. */
static void describe_failure (DtRepl *r, DtStatus st, DtBuf *message) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  const char *s = NULL;
  if (r->cx->err.code != DT_OK) {
    dt_buf_add(message, dt_buf_str(&r->cx->err.message));
    return;
  }
  if (lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_SLIP) == LUA_TTABLE) {
    lua_pushliteral(L, "message");
    lua_rawget(L, -2);
  }
  if (lua_type(L, -1) == LUA_TSTRING)
    s = lua_tostring(L, -1);
  dt_buf_add(message, s != NULL ? s : dt_error_info(st)->text);
  lua_settop(L, top);
}

/* The answer is one object even if the command fails: the failure is in it. */
DtStatus dt_cmd_json (DtRepl *r, const char *line) {
  char name[32];
  DtBuf text, message;
  Run p = {r, name, arg_of(line), &text, false, "", ""};
  dt_buf_init(&text, r->cx);
  dt_buf_init(&message, r->cx);
  (void)name_of(r, line, name);
  DtStatus st = run_taken(r, line, &text);
  if (st != DT_OK) {
    p.failed = true;
    p.id = dt_error_info(st)->id;
    describe_failure(r, st, &message);
    p.message = dt_buf_str(&message);
    dt_error_clear(r->cx);
  }
  if (dt_repl_first(r)) {       /* one line, rank 0's */
    lua_pushcfunction(r->L, write_json);
    lua_pushlightuserdata(r->L, &p);
    if (lua_pcall(r->L, 1, 0, 0) != LUA_OK)
      lua_pop(r->L, 1);
  }
  dt_buf_fini(&message);
  dt_buf_fini(&text);
  return st;
}

/* ---- from Lua ---- */

static int call_command (lua_State *L, const char *name, const char *arg) {
  DtRepl *r = dtL_state(L)->stop_ud;
  DtBuf line, text;
  char canon[32];
  if (r == NULL)
    return dtL_errorf(L, DT_E_RUNTIME, "there is no shell");
  dt_buf_init(&line, r->cx);
  dt_buf_init(&text, r->cx);
  dt_buf_addf(&line, ":%s %s", name, arg);
  (void)name_of(r, dt_buf_str(&line), canon);
  DtStatus st = run_taken(r, dt_buf_str(&line), &text);
  dt_buf_fini(&line);
  if (st != DT_OK) {
    dt_buf_fini(&text);
    return r->cx->err.code != DT_OK ? dtL_raise(L)
      : dtL_errorf(L, st, "%s", dt_error_info(st)->text);
  }
  Run p = {r, canon, arg, &text, false, "", ""};
  lua_pushcfunction(L, push_run);
  lua_pushlightuserdata(L, &p);
  int rc = lua_pcall(L, 1, 1, 0);
  dt_buf_fini(&text);
  return rc == LUA_OK ? 1 : lua_error(L);
}

/* Arguments as one text, as they would be typed. */
static const char *join_arguments (lua_State *L, int first) {
  luaL_Buffer b;
  int top = lua_gettop(L);
  luaL_buffinit(L, &b);
  for (int i = first; i <= top; i++) {
    if (i > first)
      luaL_addchar(&b, ' ');
    luaL_tolstring(L, i, NULL);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* dt.debug.command("history", 5) -> {cmd, arg, text, data} */
static int l_command (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  return call_command(L, name, join_arguments(L, 2));
}

/* dt.debug.<name>(...); upvalue: the name. */
static int l_named (lua_State *L) {
  return call_command(L, lua_tostring(L, lua_upvalueindex(1)),
                      join_arguments(L, 1));
}

static int add_commands (lua_State *L) {
  char name[32];
  int it = 0;
  const DtCmd *c;
  if (lua_getfield(L, LUA_REGISTRYINDEX, "dt") != LUA_TTABLE ||
      lua_getfield(L, -1, "debug") != LUA_TTABLE)
    return 0;
  lua_pushcfunction(L, l_command);
  lua_setfield(L, -2, "command");
  lua_pushcfunction(L, dt_eval_last_error);
  lua_setfield(L, -2, "last_error");
  lua_pushcfunction(L, dt_complete_lua);
  lua_setfield(L, -2, "complete");
  dt_editor_open(L);
  lua_newtable(L);              /* looked at where nothing else has the name */
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "_commands");
  while ((c = dt_cmd_next(&it)) != NULL) {
    dt_cmd_name(c, name);
    lua_pushstring(L, name);
    lua_pushcclosure(L, l_named, 1);
    lua_setfield(L, -2, name);
  }
  return 0;
}

DtStatus dt_cmd_open (lua_State *L) {
  lua_pushcfunction(L, add_commands);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK)
    return dtL_catch(L, DT_E_NOMEM);
  return DT_OK;
}

/* A stop as a line of JSON, rank 0's. */
static int write_stop (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, -1, "debug");
  lua_getfield(L, -1, "stop");
  lua_call(L, 0, 1);
  lua_pushinteger(L, SCHEMA);
  lua_setfield(L, -2, "schema");
  lua_pushliteral(L, "stop");
  lua_setfield(L, -2, "event");
  dtL_to_json(L, -1, dtL_out(L));
  dt_buf_addc(dtL_out(L), '\n');
  return 0;
}

void dt_cmd_json_stop (DtRepl *r) {
  if (!dt_repl_first(r))
    return;
  lua_pushcfunction(r->L, write_stop);
  if (lua_pcall(r->L, 0, 0, 0) != LUA_OK)
    lua_pop(r->L, 1);
}
