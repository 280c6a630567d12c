/* SPDX-License-Identifier: MIT
** bind/l_debug.c: dt.debug: the debugger's answers as data and as text, and
** names of script variables for reports. */
#include <stdio.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "bind/names.h"
#include "debug/debug.h"
#include "debug/debugmode.h"
#include "render/layout_view.h"

static int push_buf (lua_State *L, DtBuf *b, DtStatus st) {
  if (st == DT_OK) st = dt_buf_ok(b);
  if (st != DT_OK) { dt_buf_fini(b); return dtL_raise(L); }
  lua_pushstring(L, dt_buf_str(b));
  dt_buf_fini(b);
  return 1;
}

/* An operator of the record by number: 7, "#7", or "#7+1", the first operator
** typed at the stop behind #7. Without an argument it is the last one. */
const DtRecOp *dtL_check_recorded (lua_State *L, int idx, DtDebug *d) {
  const DtRecOp *r;
  const char *s = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : "";
  long long at, k;
  int end = 0;
  if (sscanf(s + (*s == '#'), "%lld+%lld%n", &at, &k, &end) == 2 &&
      s[(*s == '#') + end] == '\0') {
    r = dt_record_typed(d, at, k);
    if (r == NULL)
      dtL_errorf(L, DT_E_INDEX, "no operator typed at a stop is known as "
                 "#%lld+%lld; :history lists them", at, k);
    return r;
  }
  if (*s && !lua_isinteger(L, idx) && !lua_isnumber(L, idx))
    dtL_errorf(L, DT_E_INDEX, "wanted an operator as 7 or #7+1, not %s", s);
  int64_t seq = luaL_optinteger(L, idx, 0);
  r = dt_record_find(d, seq);
  if (r == NULL && seq > 0)
    dtL_errorf(L, DT_E_INDEX, "operator #%lld is not in the record",
               (long long)seq);
  if (r == NULL) dtL_errorf(L, DT_E_INDEX, "nothing is recorded yet");
  return r;
}

static int l_why (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  const DtRecOp *r = dtL_check_recorded(L, 1, d);
  DtBuf b;
  dt_buf_init(&b, d->s->cx);
  return push_buf(L, &b, dt_why_text(d, r, &b));
}

static int l_history_text (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtBuf b;
  dt_buf_init(&b, d->s->cx);
  dt_history_text(d, (int)luaL_optinteger(L, 1, 20), &b);
  return push_buf(L, &b, DT_OK);
}

static int l_ledger_text (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtBuf b;
  dt_buf_init(&b, d->s->cx);
  dt_ledger_text(d, &b);
  return push_buf(L, &b, DT_OK);
}

static int l_show (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtBuf b;
  if (v->spec == NULL)
    return dtL_errorf(L, DT_E_TYPE, "a plain tensor lies whole on every rank; "
                      ":show draws distributed ones");
  dt_buf_init(&b, v->s->cx);
  return push_buf(L, &b, dt_layout_view(v->s->cx, v->spec, &b));
}

static int l_plan (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtVar *v = dtL_check_tensor(L, 1);
  DtPlacement pl[DT_MAX_MDIM];
  int n = dtL_check_placements(L, 2, pl, DT_MAX_MDIM);
  DtBuf b;
  dt_buf_init(&b, d->s->cx);
  return push_buf(L, &b, dt_plan_text(d, v, n, pl, &b));
}

/* "mul", "aten.mul": its first overload, where none is the default. */
static const DtOpDef *first_overload (DtSession *s, const char *name) {
  const char *base = strncmp(name, "aten.", 5) == 0 ? name + 5 : name;
  const DtPacket *p = dt_registry_packet(s->cx, s->registry, "aten", base);
  return p && p->n > 0 ? p->op[0] : NULL;
}

