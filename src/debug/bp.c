/* SPDX-License-Identifier: MIT
** debug/bp.c: breakpoints: their lives, files, hits.
**
** A breakpoint has a kind, the kind's arguments, and what all have: condition,
** count of hits to ignore, commands, on or off, once.  A kind (bp_kinds.c)
** names the events it looks at, and only those are listened to while it is
** on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_tool.h"
#include "debug/bp_int.h"

static void break_fini (DtControl *c, DtBreak *b) {
  DtCtx *cx = c->d->s->cx;
  dt_free(cx, b->text);
  dt_free(cx, b->arg);
  dt_free(cx, b->arg2);
  dt_free(cx, b->cond);
  dt_free(cx, b->commands);
}

static DtStatus replace_text (DtControl *c, char **slot, const char *text) {
  char *copy = NULL;
  if (text && *text) {
    copy = dt_strdup(c->d->s->cx, text);
    if (copy == NULL) return DT_E_NOMEM;
  }
  dt_free(c->d->s->cx, *slot);
  *slot = copy;
  return DT_OK;
}

DtStatus dt_bp_add (DtControl *c, const char *text, bool once, int *id) {
  DtCtx *cx = c->d->s->cx;
  DtBreak b;
  DtStatus st = dt_bp_read(c, text, &b);
  if (st == DT_OK && c->nbp == c->capbp) {
    int cap = c->capbp ? c->capbp * 2 : 8;
    DtBreak *more = dt_realloc(cx, c->bp, (size_t)cap * sizeof *more);
    if (more == NULL) st = DT_E_NOMEM;
    else { c->bp = more; c->capbp = cap; }
  }
  if (st != DT_OK) { break_fini(c, &b); return st; }
  b.once = once;
  b.id = ++c->next_id;
  c->bp[c->nbp++] = b;
  if (id) *id = b.id;
  if (c->at == NULL) dt_control_arm(c);
  return DT_OK;
}

DtBreak *dt_bp_find (DtControl *c, int id) {
  int i;
  for (i = 0; i < c->nbp; i++) if (c->bp[i].id == id) return &c->bp[i];
  return NULL;
}

DtStatus dt_bp_delete (DtControl *c, int id) {
  int i;
  bool found = id == 0;
  for (i = c->nbp - 1; i >= 0; i--) {
    if (id != 0 && c->bp[i].id != id) continue;
    found = true;
    break_fini(c, &c->bp[i]);
    memmove(&c->bp[i], &c->bp[i + 1],
            sizeof *c->bp * (size_t)(c->nbp - i - 1));
    c->nbp--;
  }
  DT_CHECK(c->d->s->cx, found, DT_E_INDEX, "there is no breakpoint %d", id);
  if (c->at == NULL) dt_control_arm(c);
  return DT_OK;
}

DtStatus dt_bp_set_cond (DtControl *c, DtBreak *b, const char *cond) {
  return replace_text(c, &b->cond, cond);
}

DtStatus dt_bp_set_commands (DtControl *c, DtBreak *b, const char *text) {
  return replace_text(c, &b->commands, text);
}

/* --- writing --- */

void dt_bp_print (const DtBreak *b, DtBuf *out) {
  dt_buf_addf(out, "%-3d %s", b->id, b->text);
  if (b->cond) dt_buf_addf(out, " if %s", b->cond);
  if (b->once) dt_buf_add(out, "  once");
  if (b->off) dt_buf_add(out, "  off");
  if (b->ignore > 0)
    dt_buf_addf(out, "  ignores %lld", (long long)b->ignore);
  if (b->hits > 0) dt_buf_addf(out, "  hits %lld", (long long)b->hits);
}

void dt_bp_save (const DtControl *c, DtBuf *out) {
  int i;
  for (i = 0; i < c->nbp; i++) {
    const DtBreak *b = &c->bp[i];
    const char *s = b->commands;
    dt_buf_addf(out, "%s %s", b->once ? "tbreak" : "break", b->text);
    if (b->cond) dt_buf_addf(out, " if %s", b->cond);
    dt_buf_addc(out, '\n');
    if (b->off) dt_buf_add(out, "off\n");
    if (b->ignore > 0)
      dt_buf_addf(out, "ignore %lld\n", (long long)b->ignore);
    while (s && *s) {
      size_t n = strcspn(s, "\n");
      dt_buf_addf(out, "command %.*s\n", (int)n, s);
      s += n + (s[n] == '\n');
    }
  }
}

static DtStatus add_command (DtControl *c, DtBreak *b, const char *line) {
  DtBuf t;
  DtStatus st;
  dt_buf_init(&t, c->d->s->cx);
  if (b->commands) dt_buf_addf(&t, "%s\n", b->commands);
  dt_buf_add(&t, line);
  st = dt_buf_ok(&t);
  if (st == DT_OK) st = replace_text(c, &b->commands, dt_buf_str(&t));
  dt_buf_fini(&t);
  return st;
}

