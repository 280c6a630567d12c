/* SPDX-License-Identifier: MIT
** render/trace.c: spans of all ranks in Chrome's trace format: a process for
** each rank, lanes of operators and of collectives, a counter of memory, and
** arrows between the ranks of a collective.
**
** Times are whole nanoseconds from the first span on, so that what nests still
** nests when it is written.  The n-th collective of a name that a group of
** ranks does is the same one on each of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "render/svg.h"

typedef struct Clock { double t0; } Clock;

static long long nanos (const Clock *k, double t) {
  return llround((t - k->t0) * 1e9);
}

static void add_time (DtBuf *b, const char *key, long long ns) {
  dt_buf_addf(b, ",\"%s\":%lld.%03lld", key, ns / 1000, ns % 1000);
}

static void add_text (DtBuf *b, const char *key, const char *s) {
  dt_buf_addf(b, ",\"%s\":", key);
  dt_json_string(b, s, strlen(s));
}

static int lane_of (const DtSpan *s) { return s->kind == DT_SPAN_COLL; }

/* --- spans --- */

static void span_args (const DtSpan *s, DtBuf *b) {
  dt_buf_addf(b, ",\"args\":{\"seq\":%lld", (long long)s->seq);
  const char *arrow = strstr(s->note, " -> ");
  if (arrow) {
    dt_buf_add(b, ",\"takes\":");
    dt_json_string(b, s->note, (size_t)(arrow - s->note));
    add_text(b, "gives", arrow + 4);
  }
  if (s->kind == DT_SPAN_COLL) {
    dt_buf_addf(b, ",\"bytes\":%lld", (long long)s->bytes);
    add_text(b, "mesh_dim", s->mdim);
  }
  if (s->implicit) dt_buf_add(b, ",\"implicit\":true");
  if (s->line > 0) {
    char where[512];
    snprintf(where, sizeof where, "%.480s:%d", s->file, s->line);
    add_text(b, "line", where);
  }
  dt_buf_add(b, s->backward ? ",\"backward\":true}}" : "}}");
}

static void span (const Clock *k, int rank, const DtSpan *s, DtBuf *b) {
  long long from = nanos(k, s->t0);
  dt_buf_add(b, ",\n{\"name\":");
  dt_json_string(b, s->name, strlen(s->name));
  dt_buf_addf(b, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d",
              dt_span_kind((DtSpanKind)s->kind), rank, lane_of(s));
  add_time(b, "ts", from);
  add_time(b, "dur", nanos(k, s->t1) - from);
  span_args(s, b);
}

static void counter (const Clock *k, int rank, const DtSpan *s, DtBuf *b) {
  dt_buf_addf(b, ",\n{\"name\":\"memory\",\"ph\":\"C\",\"pid\":%d,"
              "\"tid\":0", rank);
  add_time(b, "ts", nanos(k, s->t0));
  dt_buf_addf(b, ",\"args\":%s}", s->note);
}

/* What a collective has on its way, while it runs. */
static void on_the_way (const Clock *k, int rank, const DtSpan *s, DtBuf *b) {
  for (int end = 0; end < 2; end++) {
    dt_buf_addf(b, ",\n{\"name\":\"on the way\",\"ph\":\"C\",\"pid\":%d,"
                "\"tid\":1", rank);
    add_time(b, "ts", nanos(k, end ? s->t1 : s->t0));
    dt_buf_addf(b, ",\"args\":{\"bytes\":%lld}}",
                (long long)(end ? 0 : s->bytes));
  }
}

/* --- arrows --- */

/* A collective of one rank. */
typedef struct End {
  const DtSpan *s;
  const char *name;
  int rank, nth;                /* of this name and group on this rank */
} End;

static bool is_message (const char *name) {
  return strncmp(name, "send", 4) == 0 || strncmp(name, "recv", 4) == 0;
}

static int by_call (const End *a, const End *b) {
  int c = strcmp(a->name, b->name);
  if (c) return c;
  if (a->s->group != b->s->group) return a->s->group < b->s->group ? -1 : 1;
  return 0;
}

static int by_rank (const void *x, const void *y) {
  const End *a = x, *b = y;
  int c = by_call(a, b);
  if (c) return c;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return a->s->t0 < b->s->t0 ? -1 : a->s->t0 > b->s->t0;
}

