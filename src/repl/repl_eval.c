/* SPDX-License-Identifier: MIT
** repl/repl_eval.c: Lua text as typed at a prompt.
**
** Prompt lines run in an environment of their own: an empty table whose
** metamethods look first among the prompt's locals, then among the globals.
** `local x = e` is rewritten (source.c) to an assignment through the table
** DT_LOCALS, which declares x and sets it; an ordinary `x = e` sets the local
** when there is one, else the global.  So a local may be called `table` and
** harms nobody. */
#include "repl/repl_int.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>
#include "repl/source.h"

enum { EARLIER = 9 };           /* results kept: _, _1 .. _9 */

static const char key_env[] = "dt.repl.env";
static const char key_locals[] = "dt.repl.locals";
static const char key_frame[] = "dt.repl.frame";   /* of a stop, or nil */
static const char key_after[] = "dt.repl.error.after";
static const char key_kinds[] = "dt.repl.kinds";   /* name -> is constant */

/* ---- the environment ---- */

/* Upvalues of all: 1 locals, 2 kinds, 3 globals, 4 and 5 the two tables. */

/* `kinds` and not the locals is asked whether there is a local: one whose
** value is nil is a local all the same. */
static int env_index (lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) {
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    return 1;
  }
  if (lua_type(L, 2) == LUA_TSTRING) {
    const char *name = lua_tostring(L, 2);
    if (strcmp(name, DT_LOCALS) == 0 || strcmp(name, DT_CONSTS) == 0) {
      lua_pushvalue(L, lua_upvalueindex(name[4] == 'l' ? 4 : 5));
      return 1;
    }
  }
  lua_pushvalue(L, 2);
  lua_gettable(L, lua_upvalueindex(3));
  return 1;
}

static int env_newindex (lua_State *L) {
  lua_pushvalue(L, 2);
  int kind = lua_rawget(L, lua_upvalueindex(2));
  bool constant = lua_toboolean(L, -1);
  lua_settop(L, 3);
  if (kind == LUA_TNIL)
    lua_settable(L, lua_upvalueindex(3));
  else if (constant)
    return luaL_error(L, "attempt to assign to const variable '%s'",
                      lua_tostring(L, 2));
  else
    lua_rawset(L, lua_upvalueindex(1));
  return 0;
}

/* Declare and set; upvalue 3: is it a constant? */
static int declare_global (lua_State *L) {
  lua_pushvalue(L, 2);
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_rawset(L, lua_upvalueindex(2));
  lua_rawset(L, lua_upvalueindex(1));
  return 0;
}

/* A table whose assignments declare. */
static void push_declarer (lua_State *L, bool constant) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, key_locals);
  lua_getfield(L, LUA_REGISTRYINDEX, key_kinds);
  lua_pushboolean(L, constant);
  lua_pushcclosure(L, declare_global, 3);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
}

/* Globals of the prompt: its own variables, `local` or not, are in tables that
** live from line to line; what is not there is looked up in the program's
** globals, then declared by need. */
static int open_env (lua_State *L) {
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, key_locals);
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, key_kinds);
  lua_newtable(L);                                      /* the environment */
  lua_createtable(L, 0, 3);
  lua_getfield(L, LUA_REGISTRYINDEX, key_locals);
  lua_getfield(L, LUA_REGISTRYINDEX, key_kinds);
  lua_pushglobaltable(L);
  push_declarer(L, false);
  push_declarer(L, true);
  lua_pushcclosure(L, env_index, 5);
  lua_setfield(L, -2, "__index");
  lua_getfield(L, LUA_REGISTRYINDEX, key_locals);
  lua_getfield(L, LUA_REGISTRYINDEX, key_kinds);
  lua_pushglobaltable(L);
  lua_pushcclosure(L, env_newindex, 3);
  lua_setfield(L, -2, "__newindex");
  lua_pushliteral(L, "the prompt's environment");
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, key_env);
  dtL_set_prompt_env(L);
  lua_getfield(L, LUA_REGISTRYINDEX, key_locals);
  dtL_set_prompt_locals(L);
  return 0;
}