static DtStatus load_line (DtControl *c, int *id, const char *s) {
  DtBreak *b = *id ? dt_bp_find(c, *id) : NULL;
  if (strncmp(s, "break ", 6) == 0) return dt_bp_add(c, s + 6, false, id);
  if (strncmp(s, "tbreak ", 7) == 0) return dt_bp_add(c, s + 7, true, id);
  if (b && strcmp(s, "off") == 0) { b->off = true; return DT_OK; }
  if (b && strncmp(s, "ignore ", 7) == 0) {
    b->ignore = strtoll(s + 7, NULL, 10);
    return DT_OK;
  }
  if (b && strncmp(s, "command ", 8) == 0) return add_command(c, b, s + 8);
  return dt_raise(c->d->s->cx, DT_E_COMMAND, "this is no line of saved "
                  "breakpoints: \"%.60s\"", s);
}

DtStatus dt_bp_load (DtControl *c, const char *text) {
  DtCtx *cx = c->d->s->cx;
  DtStatus st = DT_OK;
  int id = 0;
  while (*text && st == DT_OK) {
    size_t n = strcspn(text, "\r\n");
    char *line = dt_strndup(cx, text, n);
    if (line == NULL) return DT_E_NOMEM;
    if (*line && strncmp(line, "--", 2) != 0) st = load_line(c, &id, line);
    dt_free(cx, line);
    text += n;
    text += strspn(text, "\r\n");
  }
  if (c->at == NULL) dt_control_arm(c);
  return st;
}

/* --- hitting --- */

static void count_hit (DtBreak *b) {
  b->hits++;
  if (b->once) b->off = true;
}

/* A breakpoint that all ranks hit alike, or (`varies`) maybe some only. */
static void take_break (DtBreak *b, bool varies, DtStopAt *at) {
  if (b->ignore > 0) { b->hits++; b->ignore--; return; }
  count_hit(b);
  if (varies) {
    at->mine = true;
    if (at->own <= 0) at->own = b->id;
  } else if (at->nhit < 8) at->hit[at->nhit++] = b->id;
}

static void describe_found (DtControl *c, const DtBreak *b, const DtEvent *e,
                            DtStopAt *at) {
  DtBuf t;
  if (b->kind->found == NULL || *at->note) return;
  dt_buf_init(&t, c->d->s->cx);
  b->kind->found(c, e, &t);
  snprintf(at->note, sizeof at->note, "%s", dt_buf_str(&t));
  dt_buf_fini(&t);
}

static void test_break (DtControl *c, DtBreak *b, const DtEvent *e,
                        DtStopAt *at) {
  bool varies = b->kind->found != NULL || (b->cond && c->h.cond);
  if (b->cond && c->h.cond) {
    DtBuf why;
    bool yes, wrong;
    dt_buf_init(&why, c->d->s->cx);
    yes = c->h.cond(c->h.ud, b, e, &why);
    wrong = why.len > 0;
    if (wrong)
      snprintf(at->note, sizeof at->note, "condition of breakpoint %d: %s",
               b->id, dt_buf_str(&why));
    dt_buf_fini(&why);
    at->varies = true;
    if (!yes && !wrong) return;
  }
  take_break(b, varies, at);
  if (at->own == b->id) describe_found(c, b, e, at);
}

void dt_bp_settle (DtControl *c, DtStopAt *at) {
  DtBreak *b = at->own > 0 ? dt_bp_find(c, at->own) : NULL;
  if (b == NULL) return;
  if (!at->mine) count_hit(b);
  if (at->nhit < 8) at->hit[at->nhit++] = b->id;
}

void dt_bp_event (DtControl *c, const DtEvent *e, DtStopAt *at) {
  int i;
  for (i = 0; i < c->nbp; i++) {
    DtBreak *b = &c->bp[i];
    if ((b->kind->events >> e->kind & 1) == 0 || b->off) continue;
    if (b->kind->found) at->varies = true;
    if (b->kind->match(c, b, e)) test_break(c, b, e, at);
  }
}

/* "a.lua" and "dir/a.lua" are the same script when one ends in the other. */
static bool same_file (const char *want, const char *file) {
  size_t n = strlen(want), k = strlen(file);
  if (strncmp(want, "./", 2) == 0) return same_file(want + 2, file);
  if (n > k) return false;
  return strcmp(file + k - n, want) == 0 && (n == k || file[k - n - 1] == '/');
}

void dt_bp_line (DtControl *c, const char *file, int line, DtStopAt *at) {
  int i;
  for (i = 0; i < c->nbp; i++) {
    DtBreak *b = &c->bp[i];
    if (b->kind->events != 0 || b->off || b->num != line) continue;
    if (b->arg == NULL || same_file(b->arg, file)) test_break(c, b, NULL, at);
  }
}

uint64_t dt_bp_events (DtControl *c, bool *lines) {
  uint64_t mask = 0;
  int i;
  memset(c->lines_set, 0, sizeof c->lines_set);
  for (i = 0; i < c->nbp; i++) {
    const DtBreak *b = &c->bp[i];
    if (b->off) continue;
    mask |= b->kind->events;
    if (b->kind->events == 0) {
      c->lines_set[b->num >> 6 & 15] |= UINT64_C(1) << (b->num & 63);
      *lines = true;
    }
  }
  return mask;
}

void dt_bp_free (DtControl *c) {
  int i;
  for (i = 0; i < c->nbp; i++) break_fini(c, &c->bp[i]);
  dt_free(c->d->s->cx, c->bp);
  c->bp = NULL;
  c->nbp = c->capbp = 0;
}
