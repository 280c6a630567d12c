/* SPDX-License-Identifier: MIT
** debug/spans.c: a listener that takes the time of begin and end events.
**
** A span is closed by the end event of its depth; one whose end never came
** (an error went through) is closed when something begins at its depth again.
** The list is bounded: when it is full, the older half goes. */
#include "debug/spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SPANS = 1 << 15 };

#define BOTH(k) (UINT64_C(1) << DT_EV_##k | UINT64_C(1) << DT_EV_##k##_END)
#define MASK (BOTH(FUNC) | BOTH(OP) | BOTH(REDIST) | BOTH(COLL) \
  | BOTH(BACKWARD) | BOTH(MODULE))

static double seconds_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int kind_of (DtEventKind k) {
  switch (k) {
    case DT_EV_FUNC: case DT_EV_FUNC_END: return DT_SPAN_FUNC;
    case DT_EV_OP: case DT_EV_OP_END: return DT_SPAN_OP;
    case DT_EV_REDIST: case DT_EV_REDIST_END: return DT_SPAN_REDIST;
    case DT_EV_COLL: case DT_EV_COLL_END: return DT_SPAN_COLL;
    case DT_EV_BACKWARD: case DT_EV_BACKWARD_END: return DT_SPAN_BACKWARD;
    case DT_EV_MODULE: case DT_EV_MODULE_END: return DT_SPAN_MODULE;
    default: return -1;
  }
}

const char *dt_span_kind (DtSpanKind k) {
  static const char *const names[] = {
    "function", "op", "redistribute", "collective", "backward", "module",
    "memory"
  };
  return k < DT_NSPANS ? names[k] : "?";
}

/* Close what is open at this depth or deeper. */
static void close_from (DtSpans *p, int depth, double t) {
  while (p->nopen > 0) {
    int i = p->open[p->nopen - 1];
    if (i >= 0 && p->v[i].depth < depth) break;
    if (i >= 0) p->v[i].t1 = t;
    p->nopen--;
  }
}

static void make_room (DtSpans *p) {
  int half = p->n / 2, i;
  memmove(p->v, p->v + half, (size_t)(p->n - half) * sizeof *p->v);
  p->n -= half;
  p->dropped += half;
  for (i = 0; i < p->nopen; i++)
    p->open[i] = p->open[i] >= half ? p->open[i] - half : -1;
}

static DtSpan *new_span (DtSpans *p) {
  if (p->n == p->cap && p->cap < MAX_SPANS) {
    int cap = p->cap ? p->cap * 2 : 256;
    DtSpan *v = dt_realloc(p->s->cx, p->v, (size_t)cap * sizeof *v);
    if (v == NULL) { dt_error_clear(p->s->cx); return NULL; }
    p->v = v;
    p->cap = cap;
  }
  if (p->n == p->cap) make_room(p);
  return &p->v[p->n++];
}

static const char *label_of (DtSpans *p, const DtEvent *e) {
  DtBuf b;
  const char *out = "";
  if (e->mesh == NULL || e->mdim < 0) return "";
  if (e->mesh->name[e->mdim]) return dt_session_intern(p->s,
                                                       e->mesh->name[e->mdim]);
  dt_buf_init(&b, p->s->cx);
  dt_mesh_dim_label(e->mesh, e->mdim, &b);
  out = dt_session_intern(p->s, dt_buf_str(&b));
  dt_buf_fini(&b);
  if (out == NULL) dt_error_clear(p->s->cx);
  return out ? out : "";
}

static const char *name_of (DtSpans *p, const DtEvent *e) {
  const char *t = "";
  switch (e->kind) {
    case DT_EV_OP: case DT_EV_FUNC:
      return e->op && e->op->sig ? e->op->sig->full : e->text ? e->text : "";
    case DT_EV_COLL: return e->coll ? e->coll : "";
    case DT_EV_REDIST: return "redistribute";
    case DT_EV_BACKWARD: return "backward";
    case DT_EV_MODULE:
      t = dt_session_intern(p->s, e->text ? e->text : "");
      if (t == NULL) dt_error_clear(p->s->cx);
      return t ? t : "";
    default: return "";
  }
}

/* FNV-1a of the ranks; never 0. */
static uint64_t group_of (const DtEvent *e) {
  uint64_t h = UINT64_C(14695981039346656037);
  for (int i = 0; i < e->ngroup; i++)
    h = (h ^ (uint64_t)(unsigned)e->group[i]) * UINT64_C(1099511628211);
  return h ? h : 1;
}

