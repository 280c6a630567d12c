/* SPDX-License-Identifier: MIT
** repl/cmd_data.c: commands that measure. */
#include "repl/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest over all ranks: every rank must run equally often. */
static DtStatus slowest_rank (DtRepl *r, double mine, double *out) {
  DtCtx *cx = r->cx;
  int n = r->comm->size;
  DtCollInfo info = {"timeit", 0, "", "", ""};
  char text[32];
  snprintf(text, sizeof text, "%.9g", mine);
  *out = strtod(text, NULL);      /* the same bits as the others read */
  if (n == 1 || r->comm->no_data)
    return DT_OK;
  char **v = DT_NEWN(cx, char *, n);
  size_t *len = DT_NEWN(cx, size_t, n);
  DtStatus st = v == NULL || len == NULL ? DT_E_NOMEM : DT_OK;
  if (st == DT_OK)
    st = dt_comm_gather_text(cx, r->comm->world, &info, text, strlen(text), v,
                             len);
  for (int i = 0; i < n && v != NULL; i++) {
    double t = st == DT_OK ? strtod(v[i], NULL) : 0;
    *out = t > *out ? t : *out;
    dt_free(cx, v[i]);
  }
  dt_free(cx, v);
  dt_free(cx, len);
  return st;
}

/* Call the function on the top `count` times. */
static DtStatus time_calls (DtRepl *r, int64_t count, double *each) {
  double t0 = dt_repl_seconds();
  for (int64_t i = 0; i < count; i++) {
    lua_pushvalue(r->L, -1);
    DtStatus st = dt_eval_call(r->L, 0, 0, &r->diag);
    if (st != DT_OK)
      return st;
  }
  *each = (dt_repl_seconds() - t0) / (double)count;
  return DT_OK;
}

static void show_time (double t, DtBuf *b) {
  if (t < 1e-6)
    dt_buf_addf(b, "%.3g ns", t * 1e9);
  else if (t < 1e-3)
    dt_buf_addf(b, "%.3g us", t * 1e6);
  else if (t < 1)
    dt_buf_addf(b, "%.3g ms", t * 1e3);
  else
    dt_buf_addf(b, "%.3g s", t);
}

/* One run first, to learn what a run costs; then as many as fill 0.2 s of the
** slowest rank. The count must be the same on all ranks, as the text may hold
** collectives. */
static DtStatus cmd_timeit (DtCmdCall *c) {
  DtRepl *r = c->r;
  lua_State *L = r->L;
  char *rest = NULL;
  const char *text = c->arg;
  long long count = strtoll(text, &rest, 10);
  bool given = rest > text && *rest == ' ' && count > 0;
  int top = lua_gettop(L);
  bool expression;
  if (given)
    text = rest + strspn(rest, " ");
  if (*text == '\0')
    return dt_cmd_error(c, 0, "wanted something to run");
  if (!dt_eval_compile(L, text, &expression)) {
    DtStatus bad = dt_raise(r->cx, DT_E_PARSE, "%s",
                            luaL_tolstring(L, -1, NULL));
    lua_settop(L, top);
    return bad;
  }
  double each = 0, all = 0;
  DtStatus st = time_calls(r, 1, &each);
  if (st == DT_OK)
    st = slowest_rank(r, each, &all);
  if (st == DT_OK) {
    if (!given) {
      count = (int64_t)(0.2 / (all + 1e-9));
      count = count < 1 ? 1 : count > 1000000 ? 1000000 : count;
    }
    st = time_calls(r, count, &each);
  }
  if (st == DT_OK)
    st = slowest_rank(r, each, &all);
  if (st == DT_OK) {
    dt_buf_addf(c->out, "%lld runs, each ", count);
    show_time(all, c->out);
    dt_buf_add(c->out, r->comm->size > 1 ? " on the slowest rank\n" : "\n");
  }
  lua_settop(L, top);
  return st;
}

const DtCmd dt_cmds_data[] = {
  {"timeit", "measure", 0, "[N] CHUNK",
   "Say how long a chunk takes.\n"
   "It runs N times, or as often as fits into a fifth of a second.\n"
   "Example: :timeit dt.ones(64, 64):sum()", cmd_timeit},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
