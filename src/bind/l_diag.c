/* SPDX-License-Identifier: MIT
** bind/l_diag.c: findings as data and as text: dt.debug.findings(). */
#include <string.h>
#include "base/hash.h"
#include "bind/bind.h"
#include "bind/field.h"
#include "diag/finding.h"

static DtDiag *check_diag (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g == NULL) dtL_errorf(L, DT_E_RUNTIME, "no debugger is attached");
  return g;
}

static void set_str (lua_State *L, const char *k, const char *v) {
  dtL_set_str(L, k, v ? v : "");
}

static void push_kind (lua_State *L, const DtFindKind *k) {
  lua_createtable(L, 0, 14);
  set_str(L, "code", k->code);
  set_str(L, "trap", k->trap);
  set_str(L, "name", k->name);
  set_str(L, "severity", dt_find_severity(k->severity));
  set_str(L, "title", k->title);
  set_str(L, "cause", k->cause);
  set_str(L, "lua", k->lua);
  set_str(L, "torch", k->torch);
}

static void push_finding (lua_State *L, const DtFinding *f) {
  push_kind(L, f->kind);
  dtL_set_int(L, "seq", f->seq);
  set_str(L, "op", f->op);
  set_str(L, "file", f->file);
  dtL_set_int(L, "line", f->line);
  set_str(L, "module", f->module);
  dtL_set_int(L, "count", f->count);
  set_str(L, "tensor", f->subject);
  set_str(L, "evidence", f->evidence);
  set_str(L, "lua", f->lua);
  set_str(L, "torch", f->torch);
  if (f->verdict != NULL) {
    set_str(L, "tried", f->tried_lua);
    set_str(L, "tried_torch", f->tried_torch);
    set_str(L, "verdict", f->verdict);
  }
  dtL_set_bool(L, "backward", f->backward);
}

