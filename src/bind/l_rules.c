/* SPDX-License-Identifier: MIT
** bind/l_rules.c: what the tables say about an operator, as data: for `:rules`,
** the validators in tests/ops and scripts of the user's own.  Nothing is
** decided here. */
#include "bind/bind.h"
#include "bind/field.h"
#include "shard/known_wrong.h"

static const DtOpDef *check_overload (lua_State *L, int i) {
  const DtOpDef *op;
  luaL_checktype(L, i, LUA_TTABLE);
  lua_getfield(L, i, "_op");
  op = (const DtOpDef *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (op == NULL) luaL_argerror(L, i, "an overload, as dt.ops.aten.mm.default");
  return op;
}

static void set_flag (lua_State *L, const DtOpDef *op, uint32_t bit,
                      const char *name) {
  dtL_set_bool(L, name, (op->flags & bit) != 0);
}

static const char *decided_by (const DtOpDef *op) {
  if (op->flags & DT_OP_HANDLER) return "handler";
  if (op->strategy) return "strategy";
  if (op->rules || op->rulefn || (op->flags & DT_OP_POINTWISE)) return "rules";
  if (op->decomp || op->program) return "decomposition";
  return "nothing";
}

/* dt.debug.op_info(overload) -> {name, schema, brief, doc, decided_by, samples,
** flags}.  Local. */
static int l_op_info (lua_State *L) {
  const DtOpDef *op = check_overload(L, 1);
  int i;
  lua_createtable(L, 0, 13);
  dtL_set_str(L, "name", op->sig->full);
  dtL_set_str(L, "schema", op->schema);
  dtL_set_str(L, "brief", op->brief);
  dtL_set_str(L, "doc", op->doc);
  dtL_set_str(L, "decided_by", decided_by(op));
  lua_newtable(L);
  for (i = 0; op->samples && op->samples[i]; i++) {
    lua_pushstring(L, op->samples[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "samples");
  set_flag(L, op, DT_OP_RANDOM, "random");
  set_flag(L, op, DT_OP_INPLACE, "inplace");
  set_flag(L, op, DT_OP_OUT, "out");
  set_flag(L, op, DT_OP_VIEW, "view");
  set_flag(L, op, DT_OP_COMPOSITE, "composite");
  set_flag(L, op, DT_OP_FOREACH, "foreach");
  set_flag(L, op, DT_OP_FACTORY, "factory");
  set_flag(L, op, DT_OP_UNEVEN, "uneven");
  return 1;
}

static void push_cell (lua_State *L, const DtCell *c, DtBuf *b) {
  dt_buf_clear(b);
  switch ((DtCellKind)c->kind) {
    case DT_C_NONE: dt_buf_addc(b, '-'); break;
    case DT_C_R: dt_buf_addc(b, 'R'); break;
    case DT_C_SHARD: dt_buf_addf(b, "S(%d)", c->dim); break;
    case DT_C_FIXED: dt_pl_print(c->pl, b); break;
  }
  lua_pushstring(L, dt_buf_str(b));
}

static void push_cells (lua_State *L, const DtCell *c, int n, DtBuf *b) {
  int i;
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    push_cell(L, &c[i], b);
    lua_seti(L, -2, i + 1);
  }
}

static void push_rows (lua_State *L, DtSession *s, const DtRows *rows) {
  DtBuf b;
  int i, w = rows->nout + rows->nin;
  dt_buf_init(&b, s->cx);
  lua_createtable(L, rows->n, 0);
  for (i = 0; i < rows->n; i++) {
    const DtCell *c = rows->cells + (size_t)i * (size_t)w;
    lua_createtable(L, 0, 2);
    push_cells(L, c, rows->nout, &b);
    lua_setfield(L, -2, "outputs");
    push_cells(L, c + rows->nout, rows->nin, &b);
    lua_setfield(L, -2, "inputs");
    lua_seti(L, -2, i + 1);
  }
  dt_buf_fini(&b);
}

/* dt.debug.single_dim_rules(overload, arguments...) -> list of {outputs,
** inputs}, placements in text, for these arguments on one mesh dimension; nil
** when the operator is not decided by such rules.  Local. */
static int l_single_dim_rules (lua_State *L) {
  const DtOpDef *op = check_overload(L, 1);
  DtSession *s = dtL_session(L);
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  const DtMeta **in;
  DtLuaArgs a;
  DtArgs args;
  DtRows rows;
  DtStatus st;
  bool inserted;
  int i;
  if (op->strategy || (!op->rules && !op->rulefn &&
                       !(op->flags & DT_OP_POINTWISE)))
    return 0;
  dtL_to_args(L, 2, &a);
  args.nslots = a.nin;
  const DtGiven given = dtL_given(&a);
  st = dt_schema_bind(s->cx, op->sig, &given, &args);
  if (st == DT_OK) st = dtL_order_slots(s->cx, &a, &args);
  in = DT_ANEWN(s->cx, &s->cx->scratch, const DtMeta *, a.nin + 1);
  if (in == NULL) st = DT_E_NOMEM;
  for (i = 0; st == DT_OK && i < a.nin; i++) in[i] = dt_var_meta(a.in[i]);
  if (st == DT_OK)
    st = dt_prop_rows(s->cx, s->prop, op, &args, a.nin, in, &s->cx->scratch, &rows,
                      &inserted);
  if (st != DT_OK) {
    dt_arena_release(&s->cx->scratch, mark);
    return dtL_raise(L);
  }
  push_rows(L, s, &rows);
  dt_rows_unref_masks(&rows);
  dt_arena_release(&s->cx->scratch, mark);
  return 1;
}

static void push_specs (lua_State *L, DtSession *s, int n,
                        const DtSpec *const *spec) {
  DtBuf b;
  int i, m;
  dt_buf_init(&b, s->cx);
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    dt_buf_clear(&b);
    for (m = 0; spec[i] != NULL && m < spec[i]->npl; m++) {
      if (m > 0) dt_buf_addc(&b, ' ');
      dt_pl_print(spec[i]->pl[m], &b);
    }
    lua_pushstring(L, spec[i] ? dt_buf_str(&b) : "-");
    lua_seti(L, -2, i + 1);
  }
  dt_buf_fini(&b);
}

static void push_decision (lua_State *L, DtSession *s, const DtProp *p) {
  lua_createtable(L, 0, 4);
  push_specs(L, s, p->nin, p->in);
  lua_setfield(L, -2, "inputs");
  push_specs(L, s, p->nout, (const DtSpec *const *)p->out);
  lua_setfield(L, -2, "outputs");
  dtL_set_bool(L, "redistributes", p->needs_redist);
  if (p->known_wrong != NULL) {
    dtL_set_str(L, "known_wrong", p->known_wrong->what);
  }
}

/* dt.debug.decide(overload, arguments...) -> {inputs, outputs, redistributes,
** known_wrong}: the strategy that a call with these distributed tensors would
** get, without making the call.  Agreed. */
static int l_decide (lua_State *L) {
  const DtOpDef *op = check_overload(L, 1);
  DtSession *s = dtL_session(L);
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  const DtSpec **in;
  DtProp *p = NULL;
  DtLuaArgs a;
  DtArgs args;
  DtStatus st;
  int i;
  dtL_to_args(L, 2, &a);
  args.nslots = a.nin;
  const DtGiven given = dtL_given(&a);
  st = dt_schema_bind(s->cx, op->sig, &given, &args);
  if (st == DT_OK) st = dtL_order_slots(s->cx, &a, &args);
  in = DT_ANEWN(s->cx, &s->cx->scratch, const DtSpec *, a.nin + 1);
  if (in == NULL) st = DT_E_NOMEM;
  for (i = 0; st == DT_OK && i < a.nin; i++) {
    in[i] = a.in[i]->spec;
    if (in[i] == NULL)
      st = dt_raise(s->cx, DT_E_TYPE, "tensor %d is plain: decide() wants "
                    "distributed tensors only", i);
  }
  if (st == DT_OK)
    st = dt_prop_run(s->cx, s->prop, &(DtOpSchema){ op, &args, a.nin, in },
                     NULL, &p);
  dt_arena_release(&s->cx->scratch, mark);
  if (st != DT_OK) return dtL_raise(L);
  push_decision(L, s, p);
  dt_prop_unref(s->cx, p);
  return 1;
}

/* dt.debug.known_wrong() -> list of {op, inputs, outputs, what, example}: the
** decisions of PyTorch that give wrong data, in the session's release.  Pure. */
static int l_known_wrong (lua_State *L) {
  int i, n, release = dtL_session(L)->profile.release;
  lua_Integer at = 0;
  const DtKnownWrong *k = dt_known_wrong_rows(&n);
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    if (k[i].until < release) continue;
    lua_createtable(L, 0, 5);
    dtL_set_str(L, "op", k[i].op);
    dtL_set_str(L, "inputs", k[i].in);
    dtL_set_str(L, "outputs", k[i].out);
    dtL_set_str(L, "what", k[i].what);
    dtL_set_str(L, "example", k[i].example);
    lua_seti(L, -2, ++at);
  }
  return 1;
}

void dtL_open_rules (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"decide", l_decide}, {"known_wrong", l_known_wrong},
    {"op_info", l_op_info}, {"single_dim_rules", l_single_dim_rules},
    {NULL, NULL}
  };
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
