/* SPDX-License-Identifier: MIT
** bind/l_verify.c: dt.debug's comparison with one device, and what needs the
** other ranks: is a plain tensor the same everywhere, rank 0's text for all. */
#include <stdio.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "debug/verify.h"

static void push_verified (lua_State *L, const DtVerified *v) {
  DtBuf b;
  lua_createtable(L, 0, 10);
  dtL_set_int(L, "seq", v->seq);
  dtL_set_str(L, "op", v->label);
  dtL_set_str(L, "file", v->file);
  dtL_set_int(L, "line", v->line);
  dtL_set_str(L, "verdict", dt_verify_name(v->kind));
  dtL_set_num(L, "worst", v->worst);
  if (v->kind == DT_VF_ROUNDING) {
    dtL_set_str(L, "proof", dt_verify_proof(v->proof));
    dtL_set_num(L, "bound", v->bound);
  }
  dtL_set_str(L, "words", v->words);
  if (v->cause[0] != '\0') {
    dtL_set_str(L, "cause", v->cause);
  }
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_verify_print(v, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, "text");
}

/* A wrong operator is printed at once, where print() goes. */
static void print_wrong_op (void *ud, const DtVerified *v) {
  DtBuf *out = dtL_out((lua_State *)ud);
  dt_verify_print(v, out);
  dt_buf_addc(out, '\n');
}

/* dt.debug.verify_op(n) -> verdict on recorded operator #n.  Collective. */
static int l_verify_op (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  int64_t seq = luaL_checkinteger(L, 1);
  const DtRecOp *r = dt_record_find(d, seq);
  DtVerified v;
  if (r == NULL || seq <= 0)
    return dtL_errorf(L, DT_E_INDEX, "operator #%lld is not in the record",
                      (long long)seq);
  if (dt_verify_op(d, r, &v) != DT_OK) return dtL_raise(L);
  push_verified(L, &v);
  return 1;
}

enum { MOST = 64 };

/* The tensors of the list at `i`, by slot; false is none. */
static void read_vars (lua_State *L, int i, int n, DtVar **out) {
  luaL_checktype(L, i, LUA_TTABLE);
  for (int k = 0; k < n && k < MOST; k++) {
    lua_geti(L, i, k + 1);
    out[k] = lua_toboolean(L, -1) ? dtL_check_tensor(L, -1) : NULL;
    lua_pop(L, 1);              /* the list keeps it */
  }
}

/* dt.debug.verify_typed(n, {inputs}, {outputs}) -> verdict on recorded operator
** #n on plain tensors, which are given as parts; false where there is none.
** Collective. */
static int l_verify_typed (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  const DtRecOp *r = dt_record_find(d, luaL_checkinteger(L, 1));
  DtVar *in[MOST], *out[MOST];
  DtVerified v;
  if (r == NULL || r->nin > MOST || r->nout > MOST)
    return dtL_errorf(L, DT_E_INDEX, "the record has no such operator");
  read_vars(L, 2, r->nin, in);
  read_vars(L, 3, r->nout, out);
  if (dt_verify_typed(d, r, in, out, &v) != DT_OK) return dtL_raise(L);
  push_verified(L, &v);
  return 1;
}

/* dt.debug.verify_reason(why): why an operator on plain tensors was not compared.
** Local. */
static int l_verify_reason (lua_State *L) {
  dt_verify_reason(dtL_check_debug(L), luaL_checkstring(L, 1));
  return 0;
}

/* dt.debug.verify_set(on): shadow mode.  Agreed. */
static int l_verify_set (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  if (!lua_toboolean(L, 1)) {
    dt_verify_off(d);
    return 0;
  }
  if (dt_verify_on(d) != DT_OK) return dtL_raise(L);
  d->verify->tell = print_wrong_op;
  d->verify->ud = dtL_state(L)->L;
  return 0;
}

