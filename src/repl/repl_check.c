/* SPDX-License-Identifier: MIT
** repl/repl_check.c: session files as tests (dtrepl --check FILE).
**
** The file holds lines as typed at the prompt.  What the lines since the last
** block wrote is compared with the next block:
**
**     :testcase NAME
**     1 + 1
**     :expect
**     2
**     :end
**
** In a block a line "..." stands for any lines, within a line for any text.
** Rank 0 reads and compares; results and diagnostics both count.  DTREPL_BLESS=1
** rewrites the blocks. */
#include "repl/repl_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "repl/cmd.h"
#include "repl/source.h"

typedef struct DtCheck {
  const char *path;
  char **line;                  /* of the file */
  int n, at;
  DtBuf got;                    /* output since the last block */
  DtBuf blessed;                /* the file as it should be */
  char *name;                   /* of the test case */
  int passed, failed;
  bool bless;
} DtCheck;

static size_t trimmed_length (const char *s, size_t n) {
  while (n > 0 && strchr(" \t\r\n", s[n - 1]) != NULL)
    n--;
  return n;
}

/* Does the line s[0..n) match the pattern w[0..k), "..." standing for
** anything? */
static bool line_matches (const char *s, size_t n, const char *w, size_t k) {
  size_t i = 0;
  for (; i < k; i++) {
    if (k - i >= 3 && memcmp(w + i, "...", 3) == 0) {
      for (size_t j = i; j <= n; j++)
        if (line_matches(s + j, n - j, w + i + 3, k - i - 3))
          return true;
      return false;
    }
    if (i >= n || s[i] != w[i])
      return false;
  }
  return i == n;
}

/* Does the text match the lines want[0..n), "..." standing for any? */
static bool matches_lines (char **want, int n, const char *got) {
  if (n == 0)
    return trimmed_length(got, strlen(got)) == 0;
  if (strcmp(want[0], "...") == 0) {
    for (const char *s = got; ; s = strchr(s, '\n') + 1) {
      if (matches_lines(want + 1, n - 1, s))
        return true;
      if (strchr(s, '\n') == NULL)
        return n == 1;
    }
  }
  size_t len = strcspn(got, "\n");
  if (*got == '\0' ||
      !line_matches(got, trimmed_length(got, len), want[0],
                    trimmed_length(want[0], strlen(want[0]))))
    return false;
  return matches_lines(want + 1, n - 1, got + len + (got[len] == '\n'));
}

static void show_lines (DtBuf *b, const char *mark, const char *text) {
  for (const char *s = text; *s != '\0'; ) {
    size_t n = strcspn(s, "\n");
    dt_buf_addf(b, "%s %.*s\n", mark, (int)n, s);
    s += n + (s[n] == '\n');
  }
}

/* What was printed against the lines between :expect and :end; when blessing,
** the lines are replaced. */
static void compare_expected (DtRepl *r, DtCheck *k, int from, int to) {
  DtOutput *o = &r->app->out;
  bool ok = matches_lines(k->line + from, to - from, dt_buf_str(&k->got));
  o->capture = NULL;
  if (ok) {
    k->passed++;
  } else if (!k->bless) {
    DtBuf b;
    k->failed++;
    dt_buf_init(&b, r->cx);
    dt_buf_addf(&b, "%s:%d: not as expected: %s\n", k->path, from,
                k->name != NULL ? k->name : "(no name)");
    for (int i = from; i < to; i++)
      show_lines(&b, "-", *k->line[i] != '\0' ? k->line[i] : " ");
    show_lines(&b, "+", dt_buf_str(&k->got));
    dt_output_write(o, DT_OUT_RESULT, dt_buf_str(&b), b.len);
    dt_buf_fini(&b);
  }
  dt_buf_add(&k->blessed, ":expect\n");
  if (ok || !k->bless) {
    for (int i = from; i < to; i++)
      dt_buf_addf(&k->blessed, "%s\n", k->line[i]);
  } else {
    dt_buf_addn(&k->blessed, dt_buf_str(&k->got), k->got.len);
  }
  dt_buf_add(&k->blessed, ":end\n");
  dt_buf_clear(&k->got);
  o->capture = &k->got;
}

