/* SPDX-License-Identifier: MIT
** bind/l_record.c: dt._record: what runs, as rows of data: one for each
** operator or DTensor call at the top, with arguments, results, the
** redistributions and the collectives inside it.  Rows and specs have the
** keys of the reference traces (dt.debug's record keeps what a person asks
** for; this keeps what can be compared line by line).
**
** A row begins with an operator (OP) or a DTensor call (FUNC without an
** operator) when none is open; composites are transparent, and so is
** distribute_tensor, whose collectives are rows of their own.  It costs a
** table per operator, so it listens only between start and stop. */
#include <stdio.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "debug/debug.h"

enum { NAMED_TENSOR_KEYS = 6, NESTED = 8 };

typedef struct Recorder {
  lua_State *L;
  int list;                     /* registry: the list of rows */
  int row;                      /* registry: the open row, or LUA_NOREF */
  int id;                       /* of the listener */
  int open;                     /* rows and what is nested in them */
  const DtArgs *args[NESTED];   /* of each of these, the outermost first */
  int nredist;                  /* redistributions of the open row */
  bool in_redist;
  bool on;
} Recorder;

static void set_flag (lua_State *L, const char *k) {
  dtL_set_bool(L, k, 1);
}

/* --- specs and values --- */

static void push_pl_texts (lua_State *L, const DtPlacement *pl, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    DtBuf b;
    dt_buf_init(&b, dtL_session(L)->cx);
    dt_pl_print(pl[i], &b);
    dtL_push_buf(L, &b);
    lua_seti(L, -2, i + 1);
  }
}

static void set_mesh (lua_State *L, const DtMesh *m) {
  lua_createtable(L, m->ndim, 0);
  for (int i = 0; i < m->ndim; i++) {
    if (m->name[i] == NULL) break;
    lua_pushstring(L, m->name[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "mesh");
}

static void set_meta (lua_State *L, const DtMeta *m, const char *kind) {
  dtL_set_str(L, kind, dt_dtype_info((DtDtype)m->dtype)->name);
  dtL_push_ints(L, m->shape, m->ndim);
  lua_setfield(L, -2, "shape");
  if (!dt_meta_is_contiguous(m)) {
    dtL_push_ints(L, m->stride, m->ndim);
    lua_setfield(L, -2, "stride");
  }
}

static void push_spec (lua_State *L, const DtSpec *s) {
  lua_createtable(L, 0, NAMED_TENSOR_KEYS);
  set_meta(L, &s->meta, "dt");
  push_pl_texts(L, s->pl, s->npl);
  lua_setfield(L, -2, "pl");
  set_mesh(L, s->mesh);
}

static void push_var (lua_State *L, const DtVar *v) {
  if (v == NULL) {
    dtL_push_none(L);
  } else if (v->spec != NULL) {
    push_spec(L, v->spec);
  } else {
    lua_createtable(L, 0, NAMED_TENSOR_KEYS);
    set_meta(L, &v->local->m, "t");
  }
}

static void push_value (lua_State *L, const DtValue *v, const DtEvent *e) {
  luaL_checkstack(L, 6, "arguments nested too deeply");
  if (dtL_push_plain_arg(L, v, false)) return;
  switch ((DtValueKind)v->kind) {
    case DT_V_TENSOR:
      push_var(L, v->u.slot < e->nin ? e->in[v->u.slot] : NULL);
      break;
    case DT_V_LIST:
      lua_createtable(L, v->u.list.n, 0);
      for (int i = 0; i < v->u.list.n; i++) {
        push_value(L, &v->u.list.v[i], e);
        lua_seti(L, -2, i + 1);
      }
      break;
    default: dtL_push_none(L); break;
  }
}

static void set_args (lua_State *L, const DtEvent *e) {
  const DtArgs *a = e->args;
  bool any = false;
  lua_createtable(L, a->npos, 0);
  for (int i = 0; i < a->npos; i++) {
    push_value(L, &a->v[i], e);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "in");
  for (int i = a->npos; i < a->n; i++) {
    if (!(a->given >> i & 1u)) continue;
    if (!any) lua_newtable(L);
    any = true;
    push_value(L, &a->v[i], e);
    lua_setfield(L, -2, a->schema->arg[i].name);
  }
  if (any) lua_setfield(L, -2, "kw");
}

static void set_vars (lua_State *L, const char *key, int n, DtVar *const *v) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    push_var(L, v[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, key);
}

/* "dtensors": the distributed tensors among the arguments themselves (those
** inside lists are none of them), as objects that a program would print. */
static void set_dtensors (lua_State *L, const DtEvent *e) {
  const DtArgs *a = e->args;
  lua_createtable(L, a->npos, 0);
  for (int i = 0, n = 0; i < a->npos; i++) {
    const DtValue *v = &a->v[i];
    const DtVar *x = v->kind == DT_V_TENSOR && v->u.slot < e->nin
      ? e->in[v->u.slot] : NULL;
    if (x == NULL || x->spec == NULL) continue;
    lua_createtable(L, 0, 3);
    dtL_push_size(L, x->spec->meta.shape, x->spec->meta.ndim);
    lua_setfield(L, -2, "shape");
    dtL_push_placements(L, x->spec->pl, x->spec->npl);
    lua_setfield(L, -2, "placements");
    *dtL_box_mesh(L) = dt_mesh_ref(x->spec->mesh);
    lua_setfield(L, -2, "device_mesh");
    lua_seti(L, -2, ++n);
  }
  lua_setfield(L, -2, "dtensors");
}

/* --- rows --- */

static void row_begin (Recorder *r, const DtEvent *e, const char *op) {
  lua_State *L = r->L;
  lua_createtable(L, 0, 12);
  dtL_set_str(L, "op", op);
  dtL_set_str(L, "module", e->module);
  if (e->backward) set_flag(L, "backward");
  r->row = luaL_ref(L, LUA_REGISTRYINDEX);
  r->nredist = 0;
}

/* Append field `key`[#+1] = top of the stack; pops it. */
static void append_to_field (lua_State *L, int row, const char *key) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, row);
  if (lua_getfield(L, -1, key) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, key);
  }
  lua_pushvalue(L, -3);
  lua_seti(L, -2, luaL_len(L, -2) + 1);
  lua_pop(L, 3);
}