/* Gather and judge what the ranks claim, and try repairs, unless only one was
** asked. */
static void settle_claims (lua_State *L, int idx, DtDiag *g) {
  bool alone = false;
  if (lua_istable(L, idx)) {
    lua_getfield(L, idx, "alone");
    alone = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  if (!alone && (dt_diag_settle(g) != DT_OK || dt_diag_try(g) != DT_OK))
    dtL_raise(L);
}

static bool is_asked_for (const DtFinding *f, const char *what) {
  return what == NULL || *what == '\0' || strcmp(what, f->kind->code) == 0 ||
         strcmp(what, f->kind->trap) == 0 || strcmp(what, f->op) == 0;
}

static const char *why_nothing_found (const DtDiag *g, const char *what) {
  return !dt_diag_enabled(g) ? "findings are off"
         : what && *what ? "nothing of that kind was found"
         : "nothing was found";
}

/* Push the page of those wanted. */
static void push_text (lua_State *L, const DtDiag *g, const char *what) {
  const DtFinding *f;
  int i, n = 0;
  DtBuf b;
  dt_buf_init(&b, dtL_session(L)->cx);
  for (i = 0; (f = dt_diag_at(g, i)) != NULL; i++) {
    if (!is_asked_for(f, what)) continue;
    dt_finding_text(f, &b);
    n++;
  }
  if (n == 0) dt_buf_add(&b, why_nothing_found(g, what));
  dtL_push_buf(L, &b);
}

static int text_of (lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return 1;
}

/* dt.debug.findings(code, trap or operator; or {alone = false}): list of
** findings by operator, which prints as a page.  Collective, because ranks
** compare what they claimed; not with alone. */
static int l_findings (lua_State *L) {
  DtDiag *g = check_diag(L);
  const char *what = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
  const DtFinding *f;
  int i, n = 0;
  settle_claims(L, 1, g);
  lua_newtable(L);
  for (i = 0; (f = dt_diag_at(g, i)) != NULL; i++) {
    if (!is_asked_for(f, what)) continue;
    push_finding(L, f);
    lua_seti(L, -2, ++n);
  }
  lua_createtable(L, 0, 1);
  push_text(L, g, what);
  lua_pushcclosure(L, text_of, 1);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
  return 1;
}

/* dt.debug.findings_text(code or trap or operator). */
static int l_text (lua_State *L) {
  DtDiag *g = check_diag(L);
  const char *what = luaL_optstring(L, 1, NULL);
  settle_claims(L, 2, g);
  push_text(L, g, what);
  return 1;
}

static int l_clear (lua_State *L) {
  dt_diag_clear(check_diag(L));
  return 0;
}

/* dt.debug.findings_on(on): listen or not; returns what it was. */
static int l_on (lua_State *L) {
  DtDiag *g = check_diag(L);
  lua_pushboolean(L, dt_diag_enabled(g));
  if (!lua_isnone(L, 1)) dt_diag_enable(g, lua_toboolean(L, 1));
  return 1;
}

/* dt.debug.traps(): every kind of finding. */
static int l_traps (lua_State *L) {
  const DtFindKind *k;
  int i;
  lua_newtable(L);
  for (i = 0; (k = dt_find_kind(i)) != NULL; i++) {
    push_kind(L, k);
    lua_seti(L, -2, i + 1);
  }
  return 1;
}

/* dt._finding(name, tensor or nil, evidence, call or nil): found by the
** library. */
static int l_finding (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtFindKind *k = dt_find_lookup(luaL_checkstring(L, 1));
  const char *evidence = luaL_checkstring(L, 3);
  luaL_argcheck(L, k != NULL, 1, "no such finding");
  if (g) dt_diag_tell(g, k->id, dtL_test_tensor(L, 2),
                      luaL_optstring(L, 4, NULL), evidence);
  return 0;
}

/* dt._finding_made(name, tensor, evidence): found where the tensor was made. */
static int l_finding_made (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtFindKind *k = dt_find_lookup(luaL_checkstring(L, 1));
  DtVar *v = dtL_check_tensor(L, 2);
  const char *evidence = luaL_checkstring(L, 3);
  luaL_argcheck(L, k != NULL, 1, "no such finding");
  if (g) dt_diag_tell_made(g, k->id, v, evidence);
  return 0;
}

/* dt._unfound(name, evidence): what was found has been put right since. */
static int l_unfound (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtFindKind *k = dt_find_lookup(luaL_checkstring(L, 1));
  luaL_argcheck(L, k != NULL, 1, "no such finding");
  if (g) dt_diag_withdraw(g, k->id, luaL_checkstring(L, 2));
  return 0;
}

/* dt._written(tensor): its memory was written past the operators. */
static int l_written (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_written(g, dtL_check_tensor(L, 1));
  return 0;
}

/* dt._uncounted(tensor, kind, f): f() writes into it, which autograd does not
** count. */
static int l_uncounted (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtVar *v = dtL_check_tensor(L, 1);
  const char *kind = luaL_checkstring(L, 2);
  const uint64_t was = g ? dt_diag_look(g, v) : 0;
  const int64_t seen = dt_tensor_writes(v->local);
  lua_pushvalue(L, 3);
  lua_call(L, 0, 0);
  dt_tensor_forget_writes(v->local, dt_tensor_writes(v->local) - seen);
  if (g) dt_diag_uncounted(g, v, kind, was);
  return 0;
}

/* dt._carry(from, to): `from` was copied into `to`, whole. */
static int l_carry (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_carry(g, dtL_check_tensor(L, 1), dtL_check_tensor(L, 2));
  return 0;
}

/* dt._stepping(n, p or nil): an optimizer's step with n gradients; p has none. */
static int l_stepping (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_step(g, (int)luaL_checkinteger(L, 1), dtL_test_tensor(L, 2));
  return 0;
}

/* dt._updates(): how often parameters were updated so far. */
static int l_updates (lua_State *L) {
  const DtDiag *g = dt_diag_of(dtL_session(L));
  lua_pushinteger(L, g ? dt_diag_updates(g) : 0);
  return 1;
}

/* dt._piece(parameter): this rank's own piece of one. */
static int l_piece (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_piece(g, dtL_check_tensor(L, 1));
  return 0;
}

/* dt._gradient_given(tensor, mesh, mdim): one of a list that the ranks reduce, each for
** one of them. */
static int l_gradient_given (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_gradient_given(g, dtL_check_tensor(L, 1), dtL_check_mesh(L, 2),
                                (int)luaL_checkinteger(L, 3));
  return 0;
}

/* dt._reduced(parameter, mesh, mdim): its gradient was, by the library. */
static int l_reduced (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtMesh *m = dtL_check_mesh(L, 2);
  int mdim = (int)luaL_optinteger(L, 3, 0);
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 3, "a dimension of the mesh");
  if (g) dt_diag_reduced(g, dtL_check_tensor(L, 1), m, mdim);
  return 0;
}