static void begin_span (DtSpans *p, const DtEvent *e, int kind, double t) {
  DtSpan *s;
  close_from(p, e->depth, t);
  s = p->nopen < 64 ? new_span(p) : NULL;
  if (s == NULL) return;
  s->t0 = t;
  s->t1 = t - 1;
  s->seq = e->seq;
  s->bytes = e->bytes_in;
  s->name = name_of(p, e);
  s->mdim = label_of(p, e);
  s->group = kind == DT_SPAN_COLL ? group_of(e) : 0;
  s->note = "";
  s->file = e->file;
  s->line = e->line;
  s->kind = (uint8_t)kind;
  s->depth = (uint8_t)(e->depth < 255 ? e->depth : 255);
  s->backward = e->backward;
  s->implicit = e->implicit;
  p->open[p->nopen++] = p->n - 1;
}

static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtSpans *p = (DtSpans *)ud;
  int kind = kind_of(e->kind);
  (void)s;
  if (kind < 0 || p->d->muted || p->d->rec.off) return DT_OK;
  switch (e->kind) {
    case DT_EV_FUNC: case DT_EV_OP: case DT_EV_REDIST: case DT_EV_COLL:
    case DT_EV_BACKWARD: case DT_EV_MODULE:
      begin_span(p, e, kind, seconds_now());
      break;
    default: close_from(p, e->depth, seconds_now());
  }
  return DT_OK;
}

DtStatus dt_spans_new (DtDebug *d, DtSpans **out) {
  DtSpans *p = DT_NEW(d->s->cx, DtSpans);
  DtStatus st;
  if (p == NULL) return DT_E_NOMEM;
  p->s = d->s;
  p->d = d;
  st = dt_event_listen(d->s, MASK, on_event, p, &p->listener);
  if (st != DT_OK) {
    dt_free(d->s->cx, p);
    return st;
  }
  *out = p;
  return DT_OK;
}

void dt_spans_free (DtSpans *p) {
  if (p == NULL) return;
  dt_event_unlisten(p->s, p->listener);
  dt_free(p->s->cx, p->v);
  dt_free(p->s->cx, p);
}

/* --- as text --- */

/* A tab and the text; its own tabs and ends of lines are written otherwise. */
static void write_field (DtBuf *out, const char *s) {
  dt_buf_addc(out, '\t');
  for (; s && *s; s++) {
    if (*s == '\t') dt_buf_add(out, "\\t");
    else if (*s == '\n') dt_buf_add(out, "\\n");
    else if (*s == '\\') dt_buf_add(out, "\\\\");
    else dt_buf_addc(out, *s);
  }
}

static void write_head (const DtSpan *s, DtBuf *out) {
  dt_buf_addf(out, "%d %d %d %d %lld %lld %d %llx %.9f %.9f",
              s->kind, s->depth, s->backward, s->implicit,
              (long long)s->seq, (long long)s->bytes, s->line,
              (unsigned long long)s->group, s->t0, s->t1);
  write_field(out, s->name);
  write_field(out, s->mdim);
  write_field(out, s->file);
}

/* --- what a span took and gave, by the record --- */

static void add_var (const DtRecVar *v, DtBuf *b) {
  if (v->none) dt_buf_add(b, "None");
  else if (v->spec) dt_spec_print(v->spec, b);
  else dt_meta_print(v->meta, b);
}

static void add_vars (int n, const DtRecVar *v, DtBuf *b) {
  for (int i = 0; i < n; i++) {
    if (i) dt_buf_add(b, ", ");
    add_var(&v[i], b);
  }
}

/* `k`: which redistribution of its operator it is. */
static void note_of (const DtSpans *p, const DtSpan *s, int k, DtBuf *b) {
  const DtRecOp *r = s->seq > 0 ? dt_record_find(p->d, s->seq) : NULL;
  if (r == NULL) return;
  if (s->kind == DT_SPAN_OP && s->name && strcmp(s->name, r->label) == 0) {
    add_vars(r->nin, r->in, b);
    dt_buf_add(b, " -> ");
    add_vars(r->nout, r->out, b);
  } else if (s->kind == DT_SPAN_REDIST && k < r->nmove) {
    dt_spec_print(r->move[k].src, b);
    dt_buf_add(b, " -> ");
    dt_spec_print(r->move[k].dst, b);
  }
}

