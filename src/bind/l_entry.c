/* SPDX-License-Identifier: MIT
** bind/l_entry.c: the record in full, as data: every argument, what each
** tensor was, redistributions, gradients that reached leaves.  The explaining
** commands (lua/dt/debug) are written on it. */
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "bind/frame.h"
#include "bind/names.h"
#include "debug/grads.h"

enum { MESHES = 1 };            /* upvalue-like: stack slot of the cache */

static void push_names (lua_State *L, const DtMesh *m) {
  lua_createtable(L, m->ndim, 0);
  for (int i = 0; i < m->ndim && m->name[i]; i++) {
    lua_pushstring(L, m->name[i]);
    lua_seti(L, -2, i + 1);
  }
}

/* One table per mesh: equal meshes are the same table in one answer. */
static void push_mesh (lua_State *L, int cache, const DtMesh *m) {
  int64_t *ranks, n = dt_mesh_size(m);
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_mesh_print(m, &b);
  dt_buf_addf(&b, " %p", (const void *)m);
  dtL_push_buf(L, &b);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, cache) == LUA_TTABLE) {
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  lua_createtable(L, 0, 6);
  dtL_push_ints(L, m->shape, m->ndim);
  lua_setfield(L, -2, "shape");
  push_names(L, m);
  lua_setfield(L, -2, "names");
  dtL_set_str(L, "device", m->device_name);
  dtL_set_bool(L, "member", m->member);
  if (n <= 4096) {
    ranks = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *ranks, 0);
    dt_mesh_ranks(m, ranks);
    dtL_push_ints(L, ranks, n);
    lua_setfield(L, -3, "ranks");
    lua_pop(L, 1);
  }
  if (m->root != NULL) {
    push_mesh(L, cache, m->root);
    lua_setfield(L, -2, "root");
  }
  lua_insert(L, -2);
  lua_pushvalue(L, -2);
  lua_rawset(L, cache);
}

static void push_pls (lua_State *L, const DtSpec *p) {
  DtBuf b;
  lua_createtable(L, p->npl, 0);
  for (int i = 0; i < p->npl; i++) {
    dt_buf_init(&b, dtL_session(L)->cx);
    dt_pl_print(p->pl[i], &b);
    dtL_push_buf(L, &b);
    lua_seti(L, -2, i + 1);
  }
}

/* placements, mesh, spec, shape, dtype of what is on the top. */
static void set_layout (lua_State *L, int cache, const DtSpec *p,
                        const DtMeta *m) {
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  if (p) {
    push_pls(L, p);
    lua_setfield(L, -2, "placements");
    push_mesh(L, cache, p->mesh);
    lua_setfield(L, -2, "mesh");
    dt_buf_add(&b, "dt: ");
    dt_spec_print(p, &b);
  } else {
    dt_buf_add(&b, "t: ");
    dt_meta_print(m, &b);
  }
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, "spec");
  dtL_push_ints(L, m->shape, m->ndim);
  lua_setfield(L, -2, "shape");
  dtL_push_ints(L, m->stride, m->ndim);
  lua_setfield(L, -2, "stride");
  dtL_set_str(L, "dtype", dt_dtype_info((DtDtype)m->dtype)->torch);
}

static void push_origin (lua_State *L, const DtOrigin *o) {
  lua_createtable(L, 0, 4);
  dtL_set_int(L, "seq", o->seq);
  dtL_set_str(L, "op", o->op ? o->op : "");
  dtL_set_str(L, "file", o->file ? o->file : "");
  dtL_set_int(L, "line", o->line);
}

