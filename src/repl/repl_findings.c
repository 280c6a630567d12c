/* SPDX-License-Identifier: MIT
** repl/repl_findings.c: findings of a script are printed at its end, also
** when an error ended it, without being asked.
**
** Each rank hands in what it found, a line each; those of one code and place
** are one finding, in the words of the first rank that has it.  Notes are
** left out: they say that something right could be better. */
#include "base/error_comm.h"
#include "repl/repl_int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "diag/finding.h"

enum { MOST = 12 };             /* lines; the rest is counted */

enum { NEXT = '\v' };           /* begins another line of the same finding */

/* "CODE:LINE:OP:FILE\tTEXT\n" of each of the first `most` findings. */
static void pack_findings (DtDiag *g, int most, DtBuf *b) {
  const DtFinding *f;
  for (int i = 0; i < most && (f = dt_diag_at(g, i)) != NULL; i++) {
    if (f->kind->severity == DT_FIND_NOTE)
      continue;
    dt_buf_addf(b, "%s:%d:%s:%s\t", f->kind->code, f->line, f->op,
                f->file != NULL ? f->file : "");
    dt_finding_brief(f, b);
    if (f->verdict != NULL) {
      dt_buf_addc(b, NEXT);
      dt_finding_tried(f, b);
    }
    dt_buf_addc(b, '\n');
  }
}

/* The n bytes of a finding, each of its lines on one of its own. */
static void add_lines (DtBuf *out, const char *text, size_t n) {
  const char *next = memchr(text, NEXT, n);
  if (next == NULL) {
    dt_buf_addn(out, text, n);
    return;
  }
  dt_buf_addn(out, text, (size_t)(next - text));
  dt_buf_add(out, "\n  tried: ");
  dt_buf_addn(out, next + 1, n - (size_t)(next + 1 - text));
}

/* Does `text` have a line that begins with the n bytes at `key`? */
static bool has_line (const char *text, const char *key, size_t n) {
  while (*text != '\0') {
    const char *end = strchr(text, '\n');
    if (strncmp(text, key, n) == 0)
      return true;
    if (end == NULL)
      break;
    text = end + 1;
  }
  return false;
}

/* The lines of all ranks, each finding once; how many there are.  A finding
** is new when no rank before has its key; a rank's own are different
** already. */
static int merge_findings (int n, char *const *text, DtBuf *out) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    const char *s = text[i];
    while (s != NULL && *s != '\0') {
      const char *end = strchr(s, '\n'), *tab = strchr(s, '\t');
      int k = 0;
      if (end == NULL || tab == NULL || tab > end)
        break;
      while (k < i && !has_line(text[k], s, (size_t)(tab - s) + 1))
        k++;
      if (k == i && count++ < MOST)
        add_lines(out, tab + 1, (size_t)(end - tab));
      s = end + 1;
    }
  }
  return count;
}

static void print_findings (DtRepl *r, int count, DtBuf *lines) {
  DtBuf all;
  dt_buf_init(&all, r->cx);
  dt_buf_addf(&all, "dtrepl: %d finding%s\n", count, count == 1 ? "" : "s");
  dt_buf_add(&all, dt_buf_str(lines));
  if (count > MOST)
    dt_buf_addf(&all, "... and %d more\n", count - MOST);
  dt_buf_add(&all, "  cause and fix: -i, then :findings; --strict: exit status "
             "3; --quiet: not told\n");
  if (!all.oom)
    dt_output_write(&r->app->out, DT_OUT_DIAG, dt_buf_str(&all), all.len);
  dt_buf_fini(&all);
}

/* How many findings all ranks have together, and their lines. */
static int gather_findings (DtRepl *r, int most, DtBuf *lines) {
  DtCtx *cx = r->cx;
  int n = dt_comm_running(r->comm), count = 0;
  DtCollInfo info = {"findings", 0, "", "", ""};
  DtStatus st = DT_OK;
  DtBuf mine;
  dt_buf_init(&mine, cx);
  pack_findings(r->findings, most, &mine);
  if (n > 1) {
    st = dt_comm_gather_text(cx, r->comm->world, &info,
                             mine.oom ? "" : dt_buf_str(&mine),
                             mine.oom ? 0 : mine.len, r->found, r->found_len);
  } else {
    r->found[0] = dt_strdup(cx, mine.oom ? "" : dt_buf_str(&mine));
    st = r->found[0] != NULL ? DT_OK : DT_E_NOMEM;
  }
  if (st == DT_OK)
    count = merge_findings(n, r->found, lines);
  if (st == DT_E_RANK_LOST)
    dt_repl_lost(r);
  dt_error_clear(cx);
  for (int i = 0; i < n; i++) {
    dt_free(cx, r->found[i]);
    r->found[i] = NULL;
  }
  dt_buf_fini(&mine);
  return count;
}

/* Findings at the end of a script, without a command.  Every rank comes here or
** none: gathering is a collective, so the conditions to leave early must be the
** same everywhere (options and the agreed status, nothing of this rank's). */
void dt_repl_report_findings (DtRepl *r) {
  const DtOptions *o = &r->app->o;
  DtBuf lines;
  int count;
  if (r->findings == NULL || r->lost || r->set.findings || o->fast ||
      (o->script == NULL && o->nprelude == 0) ||
      (o->debug && !o->strict) || (o->quiet && !o->strict) ||
      r->status == DT_E_INTERRUPTED || r->status == DT_E_NOMEM)
    return;
  /* Ranks that left at different places after Ctrl-C compare nothing. */
  bool handled = dt_repl_share_code(r, atomic_load(&r->app->handled)) != 0;
  if (!handled) {
    if (dt_diag_settle(r->findings) != DT_OK ||
        dt_diag_try(r->findings) != DT_OK)
      dt_error_clear(r->cx);
    dt_repl_compare_one(r);
  }
  dt_buf_init(&lines, r->cx);
  count = gather_findings(r, handled ? r->nbefore : INT_MAX, &lines);
  if (count > 0 && !o->quiet && dt_repl_first(r))
    print_findings(r, count, &lines);
  dt_buf_fini(&lines);
  if (o->strict && !r->lost) {
    int code = dt_repl_share_code(r, count > 0 && r->code == DT_EXIT_OK
                                  ? DT_EXIT_CHECK : r->code);
    r->code = code;
  }
}