static void row_end (Recorder *r) {
  lua_State *L = r->L;
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->list);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->row);
  lua_seti(L, -2, luaL_len(L, -2) + 1);
  lua_pop(L, 1);
  luaL_unref(L, LUA_REGISTRYINDEX, r->row);
  r->row = LUA_NOREF;
}

static bool any_dist (int n, DtVar *const *v) {
  for (int i = 0; i < n; i++)
    if (v[i] != NULL && v[i]->spec != NULL) return true;
  return false;
}

/* A function without a row of its own, as PyTorch's to_local is where it has
** nothing to differentiate. */
static bool has_no_row (const DtSession *s, const DtEvent *e) {
  if (e->op != NULL) return true;
  if (e->text == NULL) return false;
  return strcmp(e->text, "distribute_tensor") == 0 ||
         (!s->grad_enabled && strcmp(e->text, "dtensor.to_local") == 0);
}

/* The number of slots' tensor among the arguments, lists flattened: what is
** no tensor counts, too. */
static int flat_index (const DtArgs *a, int slot) {
  int at = 0;
  for (int i = 0; a != NULL && i < a->n; i++) {
    const DtValue *v = &a->v[i];
    int n = v->kind == DT_V_LIST ? v->u.list.n : 1;
    const DtValue *one = v->kind == DT_V_LIST ? v->u.list.v : v;
    for (int k = 0; k < n; k++)
      if (one[k].kind == DT_V_TENSOR && one[k].u.slot == slot) return at + k;
    at += n;
  }
  return slot;
}