/* dt.command(name, help, function(arg)): a command of the person's own; it
** appears in :help and runs on every rank like the built-in ones. */
static int l_command (lua_State *L) {
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  lua_createtable(L, 2, 0);
  lua_insert(L, 2);
  lua_rawseti(L, 2, 2);
  lua_rawseti(L, 2, 1);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, "dt.commands");
  lua_insert(L, 1);
  lua_rawset(L, 1);
  return 0;
}

/* The keys are made here, where memory may run out safely. */
static int open_command (lua_State *L) {
  lua_pushboolean(L, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR);
  lua_pushboolean(L, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_SLIP);
  lua_pushinteger(L, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, key_after);
  if (lua_getfield(L, LUA_REGISTRYINDEX, "dt") == LUA_TTABLE) {
    lua_pushcfunction(L, l_command);
    lua_setfield(L, -2, "command");
  }
  dt_co_open(L);
  return open_env(L);
}

DtStatus dt_eval_open (lua_State *L) {
  lua_pushcfunction(L, open_command);
  if (lua_pcall(L, 0, 0, 0) == LUA_OK)
    return DT_OK;
  return dtL_catch(L, DT_E_NOMEM);
}

void dt_eval_push_locals (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, key_locals);
}

/* ---- calling ---- */

void dt_eval_keep_error (lua_State *L, int idx) {
  lua_pushvalue(L, idx);
  lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR);
  lua_pushinteger(L, (lua_Integer)dtL_session(L)->seq);
  lua_setfield(L, LUA_REGISTRYINDEX, key_after);
}

void dt_eval_push_error (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR);
  lua_getfield(L, LUA_REGISTRYINDEX, key_after);
}

void dt_eval_pop_error (lua_State *L) {
  lua_setfield(L, LUA_REGISTRYINDEX, key_after);
  lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR);
}

int dt_eval_last_error (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR);
  if (!lua_toboolean(L, -1))
    return 0;
  lua_getfield(L, LUA_REGISTRYINDEX, key_after);
  return 2;
}

/* Status of the error object on the top. */
static DtStatus status_of (lua_State *L) {
  DtStatus st = DT_OK;
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "code");
    if (lua_rawget(L, -2) == LUA_TSTRING)
      st = dt_error_find(lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  return st != DT_OK ? st : DT_E_LUA;
}

/* ---- where it was called from ---- */

enum { NEAR = 5, FAR = 2 };     /* calls shown: of the innermost, outermost */

/* One call of a trace, "\n\tFILE:LINE: in NAME". */
typedef struct Call { const char *place, *name; int nplace, nname; } Call;

/* The next call of the trace that is a script's; false: there is none. */
static bool next_call (const char **s, Call *c) {
  const char *line, *in;
  do {
    line = strstr(*s, "\n\t");
    if (line == NULL)
      return false;
    line += 2;
    *s = line + strcspn(line, "\n");
    in = strstr(line, ": in ");
  } while (in == NULL || in > *s || *line == '[');
  c->place = line;
  c->nplace = (int)(in - line);
  c->name = in + 5;
  if (strncmp(c->name, "function ", 9) == 0)
    c->name += 9;
  c->nname = (int)(*s - c->name);
  return true;
}