static int by_nth (const void *x, const void *y) {
  const End *a = x, *b = y;
  int c = by_call(a, b);
  if (c) return c;
  if (a->nth != b->nth) return a->nth < b->nth ? -1 : 1;
  if (a->s->t0 != b->s->t0) return a->s->t0 < b->s->t0 ? -1 : 1;
  return a->rank - b->rank;
}

static void arrow (const Clock *k, int id, const char *ph, const End *e,
                   DtBuf *b) {
  dt_buf_add(b, ",\n{\"name\":");
  dt_json_string(b, e->name, strlen(e->name));
  dt_buf_addf(b, ",\"cat\":\"flow\",\"ph\":\"%s\",\"id\":%d%s,\"pid\":%d,"
              "\"tid\":1", ph, id, *ph == 'f' ? ",\"bp\":\"e\"" : "", e->rank);
  add_time(b, "ts", nanos(k, e->s->t0));
  dt_buf_addc(b, '}');
}

/* From the rank that came first to the others, as they came. */
static void arrows (const Clock *k, End *v, int n, DtBuf *b) {
  int i, from, id = 0;
  qsort(v, (size_t)n, sizeof *v, by_rank);
  for (i = 1; i < n; i++)
    if (by_call(&v[i - 1], &v[i]) == 0 && v[i - 1].rank == v[i].rank)
      v[i].nth = v[i - 1].nth + 1;
  qsort(v, (size_t)n, sizeof *v, by_nth);
  for (from = 0; from < n; from = i) {
    for (i = from + 1; i < n && by_call(&v[from], &v[i]) == 0 &&
         v[from].nth == v[i].nth; i++) ;
    if (i - from < 2) continue;
    id++;
    for (int j = from; j < i; j++)
      arrow(k, id, j == from ? "s" : j == i - 1 ? "f" : "t", &v[j], b);
  }
}

static int collect (int nranks, DtSpan *const *v, const int *n, End *out) {
  int count = 0;
  for (int r = 0; r < nranks; r++)
    for (int i = 0; i < n[r]; i++) {
      const DtSpan *s = &v[r][i];
      if (s->kind != DT_SPAN_COLL) continue;
      if (out)
        out[count] = (End){ s, is_message(s->name) ? "message" : s->name, r, 0 };
      count++;
    }
  return count;
}

/* --- the file --- */

static void names (int rank, DtBuf *b) {
  static const char *const lanes[] = {"operators", "collectives"};
  dt_buf_addf(b, ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,"
              "\"args\":{\"name\":\"rank %d\"}}", rank, rank);
  dt_buf_addf(b, ",\n{\"name\":\"process_sort_index\",\"ph\":\"M\","
              "\"pid\":%d,\"args\":{\"sort_index\":%d}}", rank, rank);
  for (int i = 0; i < 2; i++)
    dt_buf_addf(b, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,"
                "\"tid\":%d,\"args\":{\"name\":\"%s\"}}", rank, i, lanes[i]);
}

DtStatus dt_trace_json (DtCtx *cx, int nranks, DtSpan *const *v, const int *n,
                        DtBuf *b) {
  Clock k = { 0 };
  bool any = false;
  int r, i, ends = collect(nranks, v, n, NULL);
  End *end = DT_NEWN(cx, End, ends + 1);
  if (end == NULL) return DT_E_NOMEM;
  for (r = 0; r < nranks; r++)
    for (i = 0; i < n[r]; i++) {
      if (!any || v[r][i].t0 < k.t0) k.t0 = v[r][i].t0;
      any = true;
    }
  dt_buf_add(b, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
             "{\"name\":\"trace\",\"ph\":\"M\",\"pid\":0,\"args\":{}}");
  for (r = 0; r < nranks; r++) {
    names(r, b);
    for (i = 0; i < n[r]; i++) {
      if (v[r][i].kind == DT_SPAN_MEMORY) counter(&k, r, &v[r][i], b);
      else span(&k, r, &v[r][i], b);
      if (v[r][i].kind == DT_SPAN_COLL) on_the_way(&k, r, &v[r][i], b);
    }
  }
  (void)collect(nranks, v, n, end);
  arrows(&k, end, ends, b);
  dt_buf_add(b, "\n]}\n");
  dt_free(cx, end);
  return DT_OK;
}
