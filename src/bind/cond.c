/* SPDX-License-Identifier: MIT
** bind/cond.c: conditions of breakpoints: expressions of Lua, or of Python
** (lua/torch/condition.lua), over the event and the variables of the script.
** In a program of Python they are first taken for Python's; what one language
** does not read, or fails in, is tried in the other, but for names that are
** nobody's. */
#include <string.h>
#include "bind/field.h"
#include "bind/frame.h"

/* --- facts of an event --- */

static void set_vars (lua_State *L, const char *k, int n, DtVar *const *v) {
  int i;
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    if (v[i]) dtL_share_tensor(L, v[i]);
    else dtL_push_none(L);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, k);
}

const char *dtL_event_kind (int k) {
  static const char *const names[] = {
#define X(name, doc) #name,
#include "engine/events.def"
#undef X
  };
  return k < DT_NEVENTS ? names[k] : "?";
}

static void set_coll (lua_State *L, const DtEvent *e) {
  DtBuf label;
  dtL_set_str(L, "collective", e->coll);
  dtL_set_str(L, "reduce", e->reduce);
  dtL_set_int(L, "bytes", e->bytes_in);
  dtL_set_int(L, "bytes_out", e->bytes_out);
  dtL_set_int(L, "ranks", e->ngroup);
  if (e->mesh == NULL || e->mdim < 0) return;
  dt_buf_init(&label, dtL_session(L)->cx);
  dt_mesh_dim_label(e->mesh, e->mdim, &label);
  dtL_push_buf(L, &label);
  lua_setfield(L, -2, "mesh_dim");
}

static void set_redist (lua_State *L, const DtEvent *e) {
  DtBuf b;
  dtL_set_bool(L, "implicit", e->implicit);
  dtL_set_int(L, "arg", e->slot);
  if (e->plan == NULL) return;
  dtL_set_int(L, "bytes", dt_plan_bytes(e->plan));
  dtL_set_int(L, "steps", e->plan->nsteps);
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_plan_print(e->plan, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, "plan");
}

void dtL_push_event (lua_State *L, const DtEvent *e) {
  lua_createtable(L, 0, 16);
  dtL_set_str(L, "kind", dtL_event_kind((int)e->kind));
  dtL_set_int(L, "seq", e->seq);
  dtL_set_int(L, "depth", e->depth);
  dtL_set_str(L, "file", e->file);
  dtL_set_int(L, "line", e->line);
  dtL_set_str(L, "module", e->module);
  dtL_set_bool(L, "backward", e->backward);
  if (e->op && e->op->sig) dtL_set_str(L, "op", e->op->sig->full);
  else dtL_set_str(L, "op", e->text);
  dtL_set_str(L, "text", e->text);
  set_vars(L, "inputs", e->nin, e->in);
  set_vars(L, "outputs", e->nout, e->out);
  if (e->kind == DT_EV_COLL || e->kind == DT_EV_COLL_END) set_coll(L, e);
  if (e->kind >= DT_EV_REDIST && e->kind <= DT_EV_REDIST_END)
    set_redist(L, e);
  if (e->kind == DT_EV_ERROR) {
    dtL_set_str(L, "code", dt_error_info(e->status)->id);
    dtL_set_str(L, "error", dt_error_info(e->status)->name);
    if (e->err) dtL_set_str(L, "message", dt_buf_str(&e->err->err.message));
  }
}

/* --- conditions --- */

typedef struct Cond {
  const DtBreak *b;
  bool yes, final;              /* `final`: no other language is tried */
} Cond;

/* Where a condition is asked, while it is.  `told`: the event was made a table,
** which the registry has.  Environments are made once and look here. */
typedef struct DtJudged {
  const DtEvent *e;
  int64_t hits;
  bool found, told;             /* `found`: a frame of the script */
  DtTop top;
} DtJudged;

static const char key_event[] = "dt.condition.event";
static const char key_facts[] = "dt.condition.facts";
static const char key_names[] = "dt.condition.names";
static const char key_holds[] = "dt.condition.holds";