static void push_tensor (lua_State *L, int cache, const DtRecVar *v) {
  int64_t n = (int64_t)dt_dtype_size((DtDtype)v->meta->dtype);
  lua_createtable(L, 0, 16);
  if (v->none) { dtL_set_bool(L, "none", true); return; }
  dtL_set_int(L, "id", v->id);
  set_layout(L, cache, v->spec, v->meta);
  if (v->name) dtL_set_str(L, "name", v->name);
  dtL_set_bool(L, "param", v->param);
  dtL_set_bool(L, "needs_grad", v->needs_grad);
  dtL_set_bool(L, "wrapped", v->meta->wrapped);
  push_origin(L, &v->origin);
  lua_setfield(L, -2, "origin");
  dtL_push_ints(L, v->lshape, v->lndim);
  lua_setfield(L, -2, "local_shape");
  for (int i = 0; i < v->lndim; i++) n *= v->lshape[i];
  dtL_set_int(L, "bytes", n);
  dtL_set_int(L, "storage", v->storage);
  dtL_set_int(L, "version", v->version);
  dtL_set_int(L, "offset", v->offset);
  dtL_set_bool(L, "kept", v->block != NULL);
  dtL_set_bool(L, "live", v->block != NULL && v->block->refs > v->block->kept);
}

static void push_tensors (lua_State *L, int cache, const char *key, int n,
                          const DtRecVar *v) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    push_tensor(L, cache, &v[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, key);
}

/* An argument: numbers and texts as they are; {slot = i}, {dtype = name}. */
static void push_arg (lua_State *L, const DtValue *v) {
  luaL_checkstack(L, 6, "arguments nested too deeply");
  if (dtL_push_plain_arg(L, v, true)) return;
  switch ((DtValueKind)v->kind) {
    case DT_V_TENSOR:
      lua_createtable(L, 0, 1);
      dtL_set_int(L, "slot", v->u.slot + 1);
      break;
    case DT_V_LIST:
      lua_createtable(L, v->u.list.n, 0);
      for (int i = 0; i < v->u.list.n; i++) {
        push_arg(L, &v->u.list.v[i]);
        lua_seti(L, -2, i + 1);
      }
      break;
    default: dtL_push_none(L); break;
  }
}

/* Mark the inputs that an argument or its list names, in the table on top. */
static void push_written (lua_State *L, const DtValue *v) {
  if (v->kind == DT_V_LIST)
    for (int i = 0; i < v->u.list.n; i++) push_written(L, &v->u.list.v[i]);
  if (v->kind != DT_V_TENSOR) return;
  lua_pushboolean(L, 1);
  lua_seti(L, -2, v->u.slot + 1);
}