/* dt.debug.verified() -> {exact=, rounding=, wrong=, skipped=, reasons = {[why
** skipped] = how many}, summary, list}; nothing when shadow mode is off.
** Local. */
static int l_verified (lua_State *L) {
  DtVerify *k = dtL_check_debug(L)->verify;
  DtBuf b;
  if (k == NULL) return 0;
  lua_createtable(L, 0, 8);
  for (int i = 0; i < 4; i++) {
    lua_pushinteger(L, k->count[i]);
    lua_setfield(L, -2, dt_verify_name((DtVerifyKind)i));
  }
  dt_buf_init(&b, dtL_session(L)->cx);
  dt_verify_summary(k, &b);
  dtL_push_buf(L, &b);
  lua_setfield(L, -2, "summary");
  lua_createtable(L, 0, k->nreason);
  for (int i = 0; i < k->nreason; i++)
    dtL_set_int(L, k->reason[i].why, k->reason[i].count);
  lua_setfield(L, -2, "reasons");
  lua_createtable(L, k->n, 0);
  for (int i = 0; i < k->n; i++) {
    push_verified(L, &k->list[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "list");
  return 1;
}

/* dt.debug.same_bits(x) -> are its local values the same bits on all ranks?
** and the groups of ranks when not.  Collective over the world. */
static int l_same_bits (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  bool same;
  DtBuf b;
  DtStatus st;
  dt_buf_init(&b, v->s->cx);
  st = dt_verify_same(v->s, v->local, &same, &b);
  if (st != DT_OK) {
    dt_buf_fini(&b);
    return dtL_raise(L);
  }
  lua_pushboolean(L, same);
  dtL_push_buf(L, &b);
  return 2;
}

/* dt.debug.digest(x) -> hash of its local shape and values as text, are they all
** one number?  Nothing where there is no data.  Pure. */
static int l_digest (lua_State *L) {
  const DtVar *v = dtL_check_tensor(L, 1);
  char text[24];
  bool constant;
  if (dt_meta_numel(&v->local->m) > 0 && !dt_tensor_has_data(v->local))
    return 0;
  snprintf(text, sizeof text, "%016llx",
           (unsigned long long)dt_verify_digest(v->local, &constant));
  lua_pushstring(L, text);
  lua_pushboolean(L, constant);
  return 2;
}

/* dt.debug.from_all(text) -> what each rank said, a list.  Collective over the
** world. */
static int l_from_all (lua_State *L) {
  DtSession *s = dtL_session(L);
  size_t len;
  const char *text = luaL_checklstring(L, 1, &len);
  DtCollInfo info = {"from_all", 0, "debug", "", ""};
  int n = s->comm->size;
  char **v;
  size_t *size;
  if (n == 1 || dt_session_no_data(s) || s->comm->no_data) {
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 1);
    lua_seti(L, -2, 1);
    return 1;
  }
  v = DT_NEWN(s->cx, char *, n);
  size = DT_NEWN(s->cx, size_t, n);
  DtStatus st = v && size ? dt_comm_gather_text(s->cx, s->comm->world, &info,
                                                text, len, v, size)
                          : DT_E_NOMEM;
  if (st == DT_OK) {
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
      lua_pushlstring(L, v[i], size[i]);
      lua_seti(L, -2, i + 1);
      dt_free(s->cx, v[i]);
    }
  }
  dt_free(s->cx, v);
  dt_free(s->cx, size);
  return st == DT_OK ? 1 : dtL_raise(L);
}

/* dt.debug.quietly(f, ...) -> what f returns.  What f does is not recorded, and
** numbers of operators, the generator and gradient mode are afterwards as they
** were.  Local, as f is. */
static int l_quietly (lua_State *L) {
  DtDebug *d = dtL_check_debug(L);
  DtMute m;
  int st;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  dt_debug_mute(d, &m);
  st = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  dt_debug_unmute(d, &m);
  if (st != LUA_OK) return lua_error(L);
  return lua_gettop(L);
}

void dtL_open_verify (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"digest", l_digest}, {"from_all", l_from_all}, {"quietly", l_quietly},
    {"same_bits", l_same_bits},
    {"verified", l_verified}, {"verify_op", l_verify_op},
    {"verify_reason", l_verify_reason}, {"verify_set", l_verify_set},
    {"verify_typed", l_verify_typed},
    {NULL, NULL}
  };
  lua_getfield(L, dt, "debug");
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