static bool is_named (const Call *c) {
  static const char *const none[] = {"(no name)", "main chunk", "<module>"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    if ((size_t)c->nname == strlen(none[i]) &&
        strncmp(c->name, none[i], (size_t)c->nname) == 0)
      return false;
  return true;
}

/* "f (line 3)", in another file than `where` "f (FILE:3)". */
static void add_place (const Call *c, const char *where, DtBuf *out) {
  const char *line = c->place + c->nplace;
  while (line > c->place && line[-1] != ':')
    line--;
  size_t file = (size_t)(line - c->place);
  bool same = file > 0 && strncmp(where, c->place, file) == 0;
  bool named = is_named(c);
  if (named)
    dt_buf_addf(out, "%.*s (", c->nname, c->name);
  if (same)
    dt_buf_addf(out, "line %.*s", c->nplace - (int)file, line);
  else
    dt_buf_addf(out, "%.*s", c->nplace, c->place);
  if (named)
    dt_buf_addc(out, ')');
}

/* The calls outside the one that failed at `where`, innermost first. */
static void add_callers (const char *trace, const char *where, DtBuf *out) {
  int n = 0, i = 0;
  Call c;
  const char *s = trace;
  if (next_call(&s, &c) && strncmp(c.place, where, (size_t)c.nplace) == 0)
    trace = s;
  for (s = trace; next_call(&s, &c); )
    n++;
  for (s = trace; next_call(&s, &c); i++) {
    if (i == NEAR && n > NEAR + FAR + 1)
      dt_buf_addf(out, ", %d more", n - NEAR - FAR);
    if (i >= NEAR && i < n - FAR && n > NEAR + FAR + 1)
      continue;
    dt_buf_add(out, i == 0 ? "  called from " : ", ");
    add_place(&c, where, out);
  }
  if (n > 0)
    dt_buf_addc(out, '\n');
}

typedef struct Report { DtBuf *diag; bool callers; } Report;

/* May fail (tostring of a stranger's object), so it runs protected. */
static int push_report (lua_State *L) {
  Report *p = lua_touserdata(L, 2);
  dtL_error_text(L, 1, p->diag);
  if (!p->callers || !lua_istable(L, 1))
    return 0;
  lua_pushliteral(L, "where");
  lua_rawget(L, 1);
  lua_pushliteral(L, "traceback");
  if (lua_rawget(L, 1) == LUA_TSTRING && lua_isstring(L, -2)) {
    if (p->diag->len > 0 && p->diag->s[p->diag->len - 1] != '\n')
      dt_buf_addc(p->diag, '\n');
    add_callers(lua_tostring(L, -1), lua_tostring(L, -2), p->diag);
  }
  return 0;
}

/* What helps a line of the program that failed with what stands from `from` on:
** "  at FILE:LINE" says which. */
static void hint_program (lua_State *L, DtBuf *diag, size_t from) {
  char file[512];
  int line = 0;
  size_t n = 0;
  const char *at = diag->len > from ? strstr(diag->s + from, "\n  at ") : NULL;
  if (at == NULL || sscanf(at, "\n  at %511[^:]:%d", file, &line) != 2)
    return;
  const char *text = dtL_source_line(L, file, line, &n);
  if (text == NULL)
    return;
  char *said = dt_strndup(dtL_session(L)->cx, text, n);
  if (said != NULL)
    dt_slip_hint(L, "program", said, diag->s + from, diag);
  dt_free(dtL_session(L)->cx, said);
}

static void report_error (lua_State *L, bool callers, DtBuf *diag) {
  Report p = {diag, callers};
  int top = lua_gettop(L);
  size_t before = diag->len;
  lua_pushcfunction(L, push_report);
  lua_pushvalue(L, top);
  lua_pushlightuserdata(L, &p);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK || diag->len == before)
    dt_buf_add(diag, "an error whose text cannot be shown");
  lua_settop(L, top);
  if (diag->len > 0 && diag->s[diag->len - 1] != '\n')
    dt_buf_addc(diag, '\n');
  dt_near_hint(L, diag, before);
  hint_program(L, diag, before);
}

/* Message handler: the stack still stands where the error was raised. */
static int on_raised (lua_State *L) {
  dt_keep_raised(L);
  dt_stop_raised(L);
  return dtL_traceback(L);
}

/* :kill or :quit at a stop: what follows is no news. */
static bool ended_by_person (lua_State *L) {
  const DtControl *c = dt_control_of(dtL_session(L));
  return c != NULL && c->abort;
}

/* Was this error reported at its stop? */
static bool told_before (lua_State *L) {
  DtRepl *r = dtL_state(L)->stop_ud;
  bool yes = false;
  if (r == NULL || r->told.len == 0 || !lua_istable(L, -1))
    return false;
  lua_pushliteral(L, "message");
  if (lua_rawget(L, -2) == LUA_TSTRING)
    yes = strcmp(lua_tostring(L, -1), dt_buf_str(&r->told)) == 0;
  lua_pop(L, 1);
  return yes;
}

static DtStatus call (lua_State *L, int nargs, int nresults, bool callers,
                      DtBuf *diag) {
  int rc = dt_eval_pcall(L, nargs, nresults, on_raised);
  if (rc == LUA_OK)
    return DT_OK;
  DtStatus st = rc == LUA_ERRMEM ? DT_E_NOMEM : status_of(L);
  dt_stop_unhook(L);              /* it has stopped; the report shall not */
  if (!dtL_state(L)->exiting) {
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_SLIP);
    if (st != DT_E_INTERRUPTED)
      dt_eval_keep_error(L, -1);
    if (rc == LUA_ERRMEM)
      dt_buf_add(diag, "DT0001 RuntimeError: out of memory\n");
    else if (!told_before(L) && !ended_by_person(L))
      report_error(L, callers, diag);
  }
  lua_pop(L, 1);
  dt_error_clear(dtL_session(L)->cx);
  return st;
}