/* dt._scattered(gradients, mesh, mdim, parameter): fully_shard reduces the
** gradients of a unit now; one of its parameters. */
static int l_scattered (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtMesh *m = dtL_check_mesh(L, 2);
  int mdim = (int)luaL_checkinteger(L, 3);
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 3, "a dimension of the mesh");
  if (g) dt_diag_scattered(g, dtL_check_tensor(L, 1), dtL_test_tensor(L, 4), m,
                           mdim);
  return 0;
}

/* dt._averaging(n): the library averages the gradients of the backward under way
** over n ranks. */
static int l_averaging (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_averaging(g, luaL_checkinteger(L, 1));
  return 0;
}

/* dt._mode(training): of a dropout or a batch normalization that runs now.
** dt._evaluates(): a module is set to evaluate. */
static int l_mode (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_mode(g, lua_toboolean(L, 1));
  return 0;
}

static int l_evaluates (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_evaluates(g);
  return 0;
}

/* dt._set_apart(parameter): the program keeps the library from reducing it. */
static int l_set_apart (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_test_tensor(L, 1);
  if (g && v) dt_diag_set_apart(g, v);
  return 0;
}

/* dt._factor_given(): fully_shard is told what to divide gradients by. */
static int l_factor_given (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_factor_given(g);
  return 0;
}

/* dt._divides(mesh, mdim, ranks, factor): it sums those of the backward under way over
** so many ranks and divides by the factor. */
static int l_divides (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtMesh *m = dtL_check_mesh(L, 1);
  int mdim = (int)luaL_checkinteger(L, 2);
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 2, "a dimension of the mesh");
  if (g) dt_diag_divides(g, m, mdim, luaL_checknumber(L, 3), luaL_checknumber(L, 4));
  return 0;
}

/* dt._buffer(tensor, name): a module's; dt._loaded(tensor): from a checkpoint. */
static int l_buffer (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_test_tensor(L, 1);
  if (g && v) dt_diag_buffer(g, v, luaL_checkstring(L, 2));
  return 0;
}

/* dt._result(in, out): a functional collective gave `out` for `in`. */
static int l_result (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_result(g, dtL_check_tensor(L, 1), dtL_check_tensor(L, 2));
  return 0;
}

/* dt._filled(tensor, key): a checkpoint was read into it. */
static int l_filled (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_filled(g, dtL_check_tensor(L, 1), luaL_checkstring(L, 2));
  return 0;
}

/* dt._restoring(): a call of load_state_dict begins. */
static int l_restoring (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_restoring(g);
  return 0;
}

/* dt._moments_left(name or nil): a load left these moments in the file, or none. */
static int l_moments_left (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_moments_left(g, luaL_optstring(L, 1, NULL));
  return 0;
}

/* dt._moments_fresh(): an optimizer goes on without them. */
static int l_moments_fresh (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_moments_fresh(g);
  return 0;
}

/* dt._cut_whole(tensor) -> a number, -1 for none; dt._cut_used(number, mesh, mdim): see
** dt_diag_cut_whole(). */
static int l_cut_whole (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_check_tensor(L, 1);
  lua_pushinteger(L, g ? dt_diag_cut_whole(g, v) : -1);
  return 1;
}