/* The next chunk of the file into `text`; false at its end.  Blocks, names
** and comments are dealt with on the way; they are rank 0's business. */
static bool next_chunk (DtRepl *r, DtCheck *k, DtBuf *text) {
  dt_buf_clear(text);
  while (k->at < k->n) {
    const char *s = k->line[k->at++];
    if (text->len == 0 && strcmp(s, ":expect") == 0) {
      int from = k->at;
      while (k->at < k->n && strcmp(k->line[k->at], ":end") != 0)
        k->at++;
      compare_expected(r, k, from, k->at);
      k->at += k->at < k->n;
      continue;
    }
    dt_buf_addf(&k->blessed, "%s\n", s);
    if (text->len == 0 && strncmp(s, ":testcase", 9) == 0) {
      dt_free(r->cx, k->name);
      k->name = dt_strdup(r->cx, s + 9 + strspn(s + 9, " "));
      dt_buf_clear(&k->got);
      r->renumber = true;
      continue;
    }
    if (text->len == 0 && (strncmp(s, "--", 2) == 0 || *s == '\0'))
      continue;
    if (text->len > 0)
      dt_buf_addc(text, '\n');
    dt_buf_add(text, s);
    if (dt_chunk_whole(r, dt_buf_str(text)))
      return true;
  }
  return text->len > 0;
}

static DtStatus split_script (DtCtx *cx, char *text, DtCheck *k) {
  int n = 0;
  for (char *s = text; *s != '\0'; s++)
    n += *s == '\n';
  k->line = DT_NEWN(cx, char *, n + 1);
  if (k->line == NULL)
    return DT_E_NOMEM;
  for (char *s = text; *s != '\0'; ) {
    size_t len = strcspn(s, "\n");
    bool more = s[len] == '\n';
    s[len] = '\0';
    k->line[k->n++] = s;
    s += len + more;
  }
  return DT_OK;
}

static void write_blessed (DtRepl *r, DtCheck *k) {
  FILE *f = fopen(k->path, "wb");
  if (f == NULL || k->blessed.oom ||
      fwrite(dt_buf_str(&k->blessed), 1, k->blessed.len, f) != k->blessed.len)
    dt_output_add(&r->app->out, DT_OUT_DIAG,
                  "dtrepl: the session file could not be rewritten\n");
  if (f != NULL)
    fclose(f);
}

static int finish_check (DtRepl *r, DtCheck *k) {
  DtBuf b;
  r->app->out.capture = NULL;
  if (k->bless)
    write_blessed(r, k);
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "%d passed, %d failed\n", k->passed, k->failed);
  dt_output_write(&r->app->out, DT_OUT_RESULT, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
  dt_buf_fini(&k->got);
  dt_buf_fini(&k->blessed);
  dt_free(r->cx, k->line);
  dt_free(r->cx, k->name);
  return k->failed > 0 || k->passed == 0 ? DT_EXIT_CHECK : DT_EXIT_OK;
}

static bool read_check (DtRepl *r, DtBuf *chunk) {
  return next_chunk(r, r->read_ud, chunk);
}

/* Rank 0 reads the file and decides what is next; the others get each line
** from it, as they do at a prompt. */
int dt_check_file (DtRepl *r, const char *path) {
  DtCheck k;
  DtBuf text;
  char *file = NULL;
  size_t n;
  memset(&k, 0, sizeof k);
  k.path = path;
  k.bless = getenv("DTREPL_BLESS") != NULL;
  DtStatus st = dt_repl_file(r, path, &file, &n);
  if (st == DT_OK && dt_repl_first(r))
    st = split_script(r->cx, file, &k);
  if (st != DT_OK) {
    dt_repl_tell(r);
    (void)dt_repl_meet(r, st);
    dt_free(r->cx, file);
    return DT_EXIT_ERROR;
  }
  dt_buf_init(&k.got, r->cx);
  dt_buf_init(&k.blessed, r->cx);
  dt_buf_init(&text, r->cx);
  if (dt_repl_first(r))
    r->app->out.capture = &k.got;
  bool more = true;
  r->read = read_check;
  r->read_ud = &k;
  r->asks = true;
  while (more && !r->quit) {
    if (dt_repl_first(r))
      more = next_chunk(r, &k, &text);
    more = dt_repl_round(r, more ? dt_buf_str(&text) : NULL);
  }
  int code = DT_EXIT_OK;
  if (dt_repl_first(r))
    code = finish_check(r, &k);
  code = dt_repl_share_code(r, code);
  dt_buf_fini(&text);
  dt_free(r->cx, file);
  return code;
}