static void on_begin (Recorder *r, const DtEvent *e) {
  lua_State *L = r->L;
  if (r->open < NESTED) r->args[r->open] = e->args;
  if (r->open++ > 0) {
    if (e->op != NULL && e->kind == DT_EV_OP) {
      lua_pushstring(L, e->op->sig->full);
      append_to_field(L, r->row, "local");
    }
    return;
  }
  row_begin(r, e, e->op != NULL ? e->op->sig->full : e->text);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->row);
  if (e->args != NULL) set_args(L, e);
  else set_vars(L, "in", e->nin, e->in);
  if (e->op != NULL) {
    if (!any_dist(e->nin, e->in)) set_flag(L, "plain");
    else if (e->args != NULL) set_dtensors(L, e);
  }
  lua_pop(L, 1);
}

static void on_end (Recorder *r, const DtEvent *e) {
  lua_State *L = r->L;
  if (r->open == 0 || --r->open > 0) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->row);
  if (e->status == DT_OK) set_vars(L, "out", e->nout, e->out);
  else dtL_set_str(L, "error", dt_error_info(e->status)->pyclass);
  lua_pop(L, 1);
  row_end(r);
}

static void on_redist (Recorder *r, const DtEvent *e) {
  lua_State *L = r->L;
  if (r->row == LUA_NOREF) return;
  lua_createtable(L, 0, 4);
  if (e->implicit)
    dtL_set_int(L, "arg", flat_index(r->open > 0 && r->open <= NESTED
                                     ? r->args[r->open - 1] : NULL, e->slot));
  push_pl_texts(L, e->plan->src->pl, e->plan->src->npl);
  lua_setfield(L, -2, "src");
  push_pl_texts(L, e->plan->dst->pl, e->plan->dst->npl);
  lua_setfield(L, -2, "dst");
  dtL_set_bool(L, "implicit", e->implicit);
  append_to_field(L, r->row, "redist");
  r->nredist++;
  r->in_redist = true;
}

static void push_group (lua_State *L, const DtEvent *e) {
  lua_createtable(L, 1, 0);
  if (e->mesh != NULL && e->mdim >= 0 && e->mesh->name[e->mdim] != NULL) {
    lua_pushstring(L, e->mesh->name[e->mdim]);
    lua_seti(L, -2, 1);
    return;
  }
  lua_createtable(L, e->ngroup, 0);
  for (int i = 0; i < e->ngroup; i++) {
    lua_pushinteger(L, e->group != NULL ? e->group[i] : i);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "ranks");
}

/* Functional collectives have no underscore at an end; send is none of them. */
static bool is_c10d (const char *coll) {
  size_t n = strlen(coll);
  return n > 0 && (coll[0] == '_' || coll[n - 1] == '_'
                   || strcmp(coll, "send") == 0);
}

/* A collective goes into the row of the operator that sent it; without one
** it is a row of its own, named as PyTorch's recorder names it, with
** `plain` set. */
static void on_coll (Recorder *r, const DtEvent *e) {
  lua_State *L = r->L;
  bool alone = r->open == 0;
  char op[96];
  bool c10d = is_c10d(e->coll);
  if (alone) {
    (void)snprintf(op, sizeof op, "%s.%s.default",
                   c10d ? "c10d" : "_c10d_functional", e->coll);
    row_begin(r, e, op);
  }
  lua_createtable(L, 0, 8);
  dtL_set_str(L, "op", e->coll);
  if (c10d) dtL_set_str(L, "ns", "c10d");
  push_group(L, e);
  lua_setfield(L, -2, "group");
  dtL_set_int(L, "bytes_in", e->bytes_in);
  dtL_set_int(L, "bytes_out", e->bytes_out);
  if (e->reduce != NULL) dtL_set_str(L, "reduce", e->reduce);
  if (r->in_redist) dtL_set_int(L, "redist", r->nredist - 1);
  append_to_field(L, r->row, "coll");
  if (alone) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->row);
    set_flag(L, "plain");
    lua_pop(L, 1);
    row_end(r);
  }
}