static int l_cut_used (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtMesh *m = dtL_check_mesh(L, 2);
  int mdim = (int)luaL_checkinteger(L, 3);
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 3, "a dimension of the mesh");
  if (g) dt_diag_cut_used(g, (int)luaL_checkinteger(L, 1), m, mdim);
  return 0;
}

/* dt._moments_saving(): a state_dict() of an optimizer begins. */
static int l_moments_saving (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_moments_saving(g);
  return 0;
}

/* dt._moment_saved(parameter, tensor, key): it hands that out. */
static int l_moment_saved (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_moment_saved(g, dtL_check_tensor(L, 1), dtL_check_tensor(L, 2),
                              luaL_checkstring(L, 3));
  return 0;
}

/* dt._moment_given(parameter, tensor, key): a load gives it that. */
static int l_moment_given (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_moment_given(g, dtL_check_tensor(L, 1), dtL_check_tensor(L, 2),
                              luaL_checkstring(L, 3));
  return 0;
}

/* dt._restored(tensor, key): it got what a checkpoint holds. */
static int l_restored (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_test_tensor(L, 1);
  if (g && v) dt_diag_restored(g, v, luaL_checkstring(L, 2));
  return 0;
}

/* dt._clearing(): gradients are about to be cleared. */
static int l_clearing (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_clearing(g);
  return 0;
}

/* dt._sampled(ranks): a sampler for so many ranks is made. */
static int l_sampled (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_sampled(g, luaL_checkinteger(L, 1));
  return 0;
}

/* dt._raws(): how many raw collectives there were. */
static int l_raws (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  lua_pushinteger(L, g ? dt_diag_raws(g) : 0);
  return 1;
}

/* dt._function_sent(dt._raws() before a function's forward): did it send anything? */
static int l_function_sent (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  lua_pushboolean(L, g && dt_diag_function_sent(g, luaL_checkinteger(L, 1)));
  return 1;
}

/* dt._gather_back(gathered, its gradient, what backward gives). */
static int l_gather_back (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_gather_back(g, dtL_check_tensor(L, 1), dtL_check_tensor(L, 2),
                             dtL_check_tensor(L, 3));
  return 0;
}

enum { MOST_OF_FUNCTION = 16 };

/* The tensors of a list, NULL for what is none; 0: too many. */
static int function_tensors (lua_State *L, int idx, DtVar **out) {
  luaL_checktype(L, idx, LUA_TTABLE);
  const lua_Integer n = luaL_len(L, idx);
  if (n > MOST_OF_FUNCTION) return 0;
  for (int i = 0; i < (int)n; i++) {
    lua_geti(L, idx, i + 1);
    out[i] = dtL_test_tensor(L, -1);
    lua_pop(L, 1);
  }
  return (int)n;
}

/* dt._function_begins(name, inputs), dt._function_ends(sent, results) -> number,
** dt._function_turns(number), dt._function_back(number, gradients, what backward gives, name, file, line) */
static int l_function_begins (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtVar *in[MOST_OF_FUNCTION];
  if (g) dt_diag_function_begins(g, luaL_checkstring(L, 1), function_tensors(L, 2, in), in);
  return 0;
}

static int l_function_ends (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtVar *out[MOST_OF_FUNCTION];
  const int n = function_tensors(L, 2, out);
  lua_pushinteger(L, g ? dt_diag_function_ends(g, lua_toboolean(L, 1), n, out) : 0);
  return 1;
}

static int l_function_turns (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_function_turns(g, (int)luaL_checkinteger(L, 1));
  return 0;
}

static int l_function_back (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtVar *out[MOST_OF_FUNCTION], *in[MOST_OF_FUNCTION];
  const int nout = function_tensors(L, 2, out), nin = function_tensors(L, 3, in);
  if (g) dt_diag_function_back(g, (int)luaL_checkinteger(L, 1), nout, out, nin, in,
                               luaL_checkstring(L, 4), luaL_checkstring(L, 5),
                               (int)luaL_checkinteger(L, 6));
  return 0;
}