DtStatus dt_eval_call (lua_State *L, int nargs, int nresults, DtBuf *diag) {
  return call(L, nargs, nresults, false, diag);
}

/* ---- compiling ---- */

/* A text behind so many ends of lines: what is typed has a line number. */
typedef struct Padded { int pad; const char *text; size_t n; } Padded;

static const char *read_padded (lua_State *L, void *ud, size_t *n) {
#define DT_ENDS "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
  static const char ends[] = DT_ENDS DT_ENDS DT_ENDS DT_ENDS;
  Padded *p = ud;
  const char *s = p->text;
  (void)L;
  if (p->pad > 0) {
    *n = sizeof ends - 1 < (size_t)p->pad ? sizeof ends - 1 : (size_t)p->pad;
    p->pad -= (int)*n;
    return ends;
  }
  *n = p->n;
  p->n = 0;
  return s;
}

/* The number of the line that is typed; 1 without a shell. */
static int typed_line (lua_State *L) {
  const DtRepl *r = dtL_state(L)->stop_ud;
  return r != NULL && r->line_from > 0 ? r->line_from : 1;
}

static bool load_in_env (lua_State *L, const char *text, size_t n, int pad) {
  Padded p = {pad, text, n};
  if (lua_load(L, read_padded, &p, "=prompt", "t") != LUA_OK)
    return false;
  if (lua_getfield(L, LUA_REGISTRYINDEX, key_frame) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, key_env);
  }
  if (lua_setupvalue(L, -2, 1) == NULL)
    lua_pop(L, 1);
  return true;
}

void dt_eval_set_frame (lua_State *L) {
  lua_setfield(L, LUA_REGISTRYINDEX, key_frame);
}

/* Does the message of the top complain about the very first word?  Then the
** text was no statement, and what it lacks as an expression says more. */
static bool near_first (lua_State *L, const char *text) {
  static const char mark[] = "unexpected symbol near '";
  const char *msg = lua_tostring(L, -1);
  const char *at = msg != NULL ? strstr(msg, mark) : NULL;
  if (at == NULL)
    return false;
  at += sizeof mark - 1;
  text += strspn(text, " \t\n");
  size_t n = strlen(at);
  return n > 1 && strncmp(at, text, n - 1) == 0;
}

/* As statements; the message of the failed expression lies on the stack. */
static bool compile_statements (lua_State *L, const char *text, int pad) {
  DtCtx *cx = dtL_session(L)->cx;
  DtBuf b;
  bool ok = false;
  dt_buf_init(&b, cx);
  if (dt_source_locals(cx, text, &b) == DT_OK) {
    ok = load_in_env(L, dt_buf_str(&b), b.len, pad);
    if (ok || !near_first(L, text))
      lua_remove(L, -2);
    else
      lua_pop(L, 1);
  } else {
    dt_error_clear(cx);
  }
  dt_buf_fini(&b);
  return ok;
}

/* Does the message on the top say that the text has ended too early? */
static bool ends_early (lua_State *L) {
  static const char mark[] = "<eof>";
  size_t n, k = sizeof mark - 1;
  const char *msg = lua_tolstring(L, -1, &n);
  return msg != NULL && n >= k && strcmp(msg + n - k, mark) == 0;
}

/* "x + (" is no statement, but the beginning of an expression. */
static bool compile_behind (lua_State *L, const char *text, int pad,
                            bool *expression) {
  DtBuf b;
  size_t n;
  (void)dt_source_hidden(text, &n);
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_buf_addf(&b, "return %.*s", (int)n, text);
  *expression = !b.oom && load_in_env(L, dt_buf_str(&b), b.len, pad);
  if (b.oom)
    lua_pushnil(L);
  dt_buf_fini(&b);
  if (*expression || (lua_isstring(L, -1) && ends_early(L)))
    return *expression;
  return compile_statements(L, text, pad);
}