typedef struct Heard { Recorder *r; DtSession *s; const DtEvent *e; } Heard;

/* Runs protected: (Heard *). */
static int note_event (lua_State *L) {
  const Heard *h = lua_touserdata(L, 1);
  const DtEvent *e = h->e;
  luaL_checkstack(L, 24, NULL);
  switch (e->kind) {
    case DT_EV_FUNC: if (!has_no_row(h->s, e)) on_begin(h->r, e); break;
    case DT_EV_FUNC_END: if (!has_no_row(h->s, e)) on_end(h->r, e); break;
    case DT_EV_OP: on_begin(h->r, e); break;
    case DT_EV_OP_END: on_end(h->r, e); break;
    case DT_EV_REDIST: on_redist(h->r, e); break;
    case DT_EV_REDIST_END: h->r->in_redist = false; break;
    case DT_EV_COLL: on_coll(h->r, e); break;
    default: break;
  }
  return 0;
}

static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  Heard h = {ud, s, e};
  const DtDebug *d = dt_debug_of(s);
  if (!h.r->on || (d != NULL && d->muted)) return DT_OK;
  return dtL_protected(h.r->L, note_event, &h);
}

/* --- the object: rec(true), rec(false), rec:take(), rec:close() --- */

static Recorder *check_recorder (lua_State *L) {
  return luaL_checkudata(L, 1, "dt.recorder");
}

static int r_call (lua_State *L) {
  Recorder *r = check_recorder(L);
  lua_pushboolean(L, r->on);
  r->on = lua_toboolean(L, 2);
  return 1;
}

static int r_take (lua_State *L) {
  Recorder *r = check_recorder(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->list);
  lua_newtable(L);
  lua_rawseti(L, LUA_REGISTRYINDEX, r->list);
  return 1;
}

/* rec:in_backward(): does the autograd engine run? */
static int r_in_backward (lua_State *L) {
  check_recorder(L);
  lua_pushboolean(L, dtL_session(L)->backward);
  return 1;
}

static int r_close (lua_State *L) {
  Recorder *r = check_recorder(L);
  if (r->id == 0) return 0;
  dt_event_unlisten(dtL_session(L), r->id);
  luaL_unref(L, LUA_REGISTRYINDEX, r->list);
  luaL_unref(L, LUA_REGISTRYINDEX, r->row);
  r->id = 0;
  r->on = false;
  return 0;
}

static const uint64_t mask =
  UINT64_C(1) << DT_EV_FUNC | UINT64_C(1) << DT_EV_FUNC_END |
  UINT64_C(1) << DT_EV_OP | UINT64_C(1) << DT_EV_OP_END |
  UINT64_C(1) << DT_EV_REDIST | UINT64_C(1) << DT_EV_REDIST_END |
  UINT64_C(1) << DT_EV_COLL;

/* dt._record() -> a recorder, off. */
static int l_record (lua_State *L) {
  Recorder *r = lua_newuserdatauv(L, sizeof *r, 0);
  memset(r, 0, sizeof *r);
  r->list = r->row = LUA_NOREF;
  luaL_setmetatable(L, "dt.recorder");
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  r->L = lua_tothread(L, -1);
  lua_pop(L, 1);
  lua_newtable(L);
  r->list = luaL_ref(L, LUA_REGISTRYINDEX);
  if (dt_event_listen(dtL_session(L), mask, on_event, r, &r->id) != DT_OK) {
    r->id = 0;
    return dtL_raise(L);
  }
  return 1;
}

void dtL_open_record (lua_State *L, int dt) {
  static const luaL_Reg meta[] = {
    {"__call", r_call}, {"__close", r_close}, {"__gc", r_close},
    {"close", r_close}, {"in_backward", r_in_backward}, {"take", r_take},
    {NULL, NULL}
  };
  luaL_newmetatable(L, "dt.recorder");
  luaL_setfuncs(L, meta, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, l_record);
  lua_setfield(L, dt, "_record");
}