/* dt._unreduced(parameter, on): its gradient is kept back by fully_shard. */
static int l_unreduced (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_unreduced(g, dtL_check_tensor(L, 1), lua_toboolean(L, 2));
  return 0;
}

/* dt._steps_on(parameters): an optimizer does, by the gradients that they
** have. */
static int l_steps_on (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  luaL_checktype(L, 1, LUA_TTABLE);
  if (g == NULL || !dt_diag_keeps_back(g)) return 0;
  for (lua_Integer i = 1; lua_geti(L, 1, i) != LUA_TNIL; i++) {
    dt_diag_step_without(g, dtL_check_tensor(L, -1));
    lua_pop(L, 1);
  }
  return 0;
}

/* Of a tensor's values, or of bytes. */
static uint64_t hash_at (lua_State *L, int i) {
  const DtVar *v = dtL_test_tensor(L, i);
  size_t n;
  const char *s;
  if (v) return v->spec ? 0 : dt_diag_sample(v->local);
  s = luaL_checklstring(L, i, &n);
  return dt_hash_bytes(DT_HASH_SEED, s, n) | 1;
}

/* dt._claim(name, call, subject, what, differ, same[, mute]): `differ` is another
** on each rank (a tensor or a string) while `same` is not: found. */
static int l_claim (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtFindKind *k = dt_find_lookup(luaL_checkstring(L, 1));
  const char *op = dt_session_intern(dtL_session(L), luaL_checkstring(L, 2));
  const char *what = dt_session_intern(dtL_session(L), luaL_checkstring(L, 4));
  luaL_argcheck(L, k != NULL, 1, "no such finding");
  if (op == NULL || what == NULL) return dtL_raise(L);
  if (g) dt_diag_claim_of(g, k->id, op, luaL_checkstring(L, 3), what,
                          hash_at(L, 5), hash_at(L, 6), lua_toboolean(L, 7));
  return 0;
}

/* dt._saved(tensor, key): see dt_diag_saved(). */
static int l_saved (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_check_tensor(L, 1);
  if (g) dt_diag_saved(g, v, luaL_checkstring(L, 2));
  return 0;
}

/* dt._params_between(a, b) -> how many parameters were made between the two, or nil;
** and how many there are. */
static int l_params_between (lua_State *L) {
  const DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *a = dtL_check_tensor(L, 1), *b = dtL_check_tensor(L, 2);
  int all = 0, n = g ? dt_diag_params_between(g, a, b, &all) : -1;
  if (n < 0) lua_pushnil(L);
  else lua_pushinteger(L, n);
  lua_pushinteger(L, all);
  return 2;
}

/* dt._is_sum(tensor): of more than one element, and not divided. */
static int l_is_sum (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_check_tensor(L, 1);
  lua_pushboolean(L, g != NULL && dt_diag_is_sum(g, v));
  return 1;
}

/* dt._scheduled(total, step): of a scheduler that is made for so many. */
static int l_scheduled (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  lua_Number total = luaL_checknumber(L, 1), step = luaL_checknumber(L, 2);
  if (g) dt_diag_scheduled(g, total, (int64_t)step);
  return 0;
}

/* dt._pass_begins(ranks): a sampler deals its items out to them. */
static int l_pass_begins (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_pass_begins(g, (int)luaL_checkinteger(L, 1));
  return 0;
}

/* dt._dealt_out(rows): a sampler deals rows of a data set out to all ranks. */
static int l_dealt_out (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_dealt_out(g, dtL_check_tensor(L, 1));
  return 0;
}

/* dt._excuse(kind): claims of that kind are explained. */
static int l_excuse (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtFindKind *k = dt_find_lookup(luaL_checkstring(L, 1));
  luaL_argcheck(L, k != NULL, 1, "no such finding");
  if (g) dt_diag_claim_excuse(g, k->id, 0);
  return 0;
}

/* dt._mapped(tensor): a local part that local_map() made. */
static int l_mapped (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_mapped(g, dtL_check_tensor(L, 1));
  return 0;
}