static void set_args (lua_State *L, const DtRecOp *r) {
  const DtArgs *a = &r->args;
  lua_createtable(L, a->npos, 0);
  for (int i = 0; i < a->npos; i++) {
    push_arg(L, &a->v[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "args");
  lua_newtable(L);
  for (int i = a->npos; i < a->n; i++) {
    if (!(a->given >> i & 1u)) continue;
    push_arg(L, &a->v[i]);
    lua_setfield(L, -2, a->schema->arg[i].name);
  }
  lua_setfield(L, -2, "kwargs");
  dtL_set_str(L, "schema", r->op->schema);
  lua_createtable(L, a->n, 0);
  for (int i = 0; i < a->n; i++) {
    lua_pushstring(L, a->schema->arg[i].name);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "arg_names");
  lua_newtable(L);
  for (int i = 0; i < a->n; i++)
    if (a->schema->arg[i].write) push_written(L, &a->v[i]);
  lua_setfield(L, -2, "writes");
  dtL_set_bool(L, "random", (r->op->flags & DT_OP_RANDOM) != 0);
  dtL_set_bool(L, "factory", (r->op->flags & DT_OP_FACTORY) != 0);
}

/* {seed, at, pair, stop, stop_pair}: see debug/record.h. */
static void set_draw (lua_State *L, const DtRecDraw *g) {
  if (g == NULL) return;
  lua_createtable(L, 0, 5);
  dtL_set_int(L, "seed", (int64_t)g->seed);
  dtL_set_int(L, "at", (int64_t)g->at);
  dtL_set_int(L, "pair", (int64_t)g->pair);
  dtL_set_int(L, "stop", (int64_t)g->end);
  dtL_set_int(L, "stop_pair", (int64_t)g->end_pair);
  lua_setfield(L, -2, "draw");
}

static void set_colls (lua_State *L, const DtRecOp *r) {
  lua_createtable(L, r->ncoll, 0);
  for (int i = 0; i < r->ncoll; i++) {
    const DtRecColl *c = &r->coll[i];
    lua_createtable(L, 0, 8);
    dtL_set_str(L, "op", c->coll);
    if (c->reduce) dtL_set_str(L, "reduce", c->reduce);
    dtL_set_str(L, "mesh_dim", c->mdim);
    dtL_set_int(L, "ranks", c->ngroup);
    dtL_set_int(L, "bytes", c->bytes_in);
    dtL_set_int(L, "bytes_out", c->bytes_out);
    dtL_set_bool(L, "implicit", c->implicit);
    if (c->slot >= 0) dtL_set_int(L, "slot", c->slot + 1);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "collectives");
}

static void set_spec (lua_State *L, const char *key, const DtSpec *p) {
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_pls_print(p->pl, p->npl, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, key);
}

static void set_moves (lua_State *L, const DtRecOp *r) {
  lua_createtable(L, r->nmove, 0);
  for (int i = 0; i < r->nmove; i++) {
    const DtRecMove *m = &r->move[i];
    lua_createtable(L, 0, 8);
    set_spec(L, "from", m->src);
    set_spec(L, "to", m->dst);
    dtL_set_bool(L, "implicit", m->implicit);
    dtL_set_bool(L, "graph", m->graph);
    dtL_set_int(L, "steps", m->nsteps);
    dtL_set_int(L, "bytes", m->bytes);
    if (m->slot >= 0) dtL_set_int(L, "slot", m->slot + 1);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "moves");
}

/* An operator that failed and was given up at the stop (:kill) ended with that;
** what counts is why it failed. */
static DtStatus why_failed (const DtDebug *d, const DtRecOp *r,
                            const char **message, const char **reason) {
  if (r->st == DT_E_INTERRUPTED && d && d->failed.valid &&
      d->failed.seq == r->seq) {
    *message = d->failed.message;
    *reason = d->failed.reason;
    return d->failed.code;
  }
  *message = r->error;
  *reason = r->reason;
  return r->st;
}

static void set_error (lua_State *L, const DtRecOp *r) {
  const char *message, *reason;
  DtStatus st = why_failed(dt_debug_of(dtL_session(L)), r, &message, &reason);
  dtL_set_str(L, "error", dt_error_info(st)->id);
  dtL_set_str(L, "message", message ? message : "");
  if (reason) dtL_set_str(L, "reason", reason);
}

/* A collective the script asked for itself: {kind, reduce, mesh, mesh_dim, dim,
** concat_dim, src, input_splits, output_splits}. */
static void set_raw (lua_State *L, int cache, const DtRecRaw *r) {
  lua_createtable(L, 0, 10);
  dtL_set_str(L, "kind", r->kind);
  if (r->reduce) dtL_set_str(L, "reduce", r->reduce);
  push_mesh(L, cache, r->mesh);
  lua_setfield(L, -2, "mesh");
  dtL_set_int(L, "mesh_dim", r->mdim);
  dtL_set_int(L, "dim", r->dim);
  dtL_set_int(L, "concat_dim", r->dim2);
  dtL_set_int(L, "src", r->root);
  if (r->nsplit > 0) {
    dtL_push_ints(L, r->in_split, r->nsplit);
    lua_setfield(L, -2, "input_splits");
    dtL_push_ints(L, r->out_split, r->nsplit);
    lua_setfield(L, -2, "output_splits");
  }
  lua_setfield(L, -2, "raw");
}

/* One row of the record as a table; fields that do not apply are absent, not
** empty, except the texts that every reader prints. */
static void push_entry (lua_State *L, int cache, const DtRecOp *r) {
  luaL_checkstack(L, 16, "record");
  lua_createtable(L, 0, 24);
  dtL_set_int(L, "seq", r->seq);
  dtL_set_str(L, "op", r->label);
  dtL_set_bool(L, "call", r->op == NULL);
  dtL_set_str(L, "file", r->file ? r->file : "");
  dtL_set_int(L, "line", r->line);
  dtL_set_str(L, "module", r->module ? r->module : "");
  dtL_set_str(L, "func", r->func ? r->func : "");
  dtL_set_str(L, "scope", r->scope ? r->scope : "");
  dtL_set_bool(L, "backward", r->backward);
  dtL_set_int(L, "depth", r->depth);
  dtL_set_int(L, "from", r->from);
  dtL_set_num(L, "cost", r->cost);
  if (r->st != DT_OK) {
    set_error(L, r);
  } else if (!r->done) {
    dtL_set_bool(L, "unfinished", true);
  }
  if (r->op) set_args(L, r);
  if (r->raw) set_raw(L, cache, r->raw);
  push_tensors(L, cache, "inputs", r->nin, r->in);
  push_tensors(L, cache, "outputs", r->nout, r->out);
  set_draw(L, r->draw);
  set_colls(L, r);
  set_moves(L, r);
}

/* dt.debug.entries([first[, last]]) -> operators #first to #last of the
** record, oldest first, with everything that is known of them.  Local. */
static int l_entries (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  int64_t first = luaL_optinteger(L, 1, 0);
  int64_t last = luaL_optinteger(L, 2, INT64_MAX);
  int n = 0;
  lua_settop(L, 0);
  lua_newtable(L);                              /* meshes */
  lua_newtable(L);
  for (int i = d->rec.n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_at(d, i);
    if (r->seq < first || r->seq > last) continue;
    push_entry(L, MESHES, r);
    lua_seti(L, -2, ++n);
  }
  return 1;
}

/* ---- a line a call ---- */

/* A field: no tab and no end of line in it. */
static void add_field (DtBuf *b, const char *s) {
  for (; *s != '\0' && *s != '\n'; s++) dt_buf_addc(b, *s == '\t' ? ' ' : *s);
  dt_buf_addc(b, '\t');
}

/* Three fields: where the results lie, their types, their shapes. */
static void add_results (DtBuf *b, const DtRecOp *r) {
  for (int i = 0; i < r->nout; i++) {
    const DtSpec *p = r->out[i].none ? NULL : r->out[i].spec;
    if (i > 0) dt_buf_add(b, ", ");
    if (p == NULL) dt_buf_add(b, "plain");
    for (int k = 0; p != NULL && k < p->npl; k++) {
      if (k > 0) dt_buf_addc(b, ' ');
      dt_pl_print(p->pl[k], b);
    }
  }
  dt_buf_addc(b, '\t');
  for (int i = 0; i < r->nout; i++) {
    const char *t = r->out[i].none ? "None"
                    : dt_dtype_info((DtDtype)r->out[i].meta->dtype)->torch;
    const char *dot = strrchr(t, '.');
    dt_buf_addf(b, "%s%s", i > 0 ? ", " : "", dot != NULL ? dot + 1 : t);
  }
  dt_buf_addc(b, '\t');
  for (int i = 0; i < r->nout; i++) {
    const DtMeta *m = r->out[i].meta;
    dt_buf_add(b, i > 0 ? ", [" : "[");
    for (int k = 0; !r->out[i].none && k < m->ndim; k++)
      dt_buf_addf(b, "%s%lld", k > 0 ? ", " : "", (long long)m->shape[k]);
    dt_buf_addc(b, ']');
  }
  dt_buf_addc(b, '\t');
}

/* Five fields: redistributions and how many, collectives, how many, bytes. */
static void add_traffic (DtBuf *b, const DtRecOp *r) {
  long long bytes = 0;
  for (int i = 0; i < r->nmove; i++) {
    const DtRecMove *m = &r->move[i];
    dt_buf_add(b, i > 0 ? ", input " : "input ");
    if (m->slot >= 0) dt_buf_addf(b, "%d ", m->slot + 1);
    else dt_buf_add(b, "nil ");
    dt_pls_print(m->src->pl, m->src->npl, b);
    dt_buf_add(b, " -> ");
    dt_pls_print(m->dst->pl, m->dst->npl, b);
  }
  dt_buf_addf(b, "%s\t%d\t", r->nmove > 0 ? "" : "none", r->nmove);
  for (int i = 0; i < r->ncoll; i++) {
    const DtRecColl *c = &r->coll[i];
    bytes += c->bytes_in;
    dt_buf_addf(b, "%s%s of %lld bytes (%s, %d ranks)", i > 0 ? ", " : "",
                c->coll, (long long)c->bytes_in, c->mdim ? c->mdim : "nil",
                (int)c->ngroup);
  }
  dt_buf_addf(b, "%s\t%d\t%lld\t", r->ncoll > 0 ? "" : "none", r->ncoll,
              bytes);
}

/* dt.debug._calls() -> the record as text, a line a call, oldest first: what
** `--across` compares (dt/across/read.lua has the fields).  It is made and read
** many times as fast as the entries.  Local. */
static int l_calls (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  const char *message, *reason;
  DtBuf b;
  dt_buf_init(&b, d->s->cx);
  for (int i = d->rec.n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_at(d, i);
    add_field(&b, r->label);
    add_field(&b, r->file ? r->file : "");
    dt_buf_addf(&b, "%lld\t", (long long)r->line);
    add_results(&b, r);
    add_traffic(&b, r);
    if (r->st != DT_OK) {
      DtStatus st = why_failed(d, r, &message, &reason);
      add_field(&b, dt_error_info(st)->id);
      add_field(&b, message ? message : "");
    }
    dt_buf_addc(&b, '\n');
  }
  dtL_push_buf(L, &b);
  return 1;
}

/* dt.debug.revive(id, seq) -> the tensor as it was just before operator #seq,
** or nil and why not.  Local. */
static int l_revive (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  int64_t id = luaL_checkinteger(L, 1), seq = luaL_checkinteger(L, 2);
  DtVar **v = dtL_box_tensor(L);
  if (dt_record_revive(d, id, seq, v) != DT_OK) {
    lua_pushnil(L);
    lua_pushstring(L, dt_buf_str(&d->s->cx->err.message));
    dt_error_clear(d->s->cx);
    return 2;
  }
  dtL_count_tensor(L, *v);
  return 1;
}

/* dt.debug.id(x) -> the number the record knows a tensor by, and its origin.
** Pure. */
static int l_id (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  lua_pushinteger(L, v->id);
  push_origin(L, &v->origin);
  return 2;
}

/* dt.debug.name_id(name, seq) -> id of the tensor a name held just before
** operator #seq (nothing: now), or nil.  Pure. */
static int l_name_id (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  int64_t seq = luaL_optinteger(L, 2, INT64_MAX);
  const DtRecOp *r = seq < INT64_MAX ? dt_record_find(d, seq) : NULL;
  int64_t id = dt_record_name(d, r ? r->scope : NULL, luaL_checkstring(L, 1),
                              seq);
  if (id == 0) return 0;
  lua_pushinteger(L, id);
  return 1;
}

/* dt.debug.called(x) -> what the script calls a tensor now, a parameter by the
** path of its modules; nil: nothing of the script holds it.  Local. */
static int l_called (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  const char *name = NULL;
  dtL_find_names(dtL_running(L), 1, &v, &name);
  if (name == NULL) dtL_find_names(L, 1, &v, &name);
  lua_pushstring(L, name);
  return 1;
}

/* dt.debug.names() -> list of {seq, name, scope, id}: the log of which
** variable held which tensor from when on.  Pure. */
static int l_names (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  lua_createtable(L, d->rec.nname, 0);
  for (int i = 0; i < d->rec.nname; i++) {
    const DtRecName *n = &d->rec.name[i];
    lua_createtable(L, 0, 4);
    dtL_set_int(L, "seq", n->seq);
    dtL_set_str(L, "name", n->name);
    dtL_set_str(L, "scope", n->scope);
    dtL_set_int(L, "id", n->var);
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

/* dt.debug.gradients() -> a row for each leaf that a gradient reached.
** Local. */
static int l_gradients (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  int n;
  const DtGradRow *row = dt_grads_rows(d, &n);
  lua_settop(L, 0);
  lua_newtable(L);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_createtable(L, 0, 10);
    dtL_set_int(L, "id", row[i].leaf);
    if (row[i].name) dtL_set_str(L, "name", row[i].name);
    dtL_set_bool(L, "param", row[i].param);
    dtL_set_int(L, "seq", row[i].seq);
    dtL_set_str(L, "file", row[i].file ? row[i].file : "");
    dtL_set_int(L, "line", row[i].line);
    dtL_set_int(L, "count", row[i].count);
    dtL_set_int(L, "storage", row[i].storage);
    lua_newtable(L);
    set_layout(L, MESHES, row[i].spec, &row[i].meta);
    lua_setfield(L, -2, "forward");
    lua_newtable(L);
    set_layout(L, MESHES, row[i].gspec, &row[i].gmeta);
    lua_setfield(L, -2, "gradient");
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

/* dt.debug.new_gradients(all) -> list of {leaf, storage, seq}: leaves that had no
** gradient and got one, in order; with `all` also what the program gave them
** (storage 0: it took the gradient away).  Local. */
static int l_new_gradients (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  int n;
  bool all = lua_toboolean(L, 1);
  const DtGradNew *g = dt_grads_new_ones(d, &n);
  lua_createtable(L, n, 0);
  for (int i = 0, k = 0; i < n; i++) {
    if (g[i].set && !all) continue;
    lua_createtable(L, 0, 3);
    dtL_set_int(L, "leaf", g[i].leaf);
    dtL_set_int(L, "storage", g[i].storage);
    dtL_set_int(L, "seq", g[i].seq);
    lua_seti(L, -2, ++k);
  }
  return 1;
}

/* dt.debug.failed() -> the call that failed last: {op, code, class, message,
** reason, seq, file, line}; nothing when none did.  Local. */
static int l_failed (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  const DtFailed *f = &d->failed;
  if (!f->valid) return 0;
  lua_createtable(L, 0, 8);
  dtL_set_str(L, "op", f->op ? f->op->sig->full : "");
  dtL_set_str(L, "code", dt_error_info(f->code)->id);
  dtL_set_str(L, "class", f->pyclass ? f->pyclass
                                 : dt_error_info(f->code)->pyclass);
  dtL_set_str(L, "message", f->message);
  if (f->reason) dtL_set_str(L, "reason", f->reason);
  dtL_set_int(L, "seq", f->seq);
  dtL_set_str(L, "file", f->file ? f->file : "");
  dtL_set_int(L, "line", f->line);
  dtL_set_bool(L, "backward", f->backward);
  return 1;
}

/* dt.debug.mesh_facts(mesh) -> {shape, names, device, ranks, member, root}, as
** in entries.  Local. */
static int l_mesh_facts (lua_State *L) {
  DtMesh *m = dtL_check_mesh(L, 1);
  lua_settop(L, 0);
  lua_newtable(L);
  push_mesh(L, MESHES, m);
  return 1;
}

/* dt.debug.memory() -> {now, peak}: bytes this rank has allocated.  Pure. */
static int l_memory (lua_State *L) {
  const DtMem *m = &dtL_session(L)->cx->mem;
  lua_createtable(L, 0, 3);
  dtL_set_int(L, "now", m->bytes_live);
  dtL_set_int(L, "peak", m->bytes_peak);
  dtL_set_int(L, "recorded", dtL_check_debug(L)->rec.kept);
  return 1;
}

void dtL_open_entry (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"called", l_called}, {"entries", l_entries}, {"_calls", l_calls}, {"failed", l_failed}, {"gradients", l_gradients},
    {"new_gradients", l_new_gradients},
    {"id", l_id}, {"memory", l_memory},
    {"mesh_facts", l_mesh_facts}, {"name_id", l_name_id},
    {"names", l_names}, {"revive", l_revive},
    {NULL, NULL}
  };
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
