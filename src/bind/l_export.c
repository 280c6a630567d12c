/* SPDX-License-Identifier: MIT
** bind/l_export.c: dt.debug.page() and dt.debug.chrome(): the record as one
** page for a browser and as a trace, from the times of all ranks. */
#include <string.h>
#include "bind/bind.h"
#include "bind/frame.h"
#include "debug/autopsy.h"
#include "debug/busy.h"
#include "debug/control.h"
#include "render/html.h"

enum { MAX_LINES = 400000 };    /* spans of all ranks together */

typedef struct All {
  int n; DtSpan **v; int *count;
  char **text; size_t *len;
  DtArena arena;
} All;

static void all_fini (DtCtx *cx, All *a) {
  int i;
  for (i = 0; a->text && i < a->n; i++) dt_free(cx, a->text[i]);
  dt_free(cx, a->text);
  dt_free(cx, a->len);
  dt_free(cx, a->v);
  dt_free(cx, a->count);
  dt_arena_fini(cx, &a->arena);
}

/* Rank 0 writes what `n` ranks gave, and it alone needs to read it. */
static bool writes_export (const DtSession *s, int n) {
  return n == 1 || s->comm->rank == 0;
}

/* Spans of every rank, with notes and these lines `more`, read on the rank that
** writes them; without notes for a page, which shows the record.  Collective. */
static DtStatus gather_spans (DtSession *s, const DtSpans *mine, const DtBuf *more,
                              All *a) {
  DtCtx *cx = s->cx;
  DtCollInfo info = { "timeline", 0, "", "", "" };
  DtStatus st = DT_OK;
  DtBuf b;
  int i;
  memset(a, 0, sizeof *a);
  a->n = s->comm && !dt_session_no_data(s) ? s->comm->size : 1;
  a->v = DT_NEWN(cx, DtSpan *, a->n);
  a->count = DT_NEWN(cx, int, a->n);
  a->text = DT_NEWN(cx, char *, a->n);
  a->len = DT_NEWN(cx, size_t, a->n);
  if (!a->v || !a->count || !a->text || !a->len) st = DT_E_NOMEM;
  dt_buf_init(&b, cx);
  dt_spans_write(mine, MAX_LINES / a->n, more != NULL, &b);
  if (more && more->len > 0) dt_buf_addn(&b, more->s, more->len);
  if (st == DT_OK) st = dt_buf_ok(&b);
  if (st == DT_OK && a->n > 1)
    st = dt_comm_gather_text(cx, s->comm->world, &info, dt_buf_str(&b), b.len,
                             a->text, a->len);
  else if (st == DT_OK)
    st = (a->text[0] = dt_strdup(cx, dt_buf_str(&b))) ? DT_OK : DT_E_NOMEM;
  dt_buf_fini(&b);
  for (i = 0; i < a->n && st == DT_OK && writes_export(s, a->n); i++)
    st = dt_spans_read(cx, &a->arena, a->text[i], &a->v[i], &a->count[i]);
  return st;
}

static DtDiag *check_diag (lua_State *L) {
  DtDiag *g = dt_diag_of(dtL_session(L));
  if (g == NULL) dtL_errorf(L, DT_E_RUNTIME, "no debugger is attached");
  return g;
}

/* The file whose lines ran last. */
static const char *title_of (DtDebug *d) {
  int i;
  for (i = d->rec.n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_at(d, i);
    if (r->file && r->line > 0) return r->file;
  }
  return "session";
}

/* What failed last: the operator's report, or `error`, which was raised when
** the program had come to #after.  Collective. */
static void report_failure (DtSession *s, const char *error, int64_t after,
                            DtBuf *b) {
  const DtFailed *f = &dt_debug_of(s)->failed;
  bool here = f->valid && (error == NULL || f->seq > after ||
                           (f->message && strstr(error, f->message) != NULL));
  if (!here || !dt_autopsy_again(s, b)) dt_buf_add(b, error ? error : "");
}

/* The parameters in the list {{name, tensor, variable?}} at index 3: borrowed
** from it. */
static int read_parameters (lua_State *L, DtArena *arena, DtPageParam **out) {
  DtCtx *cx = dtL_session(L)->cx;
  int n = lua_istable(L, 3) ? (int)lua_rawlen(L, 3) : 0, k = 0;
  DtPageParam *v = DT_ANEWN(cx, arena, DtPageParam, n + 1);
  *out = v;
  for (int i = 1; v && i <= n; i++) {
    lua_rawgeti(L, 3, i);
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    lua_rawgeti(L, -3, 3);
    v[k] = (DtPageParam){ lua_tostring(L, -3), dtL_test_tensor(L, -2),
                          lua_toboolean(L, -1) };
    if (v[k].name && v[k].var) k++;
    lua_pop(L, 4);
  }
  return k;
}

static DtStatus write_page (DtSession *s, DtDiag *g, const All *a,
                            const char *failed, int nparam,
                            const DtPageParam *param, DtBuf *b) {
  DtControl *c = dt_control_of(s);
  const DtFailed *f = &dt_debug_of(s)->failed;
  DtPage p = { .cx = s->cx, .nranks = a->n, .d = dt_debug_of(s), .diag = g,
               .span = a->v, .nspan = a->count, .nparam = nparam,
               .param = param };
  if (*failed) p.failure = failed;
  if (f->valid && f->message && strstr(failed, f->op->sig->full)) {
    p.file = f->file;
    p.line = f->line;
  }
  p.title = title_of(p.d);
  if (c) {
    p.source = c->h.source;
    p.ud = c->h.ud;
  }
  return dt_html_page(&p, b);
}

