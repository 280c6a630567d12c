/* SPDX-License-Identifier: MIT
** bind/l_named.c: what the Lua library needs to stand where PyTorch's Python
** code stands: calls with a name of their own (FSDP's operators are written
** in Lua and show as one call), and memory that is not made by an operator
** (buffers whose storage comes and goes). */
#include <string.h>
#include "bind/bind.h"
#include "diag/finding.h"

enum { MAX_NAMED = 4096 };

/* --- dt._named(name, {tensors}, f): f's tensors, as one call in traces --- */

typedef struct Named { lua_State *L; int fn; int nout; } Named;

/* Runs f; its results stay on the Lua stack, which keeps them alive. */
static DtStatus run_named (void *ud, int max, int *nout, DtVar **out) {
  Named *n = ud;
  lua_State *L = n->L;
  int top = lua_gettop(L);
  lua_pushvalue(L, n->fn);
  if (lua_pcall(L, 0, LUA_MULTRET, 0) != LUA_OK)
    return dtL_catch(L, DT_E_LUA);
  n->nout = lua_gettop(L) - top;
  *nout = 0;
  for (int i = 0; i < n->nout && *nout < max; i++) {
    DtVar *v = dtL_test_tensor(L, top + 1 + i);
    if (v != NULL) out[(*nout)++] = v;
  }
  return DT_OK;
}

/* dt._named(name, inputs, fn): run `fn` as one operator called `name` of the
** record. The inputs stay alive by the table that lists them, argument 2. */
static int l_named (lua_State *L) {
  DtSession *s = dtL_session(L);
  const char *name = dt_session_intern(s, luaL_checkstring(L, 1));
  Named n = { .L = L, .fn = 3 };
  int nin;
  DtVar **in;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  nin = (int)luaL_len(L, 2);
  if (name == NULL) return dtL_raise(L);
  luaL_argcheck(L, nin < MAX_NAMED, 2, "too many tensors");
  in = lua_newuserdatauv(L, (size_t)(nin + 1) * sizeof *in, 0);
  for (int i = 0; i < nin; i++) {
    lua_geti(L, 2, i + 1);          /* the table holds it */
    in[i] = dtL_check_tensor(L, -1);
    lua_pop(L, 1);
  }
  if (dt_named_call(s, name, nin, in, run_named, &n) != DT_OK)
    return dtL_raise(L);
  return n.nout;
}

/* --- memory without an operator --- */

static int push_local (lua_State *L, DtTensor *t, DtStatus st) {
  DtSession *s = dtL_session(L);
  DtVar **box = dtL_box_tensor(L);
  if (st == DT_OK) st = dt_var_new(s, t, NULL, box);
  dt_tensor_unref(s->cx, t);
  if (st != DT_OK) return dtL_raise(L);
  dtL_count_tensor(L, *box);
  return 1;
}

/* dt._alloc(sizes, dtype): zeros that no operator made. */
static int l_alloc (lua_State *L) {
  DtSession *s = dtL_session(L);
  int64_t v[DT_MAX_NDIM];
  int n = dtL_check_ints(L, 1, v, DT_MAX_NDIM);
  DtMeta m;
  DtTensor *t = NULL;
  DtStatus st;
  if (dt_meta_init(s->cx, &m, dtL_check_dtype(L, 2), n, v) != DT_OK)
    return dtL_raise(L);
  st = dt_tensor_new(s->cx, &m, dt_session_no_data(s), &t);
  if (st == DT_OK && dt_tensor_has_data(t) && dt_meta_numel(&m) > 0) {
    void *p;
    st = dt_tensor_data(s->cx, t, &p);
    if (st == DT_OK) memset(p, 0, (size_t)dt_meta_nbytes(&m));
  }
  return push_local(L, t, st);
}

/* dt._release(t): its local part lets go of its memory; shape and type stay.
** Reading it is META_NO_DATA until dt._set_data() gives it another.  Local. */
static int l_release (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *v = dtL_check_tensor(L, 1);
  DtTensor *t = NULL;
  if (dt_tensor_new(s->cx, &v->local->m, true, &t) != DT_OK)
    return dtL_raise(L);
  dt_tensor_unref(s->cx, v->local);
  v->local = t;
  return 0;
}

/* dt._drop(t[, by_program]): the memory that t and others share goes; dt._refill(t): zeros
** come in its place, and what is written there next is seen by all of them.
** Local. */
static int l_drop (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *v = dtL_check_tensor(L, 1);
  if (lua_toboolean(L, 2) && dt_diag_of(s)) dt_diag_let_go(dt_diag_of(s), v);
  dt_tensor_drop(s->cx, v->local);
  return 0;
}

static int l_refill (lua_State *L) {
  DtSession *s = dtL_session(L);
  if (dt_tensor_refill(s->cx, dtL_check_tensor(L, 1)->local,
                       dt_session_no_data(s)) != DT_OK)
    return dtL_raise(L);
  return 0;
}

/* dt._writes(t, n) -> how often it was written, as autograd counts; with a number,
** it was that often.  Local. */
static int l_writes (lua_State *L) {
  DtTensor *t = dtL_check_tensor(L, 1)->local;
  const int64_t now = dt_tensor_writes(t);
  if (!lua_isnoneornil(L, 2))
    dt_tensor_forget_writes(t, now - luaL_checkinteger(L, 2));
  lua_pushinteger(L, (lua_Integer)now);
  return 1;
}

/* dt._part(t, sizes, offset, dtype): contiguous elements from `offset` on of a
** contiguous plain tensor, sharing its memory; of another dtype when given
** (offsets then count its elements). */
static int l_part (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *v = dtL_check_tensor(L, 1);
  int64_t d[DT_MAX_NDIM];
  int n = dtL_check_ints(L, 2, d, DT_MAX_NDIM);
  DtDtype own = (DtDtype)v->local->m.dtype;
  DtDtype as = lua_isnoneornil(L, 4) ? own : dtL_check_dtype(L, 4);
  int64_t offset = luaL_optinteger(L, 3, 0) + v->local->offset *
                   (int64_t)dt_dtype_size(own) / (int64_t)dt_dtype_size(as);
  DtMeta m;
  DtTensor *t = NULL;
  if (dt_meta_init(s->cx, &m, as, n, d) != DT_OK)
    return dtL_raise(L);
  if (!dt_tensor_fits(v->local, &m, offset))
    return dtL_errorf(L, DT_E_INDEX, "the part lies outside of the tensor");
  DtStatus st = dt_tensor_view(s->cx, v->local, &m, offset, &t);
  return push_local(L, t, st);
}

/* dt._dtype_size(dtype): bytes of an element. */
static int l_dtype_size (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)dt_dtype_size(dtL_check_dtype(L, 1)));
  return 1;
}

void dtL_open_named (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"_alloc", l_alloc}, {"_dtype_size", l_dtype_size},
    {"_named", l_named}, {"_part", l_part}, {"_release", l_release},
    {"_drop", l_drop}, {"_refill", l_refill}, {"_writes", l_writes},
    {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