/* Lua counts every end of a line before the text: after ten thousands of lines
** that costs more than the text, so what it is is found without them. */
bool dt_eval_compile (lua_State *L, const char *text, bool *expression) {
  int pad = typed_line(L) - 1;
  if ((size_t)pad > strlen(text) &&
      compile_behind(L, text, 0, expression) && !*expression) {
    lua_pop(L, 1);
    lua_pushnil(L);             /* for the message of no expression */
    return compile_statements(L, text, pad);
  } else if ((size_t)pad > strlen(text)) {
    lua_pop(L, 1);
  }
  return compile_behind(L, text, pad, expression);
}

bool dt_eval_incomplete (lua_State *L, const char *text) {
  bool expression;
  bool more = !compile_behind(L, text, 0, &expression) && ends_early(L);
  lua_pop(L, 1);
  return more;
}

/* ---- a line ---- */

/* Arguments: values.  Keep the first in _, the one before in _1, ... */
static void keep_result (lua_State *L, int first) {
  char name[16], older[16];
  dt_eval_push_locals(L);
  lua_getfield(L, LUA_REGISTRYINDEX, key_kinds);
  int locals = lua_gettop(L) - 1;
  for (int i = EARLIER; i >= 0; i--) {
    snprintf(name, sizeof name, i > 0 ? "_%d" : "_", i);
    snprintf(older, sizeof older, i > 1 ? "_%d" : "_", i - 1);
    lua_pushboolean(L, 0);
    lua_setfield(L, locals + 1, name);
    if (i == 0)
      lua_pushvalue(L, first);
    else
      lua_getfield(L, locals, older);
    lua_setfield(L, locals, name);
  }
  lua_pop(L, 2);
}

/* Show the arguments; upvalue-free so that it can run protected. */
static int show_values (lua_State *L) {
  DtBuf *out = dtL_out(L);
  int n = lua_gettop(L);
  keep_result(L, 1);
  for (int i = 1; i <= n; i++) {
    size_t before = out->len;
    dtL_show_value(L, i, out);
    bool long_one = out->len > before &&
                    memchr(out->s + before, '\n', out->len - before) != NULL;
    if (i == n || long_one) {
      if (out->len == 0 || out->s[out->len - 1] != '\n')
        dt_buf_addc(out, '\n');
    } else {
      dt_buf_addc(out, '\t');
    }
  }
  if (dt_buf_ok(out) != DT_OK)
    return dtL_raise(L);
  return 0;
}

static int keep_values (lua_State *L) {
  keep_result(L, 1);
  return 0;
}

/* `line`: where it begins in what there is; 0: it is the whole source. */
typedef struct Source {
  const char *name; int line;
  const char *text; size_t n;
} Source;

/* For stops and :list; without memory there is none. */
static int add_source (lua_State *L) {
  const Source *s = lua_touserdata(L, 1);
  if (s->line > 0)
    dtL_source_append(L, s->name, s->line, s->text, s->n);
  else
    dtL_source_add(L, s->name, s->text, s->n);
  return 0;
}

static void keep_source (lua_State *L, const char *name, int line,
                         const char *text, size_t n) {
  Source s = {name, line, text, n};
  lua_pushcfunction(L, add_source);
  lua_pushlightuserdata(L, &s);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK)
    lua_pop(L, 1);
}

void dt_eval_keep_typed (lua_State *L, int line, const char *text) {
  keep_source(L, "prompt", line, text, strlen(text));
}

/* Does a text look like Python's? */
static bool looks_like_python (const char *text) {
  return dt_line_is_python(text) || strstr(text, "print(f\"") != NULL ||
         strstr(text, "None") != NULL || strstr(text, " is not ") != NULL;
}

/* The message of a text that does not compile is on the top. */
static void syntax_error (lua_State *L, const char *text, DtBuf *diag) {
  const char *msg = lua_tostring(L, -1);
  dt_buf_addf(diag, "DT0006 SyntaxError: %s\n",
              msg != NULL ? msg : "out of memory");
  if (msg != NULL && strstr(msg, "near '<\\") != NULL)
    dt_buf_add(diag, "  a name in Lua has the letters a to z, digits and _; "
               "others may be in strings\n");
  else if (looks_like_python(text))
    dt_buf_add(diag, "  this looks like Python: :python runs it, a line or a "
               "paste; :set python on\n  takes all lines so; `dtrepl FILE.py` "
               "runs a program\n");
}