static bool is_event_field (const char *name) {
  static const char *const fields[] = {
    "kind", "seq", "depth", "file", "line", "module", "backward", "op", "text",
    "inputs", "outputs", "collective", "reduce", "bytes", "bytes_out", "ranks",
    "mesh_dim", "implicit", "arg", "steps", "plan", "code", "error", "message",
    "hits"
  };
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(fields[i], name) == 0) return true;
  return false;
}

static void push_told (lua_State *L, DtJudged *j) {
  if (!j->told) {
    if (j->e) dtL_push_event(L, j->e);
    else lua_newtable(L);
    dtL_set_int(L, "hits", j->hits);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key_event);
    j->told = true;
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, key_event);
}

/* What conditions ask most costs no table of all that an event has. */
static bool push_quick (lua_State *L, const DtJudged *j, const char *name) {
  const DtEvent *e = j->e;
  if (e == NULL) return false;
  if (strcmp(name, "seq") == 0) lua_pushinteger(L, e->seq);
  else if (strcmp(name, "line") == 0) lua_pushinteger(L, e->line);
  else if (strcmp(name, "hits") == 0) lua_pushinteger(L, j->hits);
  else if (strcmp(name, "backward") == 0) lua_pushboolean(L, e->backward);
  else if (strcmp(name, "op") == 0 && e->op && e->op->sig)
    lua_pushstring(L, e->op->sig->full);
  else if (strcmp(name, "module") == 0 && e->module)
    lua_pushstring(L, e->module);
  else return false;
  return true;
}

/* Push what the event says of the name at 2; false, and nothing is pushed: none. */
static bool push_fact (lua_State *L) {
  DtJudged *j = dtL_state(L)->judged;
  if (j == NULL || lua_type(L, 2) != LUA_TSTRING ||
      !is_event_field(lua_tostring(L, 2))) return false;
  if (push_quick(L, j, lua_tostring(L, 2))) return true;
  push_told(L, j);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return true;
  lua_pop(L, 2);
  return false;
}

/* __index of facts: the event alone. */
static int facts_index (lua_State *L) {
  return push_fact(L);
}

/* __index of names: the event, then the frame, then what the prompt sees. */
static int names_index (lua_State *L) {
  DtJudged *j = dtL_state(L)->judged;
  if (push_fact(L)) return 1;
  if (j && j->found && lua_type(L, 2) == LUA_TSTRING &&
      dtL_top_variable(L, &j->top, lua_tostring(L, 2))) return 1;
  dtL_push_prompt_env(L);
  lua_pushvalue(L, 2);
  lua_gettable(L, -2);
  return 1;
}

/* Push the environment kept under `key`; one that was written to is left.  A
** condition that assigned to a global wrote into the environment; the next
** one must not see that, hence a new table. */
static void push_seen (lua_State *L, const char *key, lua_CFunction index) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) {
    lua_pushnil(L);
    if (!lua_next(L, -2)) return;
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, index);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

static int load_lua (lua_State *L, const char *cond) {
  int rc;
  lua_pushfstring(L, "return %s", cond);
  rc = luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1),
                        "=condition", "t");
  lua_remove(L, -2);
  return rc;
}

/* Push the condition as a function of Lua; each text is compiled once.  Kept
** by its text for as long as the state lives; its environment is set before
** each call (run_lua). */
static void push_lua (lua_State *L, const char *cond) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, "dt.conditions");
  if (lua_getfield(L, -1, cond) == LUA_TNIL) {
    lua_pop(L, 1);
    if (load_lua(L, cond) != LUA_OK) lua_error(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, cond);
  }
  lua_remove(L, -2);
}

/* Protected: the breakpoint's Cond. */
static int run_lua (lua_State *L) {
  Cond *k = (Cond *)lua_touserdata(L, 1);
  push_lua(L, k->b->cond);
  push_seen(L, key_names, names_index);
  if (lua_setupvalue(L, -2, 1) == NULL) lua_pop(L, 1);
  lua_call(L, 0, 1);
  k->yes = lua_toboolean(L, -1);
  return 0;
}

static void push_python (lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "torch.condition");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