/* dt._padded(items, ranks): a sampler added some. */
static int l_padded (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  int64_t items = luaL_checkinteger(L, 1), ranks = luaL_checkinteger(L, 2);
  if (g) dt_diag_padded(g, items, (int)ranks);
  return 0;
}

/* dt._solo(parameter, evidence): its gradient is reduced over this rank alone. */
static int l_solo (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_solo(g, dtL_check_tensor(L, 1), luaL_checkstring(L, 2));
  return 0;
}

/* dt._received(tensor, from): what that rank sent is in it. */
static int l_received (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_received(g, dtL_check_tensor(L, 1), (int)luaL_checkinteger(L, 2));
  return 0;
}

/* dt._written_over(tensor, evidence): it is received into several times. */
static int l_written_over (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_written_over(g, dtL_check_tensor(L, 1), luaL_checkstring(L, 2));
  return 0;
}

static int l_loaded (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_test_tensor(L, 1);
  if (g && v) dt_diag_loaded(g, v);
  return 0;
}

/* dt._mark(tensor, "pending" | "permuted"[, on]): what the library knows of its
** memory; was it marked? */
static int l_mark (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_check_tensor(L, 1);
  int mark = dt_diag_mark_named(luaL_checkstring(L, 2));
  luaL_argcheck(L, mark >= 0, 2, "no such mark");
  lua_pushboolean(L, g != NULL && dt_diag_marked(g, (DtDiagMark)mark, v));
  if (g && !lua_isnone(L, 3))
    (void)dt_diag_mark(g, (DtDiagMark)mark, v, lua_toboolean(L, 3));
  return 1;
}

/* dt._source(tensor): it was replaced by a distributed one.
** dt._was_source(tensor). */
static int l_source (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_source(g, dtL_check_tensor(L, 1));
  return 0;
}

static int l_was_source (lua_State *L) {
  const DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_test_tensor(L, 1);
  lua_pushboolean(L, g != NULL && v != NULL && dt_diag_was_source(g, v->id));
  return 1;
}

/* dt._shows(copy, parameter): a module shows the gathered copy in its place; without
** the parameter: not any more. */
static int l_shows (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *copy = dtL_check_tensor(L, 1);
  if (g) dt_diag_shows(g, copy, dtL_test_tensor(L, 2));
  return 0;
}

/* dt._stage(index): this rank has that stage of a pipeline. */
static int l_stage (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_stage(g, luaL_checkinteger(L, 1));
  return 0;
}

/* dt._clipped(parameter, number): it and others are scaled by the number. */
static int l_clipped (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g) dt_diag_clipped(g, dtL_check_tensor(L, 1), dtL_check_tensor(L, 2));
  return 0;
}

/* dt._cuts(mesh, mdim): fully_shard cuts parameters along that dimension. */
static int l_cuts (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  DtMesh *m = dtL_check_mesh(L, 1);
  const int mdim = (int)luaL_checkinteger(L, 2);
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 2, "a dimension of the mesh");
  if (g) dt_diag_cuts(g, m, mdim);
  return 0;
}

/* dt._replica(tensor[, mesh, mdim, managed]): made equal along it by a broadcast, to
** be kept so by the library where `managed`; without a mesh: reduced. */
static int l_replica (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_check_tensor(L, 1);
  DtMesh *m = lua_isnoneornil(L, 2) ? NULL : dtL_check_mesh(L, 2);
  int mdim = (int)luaL_optinteger(L, 3, 0);
  luaL_argcheck(L, m == NULL || (mdim >= 0 && mdim < m->ndim), 3,
                "a dimension of the mesh");
  if (g) dt_diag_replica(g, v, m, mdim, lua_toboolean(L, 4));
  return 0;
}

/* dt._sent_after(tensor, before, kind): one of a list that is sent to the ranks,
** and the one before it. */
static int l_sent_after (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_check_tensor(L, 1), *before = dtL_check_tensor(L, 2);
  const char *kind = luaL_checkstring(L, 3);
  if (g) dt_diag_sent_after(g, v, before, kind);
  return 0;
}