/* :rules NAME: the name may lack "aten." or its overload. If the operator is
** in the record its shapes there fill in the table, else the rules stand
** alone. */
static int l_rules (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  const char *name = luaL_checkstring(L, 1);
  DtSession *s = d->s;
  const DtOpDef *op = dt_registry_find(s->cx, s->registry, name);
  const DtRecOp *r = NULL;
  char full[128];
  int i;
  DtBuf b;
  if (op == NULL && strncmp(name, "aten.", 5) != 0) {
    snprintf(full, sizeof full, "aten.%.100s", name);
    op = dt_registry_find(s->cx, s->registry, full);
  }
  if (op == NULL) op = first_overload(s, name);
  if (op == NULL) {
    const char *near[3];
    int n;
    dt_error_clear(s->cx);
    n = dt_registry_near(s->cx, s->registry, name, near, 3);
    return dtL_errorf(L, DT_E_KEY, "no operator called '%s'%s%s", name,
                      n ? "; did you mean " : "", n ? near[0] : "");
  }
  for (i = 0; i < d->rec.n && r == NULL; i++)
    if (dt_record_at(d, i)->op == op) r = dt_record_at(d, i);
  dt_buf_init(&b, s->cx);
  return push_buf(L, &b, dt_rules_text(d, op, r, &b));
}

/* --- the record as data --- */

static void push_recvar (lua_State *L, const DtRecVar *v) {
  DtBuf b;
  lua_createtable(L, 0, 6);
  if (v->none) return;
  dt_buf_init(&b, dtL_session(L)->cx);
  if (v->spec) {
    dtL_push_placements(L, v->spec->pl, v->spec->npl);
    lua_setfield(L, -2, "placements");
    dt_buf_add(&b, "dt: ");
    dt_spec_print(v->spec, &b);
  } else { dt_buf_add(&b, "t: "); dt_meta_print(v->meta, &b); }
  dtL_set_str(L, "spec", dt_buf_str(&b));
  dt_buf_fini(&b);
  dtL_push_size(L, v->meta->shape, v->meta->ndim);
  lua_setfield(L, -2, "shape");
  dtL_set_str(L, "dtype", dt_dtype_info((DtDtype)v->meta->dtype)->name);
  dtL_set_int(L, "id", v->id);
}

static void push_coll (lua_State *L, const DtRecColl *c) {
  lua_createtable(L, 0, 8);
  dtL_set_str(L, "op", c->coll);
  if (c->reduce) dtL_set_str(L, "reduce", c->reduce);
  dtL_set_str(L, "mesh_dim", c->mdim);
  dtL_set_int(L, "ranks", c->ngroup);
  dtL_set_int(L, "bytes_in", c->bytes_in);
  dtL_set_int(L, "bytes_out", c->bytes_out);
  dtL_set_bool(L, "implicit", c->implicit);
  dtL_set_int(L, "arg", c->slot);
}