/* On success the text of the last value is pushed. */
static DtStatus eval_python (lua_State *L, const char *text, size_t n,
                             const char *file, int below, DtBuf *diag) {
  static const char chunk[] =
    "return require('torch.prompt').python(...)";
  if (luaL_loadbufferx(L, chunk, sizeof chunk - 1, "=[dt.python]", "t") !=
      LUA_OK) {
    lua_pop(L, 1);
    return DT_E_NOMEM;
  }
  if (file != NULL)
    keep_source(L, file, 0, text, n);
  lua_pushlstring(L, text, n);
  lua_pushinteger(L, file != NULL ? 1 : typed_line(L) + below);
  lua_pushstring(L, file);
  return dt_eval_call(L, 3, 1, diag);
}

/* What a typed line of Python that says nothing, or failed, was meant to be. */
static void hint_python (DtRepl *r, const char *text, DtStatus st,
                         size_t before) {
  const char *said = dt_buf_str(&r->diag) + before;
  bool known = st == DT_OK ||
               (r->diag.len > before && strstr(said, "SyntaxError: ") == NULL &&
                strstr(said, "NameError: name '") == NULL);
  if (known || !dt_slip_command(r, text, &r->diag))
    dt_slip_hint(r->L, "python", text, st == DT_OK ? "" : said, &r->diag);
}

DtStatus dt_eval_python_line (DtRepl *r, const char *text, size_t n,
                              const char *file, int below) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  size_t len = 0;
  DtDebug *d = dt_debug_of(r->s);
  bool outer = d != NULL && d->python;
  size_t before = r->diag.len;
  if (d != NULL)
    d->python = true;
  DtStatus st = eval_python(L, text, n, file, below, &r->diag);
  if (d != NULL)
    d->python = outer;
  const char *s = st == DT_OK ? lua_tolstring(L, -1, &len) : NULL;
  if (s != NULL && len > 0) {
    dt_buf_addn(dtL_out(L), s, len);
    dt_buf_addc(dtL_out(L), '\n');
  }
  lua_settop(L, top);
  if (file == NULL && len == 0 && !dtL_state(L)->exiting)
    hint_python(r, text, st, before);
  return st;
}

/* dt_eval_call of the line on the stack, with what helps when it fails: here,
** or, of an error that stops at its operator, there. */
static DtStatus call_line (lua_State *L, const char *text, DtBuf *diag) {
  DtRepl *r = dtL_state(L)->stop_ud;
  const char *outer = r != NULL ? r->lua : NULL;
  size_t before = diag->len;
  if (r != NULL)
    r->lua = text;
  DtStatus st = dt_eval_call(L, 0, LUA_MULTRET, diag);
  if (r != NULL)
    r->lua = outer;
  if (st != DT_OK && diag->len > before)
    dt_slip_hint(L, "raised", text, dt_buf_str(diag) + before, diag);
  return st;
}

/* Does an error's report have a line of advice already? */
static bool advised (const char *report) {
  return strstr(report, "\n  ") != NULL;
}

/* A syntax error gets one hint: for what a PyTorch user meant if that is
** known, else for a command without its colon. */
DtStatus dt_eval_line (lua_State *L, const char *text, DtBuf *diag) {
  int top = lua_gettop(L);
  bool expression;
  size_t n;
  bool hidden = dt_source_hidden(text, &n);
  size_t before = diag->len;
  if (!dt_eval_compile(L, text, &expression)) {
    syntax_error(L, text, diag);
    lua_settop(L, top);
    DtRepl *r = dtL_state(L)->stop_ud;
    size_t said = diag->len;
    dt_slip_hint(L, "syntax", text, dt_buf_str(diag) + before, diag);
    if (r != NULL && diag->len == said && !advised(dt_buf_str(diag) + before))
      dt_slip_command(r, text, diag);
    return DT_E_PARSE;
  }
  DtFloor outer = dtL_floor(L, "prompt", typed_line(L));
  DtStatus st = call_line(L, text, diag);
  if (st == DT_OK && expression && lua_gettop(L) > top) {
    int count = lua_gettop(L) - top;
    if (count == 1)
      dt_slip_value(L, top + 1, text, diag);
    lua_pushcfunction(L, hidden ? keep_values : show_values);
    lua_insert(L, top + 1);
    st = dt_eval_call(L, count, 0, diag);
  }
  dtL_state(L)->floor = outer;
  lua_settop(L, top);
  return st;
}