/* dt._gathered(mine, mesh, mdim, piece, i): an all_gather gave `piece` as that
** of rank i of the group. */
static int l_gathered (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *mine = dtL_check_tensor(L, 1);
  DtMesh *m = dtL_check_mesh(L, 2);
  int mdim = (int)luaL_checkinteger(L, 3);
  luaL_argcheck(L, mdim >= 0 && mdim < m->ndim, 3, "a dimension of the mesh");
  if (g) dt_diag_gathered(g, mine, m, mdim, dtL_check_tensor(L, 4),
                          luaL_checkinteger(L, 5));
  return 0;
}

/* dt._file_part(tensor, name, shape, offsets): read from a file that says so. */
static int l_file_part (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  const DtVar *v = dtL_check_tensor(L, 1);
  int64_t shape[DT_MAX_NDIM], off[DT_MAX_NDIM];
  int n = dtL_check_ints(L, 3, shape, DT_MAX_NDIM);
  luaL_argcheck(L, dtL_check_ints(L, 4, off, DT_MAX_NDIM) == n, 4,
                "as many as dimensions");
  if (g) dt_diag_part(g, v, luaL_checkstring(L, 2), n, shape, off);
  return 0;
}

void dtL_open_diag (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"findings", l_findings}, {"findings_clear", l_clear},
    {"findings_on", l_on}, {"findings_text", l_text}, {"traps", l_traps},
    {NULL, NULL}
  };
  static const luaL_Reg own[] = {
    {"_finding", l_finding}, {"_finding_made", l_finding_made},
    {"_unfound", l_unfound},
    {"_written", l_written}, {"_carry", l_carry}, {"_uncounted", l_uncounted},
    {"_stepping", l_stepping}, {"_steps_on", l_steps_on}, {"_updates", l_updates},
    {"_gradient_given", l_gradient_given}, {"_reduced", l_reduced}, {"_piece", l_piece},
    {"_scattered", l_scattered},
    {"_buffer", l_buffer}, {"_padded", l_padded}, {"_received", l_received},
    {"_written_over", l_written_over}, {"_solo", l_solo}, {"_mapped", l_mapped},
    {"_scheduled", l_scheduled}, {"_pass_begins", l_pass_begins},
    {"_dealt_out", l_dealt_out}, {"_excuse", l_excuse}, {"_averaging", l_averaging},
    {"_factor_given", l_factor_given}, {"_set_apart", l_set_apart},
    {"_mode", l_mode}, {"_evaluates", l_evaluates}, {"_divides", l_divides},
    {"_cut_whole", l_cut_whole}, {"_cut_used", l_cut_used},
    {"_moments_saving", l_moments_saving}, {"_moment_saved", l_moment_saved},
    {"_moment_given", l_moment_given},
    {"_moments_left", l_moments_left}, {"_moments_fresh", l_moments_fresh},
    {"_restoring", l_restoring}, {"_restored", l_restored}, {"_clearing", l_clearing},
    {"_raws", l_raws}, {"_gather_back", l_gather_back},
    {"_function_begins", l_function_begins}, {"_function_ends", l_function_ends},
    {"_function_turns", l_function_turns}, {"_function_back", l_function_back},
    {"_function_sent", l_function_sent},
    {"_sampled", l_sampled}, {"_filled", l_filled},
    {"_unreduced", l_unreduced}, {"_claim", l_claim}, {"_loaded", l_loaded},
    {"_result", l_result}, {"_file_part", l_file_part}, {"_mark", l_mark},
    {"_replica", l_replica}, {"_cuts", l_cuts}, {"_clipped", l_clipped},
    {"_stage", l_stage}, {"_shows", l_shows}, {"_gathered", l_gathered},
    {"_sent_after", l_sent_after},
    {"_saved", l_saved}, {"_params_between", l_params_between}, {"_is_sum", l_is_sum},
    {"_source", l_source}, {"_was_source", l_was_source}, {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, own, 0);
  if (lua_getfield(L, -1, "debug") == LUA_TTABLE) luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 2);
}