/* Lines of memory, from a list of {seq, at its end?, bytes by kind as JSON} at
** index 1, operators in order. */
static void memory_lines (lua_State *L, const DtSpans *p, DtBuf *out) {
  int at = 0;
  if (!lua_istable(L, 1)) return;
  for (lua_Integer i = 1; lua_geti(L, 1, i) == LUA_TTABLE; i++) {
    lua_geti(L, -1, 1);
    lua_geti(L, -2, 2);
    lua_geti(L, -3, 3);
    if (lua_isinteger(L, -3) && lua_isstring(L, -1))
      dt_spans_write_memory(p, lua_tointeger(L, -3), lua_toboolean(L, -2),
                            lua_tostring(L, -1), &at, out);
    lua_pop(L, 4);
  }
  lua_pop(L, 1);
}

/* Push the text and the number of operators; "" where rank is not 0. */
static int push_export (lua_State *L, bool html) {
  DtSession *s = dtL_session(L);
  DtDiag *g = check_diag(L);
  DtStatus st = html ? dt_diag_settle(g) : DT_OK;
  All a;
  DtBuf b, failed, memory;
  DtPageParam *param = NULL;
  int nparam = 0;
  if (st != DT_OK) return dtL_raise(L);
  dt_buf_init(&b, s->cx);
  dt_buf_init(&failed, s->cx);
  dt_buf_init(&memory, s->cx);
  if (html)
    report_failure(s, luaL_optstring(L, 1, NULL), luaL_optinteger(L, 2, 0),
                   &failed);
  else
    memory_lines(L, dt_diag_spans(g), &memory);
  st = gather_spans(s, dt_diag_spans(g), html ? NULL : &memory, &a);
  if (html && st == DT_OK) nparam = read_parameters(L, &a.arena, &param);
  if (st == DT_OK && writes_export(s, a.n)) {
    if (html)
      st = write_page(s, g, &a, dt_buf_str(&failed), nparam, param, &b);
    else st = dt_trace_json(s->cx, a.n, a.v, a.count, &b);
  }
  if (st == DT_OK) st = dt_buf_ok(&b);
  all_fini(s->cx, &a);
  dt_buf_fini(&failed);
  dt_buf_fini(&memory);
  if (st != DT_OK) {
    dt_buf_fini(&b);
    return dtL_raise(L);
  }
  dtL_push_buf(L, &b);
  lua_pushinteger(L, dt_debug_of(s)->rec.n);
  return 2;
}

/* dt.debug.page([error, after, parameters]) -> the page's text on rank 0, number
** of operators.  `error` is the text of one that no operator raised, when the
** program had come to #after; `parameters` are {{name, tensor, no parameter but
** a variable?}}.  Collective. */
static int l_page (lua_State *L) { return push_export(L, true); }

/* dt.debug.chrome([memory]) -> a trace for chrome://tracing and Perfetto, on
** rank 0.  `memory`: {{seq, at its end?, bytes by kind as JSON}}, in order.
** Collective. */
static int l_chrome (lua_State *L) { return push_export(L, false); }

/* dt.debug.busy(f, ...) -> {wall=, kernels=, collectives=}: runs f(...); the
** seconds it took, and those of them spent in local arithmetic and in
** collectives on this rank.  An error of f goes through.  Local, unless f is
** not. */
static int l_busy (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtBusy b;
  int rc;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (dt_busy_begin(s, &b) != DT_OK) return dtL_raise(L);
  rc = lua_pcall(L, lua_gettop(L) - 1, 0, 0);
  dt_busy_end(s, &b);
  if (rc != LUA_OK) return lua_error(L);
  lua_createtable(L, 0, 3);
  lua_pushnumber(L, b.wall);
  lua_setfield(L, -2, "wall");
  lua_pushnumber(L, b.kernels);
  lua_setfield(L, -2, "kernels");
  lua_pushnumber(L, b.collectives);
  lua_setfield(L, -2, "collectives");
  return 1;
}

/* dt.debug.clock() -> seconds of a clock that only goes forward.  Pure. */
static int l_clock (lua_State *L) {
  lua_pushnumber(L, dt_busy_clock());
  return 1;
}

/* dt.debug.source(name) -> the text of the script or program `name` (as "where"
** has it) when one of its lines was shown or noted, else nil: no way to read
** other files.  Local. */
static int l_source (lua_State *L) {
  const char *text = dtL_source_text(L, luaL_checkstring(L, 1));
  if (text) lua_pushstring(L, text);
  else lua_pushnil(L);
  return 1;
}

void dtL_open_export (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"busy", l_busy}, {"clock", l_clock}, {"chrome", l_chrome}, {"page", l_page},
    {"source", l_source}, {"variables", dtL_variables}, {NULL, NULL}
  };
  if (lua_getfield(L, dt, "debug") == LUA_TTABLE) luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