void dt_spans_write (const DtSpans *p, int max, bool notes, DtBuf *out) {
  DtBuf note;
  int64_t moved = 0;            /* the operator of the last redistribution */
  int i, k = 0;
  dt_buf_init(&note, p->s->cx);
  for (i = p->n > max ? p->n - max : 0; i < p->n; i++) {
    const DtSpan *s = &p->v[i];
    if (s->t1 < s->t0) continue;
    if (s->kind == DT_SPAN_REDIST) {
      k = s->seq == moved ? k + 1 : 0;
      moved = s->seq;
    }
    write_head(s, out);
    dt_buf_clear(&note);
    if (notes) note_of(p, s, k, &note);
    write_field(out, dt_buf_str(&note));
    dt_buf_addc(out, '\n');
  }
  if (note.oom) out->oom = true;
  dt_buf_fini(&note);
}

void dt_spans_write_memory (const DtSpans *p, int64_t seq, bool end,
                            const char *json, int *at, DtBuf *out) {
  for (; *at < p->n; (*at)++) {
    const DtSpan *s = &p->v[*at];
    if (s->kind != DT_SPAN_OP || s->t1 < s->t0 || s->seq < seq) continue;
    if (s->seq == seq) {
      DtSpan m = { .kind = DT_SPAN_MEMORY, .seq = seq, .name = "memory" };
      m.t0 = m.t1 = end ? s->t1 : s->t0;
      write_head(&m, out);
      write_field(out, json);
      dt_buf_addc(out, '\n');
    }
    return;
  }
}

/* The field that begins at *at, up to a tab or the end of the line. */
static const char *read_field (DtCtx *cx, DtArena *a, const char **at) {
  size_t n = strcspn(*at, "\t\n");
  char *out = dt_arena_alloc(cx, a, n + 1);
  size_t i, k = 0;
  for (i = 0; out && i < n; i++) {
    char c = (*at)[i];
    if (c == '\\' && i + 1 < n) {
      c = (*at)[++i];
      c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
    }
    out[k++] = c;
  }
  *at += n;
  if (**at == '\t') (*at)++;
  return out;
}

/* One line of spans from another rank: numbers, then four texts separated by
** tabs. sscanf gets a copy of the numbers alone: given the whole text it would
** look for its end at each line, which is quadratic. */
static DtStatus read_line (DtCtx *cx, DtArena *a, const char *s, DtSpan *p) {
  long long seq, bytes;
  unsigned long long group;
  int k = -1, depth, back, imp;
  char head[256];               /* sscanf looks for the end of what it is given */
  size_t len = strcspn(s, "\t\n");
  memset(p, 0, sizeof *p);
  if (len < sizeof head) {
    memcpy(head, s, len);
    head[len] = '\0';
    if (sscanf(head, "%d %d %d %d %lld %lld %d %llx %lf %lf", &k, &depth, &back,
               &imp, &seq, &bytes, &p->line, &group, &p->t0, &p->t1) < 10)
      k = -1;
  }
  if (k < 0 || k >= DT_NSPANS)
    return dt_raise(cx, DT_E_IO, "not a line of spans");
  p->kind = (uint8_t)k;
  p->depth = (uint8_t)depth;
  p->backward = back != 0;
  p->implicit = imp != 0;
  p->seq = seq;
  p->bytes = bytes;
  p->group = group;
  s += len;
  if (*s == '\t') s++;
  p->name = read_field(cx, a, &s);
  p->mdim = read_field(cx, a, &s);
  p->file = read_field(cx, a, &s);
  p->note = read_field(cx, a, &s);
  return p->name && p->mdim && p->file && p->note ? DT_OK : DT_E_NOMEM;
}

DtStatus dt_spans_read (DtCtx *cx, DtArena *a, const char *text, DtSpan **v,
                        int *n) {
  const char *s;
  int lines = 0;
  for (s = text; *s; s++) lines += *s == '\n';
  *n = 0;
  *v = DT_ANEWN(cx, a, DtSpan, lines + 1);
  if (*v == NULL) return DT_E_NOMEM;
  for (s = text; *s; ) {
    const char *end = strchr(s, '\n');
    if (end == NULL) break;
    DT_TRY(cx, read_line(cx, a, s, &(*v)[(*n)++]));
    s = end + 1;
  }
  return DT_OK;
}