/* ---- a script ---- */

/* What dt_eval_script was given. */
typedef struct Script {
  const char *text; size_t n;
  const char *name;
  int nargs; char **args;
  bool python;
} Script;

static void make_arg (lua_State *L, const Script *s) {
  const char *name = s->name;
  lua_createtable(L, s->nargs, 1);
  lua_pushstring(L, name[0] == '@' || name[0] == '=' ? name + 1 : name);
  lua_rawseti(L, -2, 0);
  for (int i = 0; i < s->nargs; i++) {
    lua_pushstring(L, s->args[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setglobal(L, "arg");
}

/* A Python file is run by the library: its text and name, then arguments.  What
** is loaded stays: a collector at work meanwhile finds nothing, for a tenth of the
** time until the program begins. */
static const char python_runner[] =
  "collectgarbage('stop')\n"
  "local script = require('torch.script')\n"
  "collectgarbage('restart')\n"
  "return script.run(...)";

bool dt_eval_is_python (const DtRepl *r, const char *name, const char *text,
                        size_t n) {
  const char *eol = memchr(text, '\n', n);
  size_t first = eol != NULL ? (size_t)(eol - text) : n, len = strlen(name);
  bool lua = len > 4 && strcmp(name + len - 4, ".lua") == 0;
  if (name[0] != '@' || lua || dt_is_python_file(name))
    return dt_is_python_file(name);
  if (n > 2 && text[0] == '#' && text[1] == '!')
    return memmem(text, first, "python", 6) != NULL;
  return r != NULL && r->app->o.python;
}

/* Protected: everything here may run out of memory.  Sets `arg`; returns the
** chunk and its arguments, or nil and the message of a syntax error. */
static int load_script (lua_State *L) {
  const Script *s = lua_touserdata(L, 1);
  int st;
  make_arg(L, s);
  st = s->python ? luaL_loadbufferx(L, python_runner, sizeof python_runner - 1,
                                 "=[dt.script]", "t")
              : dt_keep_load(L, s->text, s->n, s->name);
  if (st != LUA_OK) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  luaL_checkstack(L, s->nargs + 4, "too many arguments");
  if (s->python) {
    lua_pushlstring(L, s->text, s->n);
    lua_pushstring(L, s->name + 1);
  }
  for (int i = 0; i < s->nargs; i++)
    lua_pushstring(L, s->args[i]);
  return 1 + s->nargs + (s->python ? 2 : 0);
}

/* Compile and run on a clean stack. */
static DtStatus run_script (lua_State *L, const Script *s, DtBuf *diag) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, load_script);
  lua_pushlightuserdata(L, (void *)s);
  DtStatus st = dt_eval_call(L, 1, LUA_MULTRET, diag);
  if (st == DT_OK && lua_isnil(L, top + 1)) {
    lua_settop(L, top + 2);
    syntax_error(L, s->text, diag);
    st = DT_E_PARSE;
  } else if (st == DT_OK) {
    const char *name = s->name;
    keep_source(L, name[0] == '@' || name[0] == '=' ? name + 1 : name, 0,
                s->text, s->n);
    st = call(L, lua_gettop(L) - top - 1, 0, true, diag);
  }
  lua_settop(L, top);
  return st;
}

DtStatus dt_eval_script (lua_State *L, const char *text, size_t n,
                         const char *name, int nargs, char **args,
                         DtBuf *diag) {
  DtDebug *d = dt_debug_of(dtL_session(L));
  bool outer = d != NULL && d->python;
  Script script = { text, n, name, nargs, args,
                    dt_eval_is_python(dtL_state(L)->stop_ud, name, text, n) };
  if (n > 0 && text[0] == '#') {          /* #!: a comment for Lua */
    const char *eol = memchr(text, '\n', n);
    script.text = eol != NULL ? eol : text + n;
    script.n = n - (size_t)(script.text - text);
  }
  if (d != NULL && script.python && !dt_is_python_file(name))
    d->python = true;           /* no frame's name says so */
  DtStatus st = run_script(L, &script, diag);
  if (d != NULL)
    d->python = outer;
  return st;
}
