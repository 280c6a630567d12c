/* SPDX-License-Identifier: MIT
** compat/text.c: keys of texts looked up in their table.  The words of a release
** are in texts.def; this file only reads it. */
#include "compat/text.h"

#include <stdio.h>
#include <string.h>
#include "base/ctx.h"

/* A key's own row has no text and `first` arguments; its wordings follow. */
typedef struct Row {
  const char *name;
  int first, last;
  const char *pyclass, *text;
} Row;

static const Row rows[] = {
#define KEY(name, nargs) { #name, nargs, 0, NULL, NULL },
#define SAID(first, last, pyclass, text) { NULL, first, last, pyclass, text },
#define CLASS(since, was, is, text) \
  SAID(DT_FIRST_RELEASE, since - 1, was, text) \
  SAID(since, DT_STILL, is, text)
#include "compat/texts.def"
#undef CLASS
#undef SAID
#undef KEY
};
enum { NROWS = sizeof rows / sizeof rows[0] };

static int row_of (DtText key) {
  int n = (int)key;
  for (int i = 0; i < NROWS; i++)
    if (rows[i].name != NULL && n-- == 0) return i;
  return -1;
}

/* The wording of `key`; a context that follows no release has the base one. */
static const Row *wording (DtText key, int release) {
  int i = row_of(key);
  if (i < 0) return NULL;
  if (release == 0) release = DT_BASE_RELEASE;
  for (i++; i < NROWS && rows[i].name == NULL; i++)
    if (release >= rows[i].first && release <= rows[i].last) return &rows[i];
  return NULL;
}

const char *dt_text_words (DtText key, int release) {
  const Row *r = wording(key, release);
  return r != NULL ? r->text : "";
}

DtText dt_text_find (const char *name, int *nargs) {
  int key = 0;
  for (int i = 0; i < NROWS; i++) {
    if (rows[i].name == NULL) continue;
    *nargs = rows[i].first;
    if (strcmp(rows[i].name, name) == 0) break;
    key++;
  }
  return (DtText)key;
}

bool dt_text_ends (int release) {
  for (int i = 0; i < NROWS; i++)
    if (rows[i].name == NULL && rows[i].last == release) return true;
  return false;
}

const char *dt_text_number (char *buf, int64_t n) {
  (void)snprintf(buf, 24, "%lld", (long long)n);
  return buf;
}

static void fill (const char *text, const char *const *args, DtBuf *out) {
  for (const char *s = text; *s != '\0'; s++) {
    if (args != NULL && s[0] == '{' && s[1] >= '1' && s[1] <= '8' &&
        s[2] == '}') {
      dt_buf_add(out, args[s[1] - '1']);
      s += 2;
    } else {
      dt_buf_addc(out, *s);
    }
  }
}

DtStatus dt_say (DtCtx *cx, DtStatus code, DtText key,
                 const char *const *args) {
  const Row *r = wording(key, cx->release);
  DtStatus st;
  DtBuf b;
  DT_ASSERT(cx, r != NULL);
  dt_buf_init(&b, cx);
  fill(r->text, args, &b);
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_raise_as(cx, code, r->pyclass, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}
