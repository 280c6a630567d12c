/* SPDX-License-Identifier: MIT
** compat/text.h: what PyTorch prints, by key, where its releases do not say the
** same.  texts.def has the wordings; a text that never changed stands where it is
** raised. */
#ifndef DT_COMPAT_TEXT_H
#define DT_COMPAT_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "compat/release.h"

typedef enum DtText {
#define KEY(name, nargs) DT_TEXT_##name,
#define SAID(first, last, pyclass, text)
#define CLASS(since, was, is, text)
#include "compat/texts.def"
#undef KEY
  DT_NTEXTS
} DtText;

/* How many arguments a key has. */
enum {
#define KEY(name, nargs) DT_TEXT_ARGS_##name = nargs,
#include "compat/texts.def"
#undef KEY
#undef SAID
#undef CLASS
  DT_TEXT_MAX_ARGS = 8
};

/* Raise `key` as the release of the context words it and with its class there;
** DT_SAY calls it.  Local. */
DtStatus dt_say (DtCtx *cx, DtStatus code, DtText key, const char *const *args);
/* The wording of `key`, its holes unfilled.  Pure. */
const char *dt_text_words (DtText key, int release);
/* The key called `name` ("TO_PARTIAL") and how many arguments it has; DT_NTEXTS:
** there is none.  Pure. */
DtText dt_text_find (const char *name, int *nargs);
/* Does the release after `release` word some text otherwise?  Pure. */
bool dt_text_ends (int release);
/* `n` in decimal, into `buf` of 24 bytes, which is returned.  Pure. */
const char *dt_text_number (char *buf, int64_t n);

/* An argument that is a number; lives as long as the block around it. */
#define DT_NUM(n) dt_text_number((char [24]){ 0 }, (n))

/* Raise DT_TEXT_<key> with the arguments that it has, all texts; another number
** of them does not compile.  DT_SAY0: it has none. */
#define DT_SAY(cx, code, key, ...) \
  dt_say((cx), (code), DT_TEXT_##key + 0 * (int)sizeof(char [ \
    sizeof((const char *const []){ __VA_ARGS__ }) == \
    DT_TEXT_ARGS_##key * sizeof(char *) ? 1 : -1]), \
    (const char *const []){ __VA_ARGS__ })
#define DT_SAY0(cx, code, key) \
  dt_say((cx), (code), DT_TEXT_##key + 0 * (int)sizeof(char [ \
    DT_TEXT_ARGS_##key == 0 ? 1 : -1]), NULL)

/* Return from the function with that error when `cond` is false. */
#define DT_CHECK_SAY(cx, cond, code, ...) \
  do { if (!(cond)) return DT_SAY((cx), (code), __VA_ARGS__); } while (0)
#define DT_CHECK_SAY0(cx, cond, code, key) \
  do { if (!(cond)) return DT_SAY0((cx), (code), key); } while (0)

#endif