static void push_recop (lua_State *L, const DtRecOp *r) {
  DtBuf b;
  int i;
  lua_createtable(L, 0, 12);
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_record_print(r, &b);
  dtL_set_str(L, "text", dt_buf_str(&b));
  dt_buf_fini(&b);
  dtL_set_int(L, "seq", r->seq);
  dtL_set_str(L, "op", r->label);
  dtL_set_str(L, "file", r->file ? r->file : "");
  dtL_set_int(L, "line", r->line);
  dtL_set_str(L, "module", r->module ? r->module : "");
  dtL_set_bool(L, "backward", r->backward);
  if (r->st != DT_OK) dtL_set_str(L, "error", dt_error_info(r->st)->id);
  lua_createtable(L, r->nin, 0);
  for (i = 0; i < r->nin; i++) {
    push_recvar(L, &r->in[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "inputs");
  lua_createtable(L, r->nout, 0);
  for (i = 0; i < r->nout; i++) {
    push_recvar(L, &r->out[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "outputs");
  lua_createtable(L, r->ncoll, 0);
  for (i = 0; i < r->ncoll; i++) {
    push_coll(L, &r->coll[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "collectives");
}

/* dt.debug.history(n) -> list of operators, oldest first. */
static int l_history (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  int n = (int)luaL_optinteger(L, 1, d->rec.n), i;
  if (n > d->rec.n) n = d->rec.n;
  if (n < 0) n = 0;
  lua_createtable(L, n, 0);
  for (i = n - 1; i >= 0; i--) {
    push_recop(L, dt_record_at(d, i));
    lua_seti(L, -2, n - i);
  }
  return 1;
}

/* --- dt.debug.record(f, ...): every event of f, as a list --- */

typedef struct Tape {
  lua_State *L;
  int list, n;
  uint64_t mask;                /* kinds of events */
  bool brief;                   /* without the ranks of groups */
} Tape;

static void tape_group (lua_State *L, const DtEvent *e) {
  int i;
  lua_createtable(L, e->ngroup, 0);
  for (i = 0; i < e->ngroup; i++) {
    lua_pushinteger(L, e->group ? e->group[i] : i);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "group");
}

static void tape_vars (lua_State *L, const char *key, int n,
                       DtVar *const *v) {
  int i;
  DtBuf b;
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    dt_buf_init(&b, dtL_session(L)->cx);
    if (v[i]) dt_var_print(v[i], &b); else dt_buf_add(&b, "None");
    dtL_push_buf(L, &b);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, key);
}

static const char *event_name (DtEventKind k) {
  static const char *const names[] = {
#define X(name, doc) #name,
#include "engine/events.def"
#undef X
  };
  return k < DT_NEVENTS ? names[k] : "?";
}

/* "tp", or the number where dimensions have no names; "" across several. */
static const char *mesh_dim_name (const DtEvent *e) {
  static const char *const number[] = { "0", "1", "2", "3", "4", "5", "6",
                                        "7", "8", "9" };
  if (e->mesh == NULL || e->mdim < 0 || e->mdim >= e->mesh->ndim) return "";
  if (e->mesh->name[e->mdim] != NULL) return e->mesh->name[e->mdim];
  return e->mdim < 10 ? number[e->mdim] : "?";
}

typedef struct TapeRow { Tape *t; const DtEvent *e; } TapeRow;

/* Runs protected: (TapeRow *), one row into the list. */
static int tape_row (lua_State *L) {
  const TapeRow *row = (const TapeRow *)lua_touserdata(L, 1);
  const DtEvent *e = row->e;
  Tape *t = row->t;
  luaL_checkstack(L, 12, NULL);
  lua_createtable(L, 0, 10);
  dtL_set_str(L, "kind", event_name(e->kind));
  dtL_set_int(L, "seq", e->seq);
  dtL_set_int(L, "depth", e->depth);
  if (e->op && e->op->sig) dtL_set_str(L, "op", e->op->sig->full);
  if (e->line) {
    dtL_set_str(L, "file", e->file);
    dtL_set_int(L, "line", e->line);
  }
  if (e->text) dtL_set_str(L, "text", e->text);
  if (e->nin) tape_vars(L, "inputs", e->nin, e->in);
  if (e->nout) tape_vars(L, "outputs", e->nout, e->out);
  dtL_set_bool(L, "backward", e->backward);
  if (e->kind == DT_EV_COLL) {
    dtL_set_str(L, "coll", e->coll);
    if (e->reduce) dtL_set_str(L, "reduce", e->reduce);
    dtL_set_int(L, "bytes_in", e->bytes_in);
    dtL_set_int(L, "bytes_out", e->bytes_out);
    dtL_set_str(L, "mesh_dim", mesh_dim_name(e));
    if (!t->brief) tape_group(L, e);
  }
  if (e->plan && e->kind == DT_EV_REDIST) {
    DtBuf b;
    dt_buf_init(&b, dtL_session(L)->cx);
    dt_plan_print(e->plan, &b);
    dtL_push_buf(L, &b);
    lua_setfield(L, -2, "plan");
    dtL_set_bool(L, "implicit", e->implicit);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, t->list);
  lua_insert(L, -2);
  lua_seti(L, -2, ++t->n);
  return 0;
}

/* One row of dt.debug.record() for each event.  The mute flag hides what the
** debugger itself runs.  A row that Lua has no memory for ends the operator:
** a list with a gap would be read as what happened. */
static DtStatus tape_listen (void *ud, DtSession *s, const DtEvent *e) {
  TapeRow row = { (Tape *)ud, e };
  const DtDebug *d = dt_debug_of(s);
  if (d && d->muted) return DT_OK;
  return dtL_protected(row.t->L, tape_row, &row);
}

/* Kinds named in the list at `at`; all when there is none. */
static uint64_t kinds_of (lua_State *L, int at) {
  uint64_t mask = 0;
  int i, k;
  for (i = 1; lua_geti(L, at, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
    const char *name = luaL_checkstring(L, -1);
    for (k = 0; k < DT_NEVENTS; k++)
      if (strcmp(event_name((DtEventKind)k), name) == 0) break;
    if (k == DT_NEVENTS)
      luaL_error(L, "there is no event called '%s'", name);
    mask |= UINT64_C(1) << k;
  }
  lua_pop(L, 1);
  return mask;
}

/* dt.debug.record([kinds,] f, ...) -> list of events, f's result, error.  With
** a list of kinds ({"COLL"}) only those, without the ranks of groups. */
static int l_record (lua_State *L) {
  DtSession *s = dtL_session(L);
  Tape *t = (Tape *)lua_newuserdatauv(L, sizeof *t, 0);
  int id, st;
  t->brief = lua_istable(L, 1);
  t->mask = t->brief ? kinds_of(L, 1) : (UINT64_C(1) << DT_NEVENTS) - 1;
  if (t->brief) lua_remove(L, 1);
  lua_insert(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  t->L = L;
  t->n = 0;
  lua_newtable(L);
  t->list = luaL_ref(L, LUA_REGISTRYINDEX);
  if (dt_event_listen(s, t->mask, tape_listen, t, &id) != DT_OK) {
    luaL_unref(L, LUA_REGISTRYINDEX, t->list);
    return dtL_raise(L);
  }
  st = lua_pcall(L, lua_gettop(L) - 2, 1, 0);
  dt_event_unlisten(s, id);
  lua_rawgeti(L, LUA_REGISTRYINDEX, t->list);
  luaL_unref(L, LUA_REGISTRYINDEX, t->list);
  lua_insert(L, -2);
  if (st == LUA_OK) { lua_pushnil(L); return 3; }    /* list, result, nil */
  lua_pushnil(L);
  lua_insert(L, -2);
  return 3;                                          /* list, nil, error */
}

#define TRACE "dt.trace"

static int trace_stop (lua_State *L) {
  DtTrace **t = (DtTrace **)luaL_checkudata(L, 1, TRACE);
  if (*t == NULL) { lua_pushliteral(L, ""); return 1; }
  lua_pushstring(L, dt_trace_text(*t));
  dt_trace_free(dtL_session(L), *t);
  *t = NULL;
  return 1;
}

/* Without a function: listens until its stop(), which gives the lines; trace(nil,
** true) gives them to the letter (debug/debugmode.h), trace(nil, true, false) without
** results. */
static int trace_open (lua_State *L) {
  bool torch = lua_toboolean(L, 2);
  bool outputs = lua_isnone(L, 3) || lua_toboolean(L, 3);
  DtTrace **t = (DtTrace **)lua_newuserdatauv(L, sizeof *t, 0);
  *t = NULL;
  if (luaL_newmetatable(L, TRACE)) {
    lua_pushcfunction(L, trace_stop);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "stop");
    lua_setfield(L, -2, "__gc");
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  return dt_trace_new(dtL_session(L), torch, outputs, t) == DT_OK ? 1 : dtL_raise(L);
}

/* dt.debug.trace(f) -> DebugMode's lines, result or error. */
static int l_trace (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtTrace *t = NULL;
  int st;
  if (lua_isnoneornil(L, 1)) return trace_open(L);
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (dt_trace_new(s, false, true, &t) != DT_OK) return dtL_raise(L);
  st = lua_pcall(L, lua_gettop(L) - 1, 1, 0);
  lua_pushstring(L, dt_trace_text(t));
  dt_trace_free(s, t);
  lua_insert(L, -2);
  if (st == LUA_OK) return 2;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 3;
}

void dtL_open_debug (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"history", l_history}, {"history_text", l_history_text},
    {"ledger_text", l_ledger_text}, {"plan_text", l_plan}, {"record", l_record},
    {"rules_text", l_rules}, {"show_text", l_show}, {"trace", l_trace},
    {"why_text", l_why}, {NULL, NULL}
  };
  luaL_newlib(L, funcs);
  lua_setfield(L, dt, "debug");
}