static int run_python (lua_State *L) {
  Cond *k = (Cond *)lua_touserdata(L, 1);
  DtJudged *j = dtL_state(L)->judged;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key_holds) != LUA_TFUNCTION) {
    push_python(L, "holds");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key_holds);
  }
  lua_pushstring(L, k->b->cond);
  push_seen(L, key_facts, facts_index);
  push_seen(L, key_names, names_index);
  if (!j->found || !dtL_top_scope(L, &j->top)) lua_pushnil(L);
  lua_call(L, 4, 2);
  k->final = !lua_isnil(L, -1);
  if (k->final) return lua_error(L);
  k->yes = lua_toboolean(L, -2);
  return 0;
}

static int try_cond (lua_State *L, lua_CFunction run, Cond *k) {
  k->yes = false;
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, k);
  return lua_pcall(L, 1, 0, 0);
}

static bool is_python (lua_State *L, DtJudged *j) {
  if (dtL_state(L)->ref_py[0] == 0 || !j->found) return false;  /* none was read */
  if (!dtL_top_scope(L, &j->top)) return false;
  lua_pop(L, 1);
  return true;
}

/* What is asked from now on; gives what was before. */
static DtJudged *judge (lua_State *L, DtJudged *j) {
  DtBind *b = dtL_state(L);
  DtJudged *outer = b->judged;
  b->judged = j;
  return outer;
}

static void try_both (lua_State *L, Cond *k, bool python, DtBuf *why) {
  int top = lua_gettop(L);
  if (try_cond(L, python ? run_python : run_lua, k) == LUA_OK ||
      (!k->final && try_cond(L, python ? run_lua : run_python, k) == LUA_OK))
    return;
  dtL_error_text(L, top + 1, why);      /* what the program's own said */
  if (why->len == 0) dt_buf_add(why, "an error");
}

/* What the condition computes leaves no trace.  It runs where the script does:
** a call of the main coroutine's would make that one the current. */
bool dtL_cond (lua_State *L, const DtBreak *b, const DtEvent *e, DtBuf *why) {
  DtDebug *d = dt_debug_of(dtL_session(L));
  Cond k = { b, false, false };
  DtJudged j, *outer;
  DtMute m;
  int top = lua_gettop(L);
  DtError saved = d->s->cx->err;
  if (!lua_checkstack(L, 24)) return false;
  memset(&d->s->cx->err, 0, sizeof d->s->cx->err);
  dt_buf_init(&d->s->cx->err.message, d->s->cx);
  dt_buf_init(&d->s->cx->err.explain, d->s->cx);
  dt_debug_mute(d, &m);
  j.e = e;
  j.hits = b->hits + 1;
  j.told = false;
  j.found = dtL_top(L, &j.top);
  outer = judge(L, &j);
  try_both(L, &k, is_python(L, &j), why);
  (void)judge(L, outer);
  if (outer) outer->told = false;
  dt_debug_unmute(d, &m);
  lua_settop(L, top);
  dt_error_clear(d->s->cx);
  dt_buf_fini(&d->s->cx->err.message);
  dt_buf_fini(&d->s->cx->err.explain);
  d->s->cx->err = saved;
  return k.yes;
}

static int read_python (lua_State *L) {
  push_python(L, "read");
  lua_insert(L, 1);
  lua_call(L, 1, 0);
  return 0;
}

bool dtL_cond_reads (lua_State *L, const char *expr, DtBuf *why) {
  int top = lua_gettop(L);
  bool lua = load_lua(L, expr) == LUA_OK, python;
  DtJudged j;
  lua_pushcfunction(L, read_python);
  lua_pushstring(L, expr);
  python = lua_pcall(L, 1, 0, 0) == LUA_OK;
  j.found = dtL_top(L, &j.top);
  if (!lua && !python && is_python(L, &j)) {
    dt_buf_add(why, "the condition is no expression of Python: ");
    dtL_error_text(L, -1, why);
  } else if (!lua && !python) {
    dt_buf_addf(why, "the condition is no Lua expression: %s",
                lua_tostring(L, top + 1));
  }
  lua_settop(L, top);
  dt_error_clear(dtL_session(L)->cx);
  return lua || python;
}
