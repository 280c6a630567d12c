/* SPDX-License-Identifier: MIT
** repl/narrow.c: long lines on a narrow terminal.
**
** A terminal cuts in the middle of a word and goes on at the left edge, which
** makes tables unreadable.  Here a line is cut where two or more blanks stand,
** the gap between two columns of a table; if there is none far enough to the
** right, at one blank outside quotes.  When smaller gaps make it fit, it is not
** cut.  Lines of help are put together first.  Only what a person looks at is
** cut: files, pipes and transcripts have whole lines. */
#include "repl/narrow.h"

#include <string.h>

enum { MORE = 4, NARROWEST = 20, PROSE = 50 };

/* Bytes of the character at `s`, and its code. */
static size_t read_character (const char *s, size_t n, unsigned *code) {
  const unsigned char *u = (const unsigned char *)s;
  size_t k = u[0] < 0xc0 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
  *code = k == 1 ? u[0] : u[0] & (0xffu >> (k + 1));
  if (k > n)
    return 1;
  for (size_t i = 1; i < k; i++)
    *code = *code << 6 | (u[i] & 0x3fu);
  return k;
}

/* Columns of a character: East Asian ones and pictures take two. */
static int columns_of (unsigned c) {
  static const struct { unsigned from, to; } wide[] = {
    {0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
    {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
    {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  if (c >= 0x300 && c <= 0x36f)
    return 0;
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
    if (c >= wide[i].from && c <= wide[i].to)
      return 2;
  return 1;
}

/* Bytes of an escape sequence at `s`; 0 when there is none. */
static size_t escape_length (const char *s, size_t n) {
  size_t i = 2;
  if (n < 2 || s[0] != '\033' || s[1] != '[')
    return 0;
  while (i < n && !(s[i] >= '@' && s[i] <= '~'))
    i++;
  return i < n ? i + 1 : n;
}

/* A tab goes to the next multiple of eight, at `at`. */
static size_t next_character (const char *s, size_t n, int at, int *width) {
  unsigned code;
  size_t k = escape_length(s, n);
  *width = 0;
  if (k > 0)
    return k;
  k = read_character(s, n, &code);
  *width = code == '\t' ? 8 - at % 8 : columns_of(code);
  return k;
}

typedef struct Cut { size_t end, next; } Cut;   /* blanks between are dropped */

/* Where to cut s[0..n), which begins in column `at`; false: it fits, or cannot
** be cut.  `least` columns must stay before a gap. */
static bool find_cut (const char *s, size_t n, int at, int cols, int least,
                      Cut *out) {
  Cut gap = {0, 0}, word = {0, 0}, any = {0, 0};
  bool quoted = false;
  size_t i = strspn(s, " ");
  for (at += (int)i; i < n; ) {
    int width;
    size_t blanks = 0;
    while (i + blanks < n && s[i + blanks] == ' ')
      blanks++;
    if (blanks > 0 && (at <= cols || any.next == 0) && i + blanks < n) {
      Cut c = {i, i + blanks};
      any = c;
      if (!quoted)
        word = c;
      if (!quoted && blanks > 1 && at >= least && i > 0 && s[i - 1] != ',')
        gap = c;                /* not between numbers of a list */
    }
    if (s[i] == '"')
      quoted = !quoted;
    i += next_character(s + i, n - i, at, &width);
    at += width;
    if (at > cols && any.next > 0)
      break;
  }
  *out = gap.next > 0 ? gap : word.next > 0 ? word : any;
  return at > cols && out->next > 0;
}

/* Does the line fit with gaps of two blanks between its columns?  Then it is
** written so.  A picture's lines keep their places. */
static bool squeeze_line (const char *s, size_t n, int cols, DtBuf *out) {
  size_t i = strspn(s, " "), from = out->len;
  int at = (int)i, width;
  bool quoted = false;
  dt_buf_addn(out, s, i);
  while (i < n && at <= cols) {
    size_t blanks = 0, k;
    while (i + blanks < n && s[i + blanks] == ' ')
      blanks++;
    if (blanks > 2 && (strchr("|+", s[i - 1]) != NULL ||
                       (i + blanks < n && strchr("|+", s[i + blanks]))))
      break;
    if (s[i] == '"')
      quoted = !quoted;
    k = blanks > 0 ? blanks : next_character(s + i, n - i, at, &width);
    if (blanks > 2 && !quoted)
      dt_buf_add(out, "  ");
    else
      dt_buf_addn(out, s + i, k);
    at += blanks == 0 ? width : blanks > 2 && !quoted ? 2 : (int)blanks;
    i += k;
  }
  if (i == n && at <= cols)
    return true;
  out->len = from;
  if (out->s != NULL)
    out->s[from] = '\0';
  return false;
}

/* `more`: blanks before what goes on, beyond those of the line. */
static void wrap_line (const char *s, size_t n, int cols, int more, DtBuf *out) {
  int indent = (int)strspn(s, " ") + more, at = 0;
  Cut c;
  if (find_cut(s, n, 0, cols, 0, &c) && squeeze_line(s, n, cols, out))
    return;
  if (indent > cols / 3)
    indent = cols / 3;
  while (find_cut(s, n, at, cols, indent + cols / 4, &c)) {
    dt_buf_addn(out, s, c.end);
    dt_buf_addf(out, "\n%*s", indent, "");
    s += c.next;
    n -= c.next;
    at = indent;
  }
  dt_buf_addn(out, s, n);
}

/* A line of prose that was ended because it was long, and goes on in the next:
** one blank between words, and the next begins small. */
static bool goes_on (const char *s, size_t n, const char *next, const char *end) {
  if (n < PROSE || *s == ' ' || next >= end || *next < 'a' || *next > 'z' ||
      s[n - 1] == ':')
    return false;
  for (size_t i = 0; i + 1 < n; i++)
    if (s[i] == '\t' || s[i] == '\033' || (s[i] == ' ' && s[i + 1] == ' ' &&
                                            s[i - 1] != '.'))
      return false;
  return true;
}

/* Lines s[0..*n) that are one paragraph of prose, as one line; NULL: the first is
** none, or fits. */
static char *join_prose (const char *s, size_t *n, int cols, const char *end,
                         DtBuf *out) {
  size_t k = *n, from = out->len;
  if (k <= (size_t)cols || s + k >= end || !goes_on(s, k, s + k + 1, end))
    return NULL;
  dt_buf_addn(out, s, k);
  do {
    const char *next = s + k + 1, *nl = memchr(next, '\n', (size_t)(end - next));
    size_t more = (size_t)((nl != NULL ? nl : end) - next);
    dt_buf_addc(out, ' ');
    dt_buf_addn(out, next, more);
    k += 1 + more;
    if (!goes_on(next, more, next + more + 1, end)) break;
  } while (s + k < end);
  if (out->oom) return NULL;
  *n = k;
  return out->s + from;
}

void dt_narrow (const char *s, size_t n, int cols, bool prose, DtBuf *out) {
  const char *end = s + n;
  DtBuf all;
  if (cols < NARROWEST)
    cols = NARROWEST;
  while (s < end) {
    const char *nl = memchr(s, '\n', (size_t)(end - s));
    size_t k = (size_t)((nl != NULL ? nl : end) - s);
    dt_buf_init(&all, out->cx);
    if (prose && join_prose(s, &k, cols, end, &all) != NULL)
      wrap_line(dt_buf_str(&all), all.len, cols, 0, out);
    else
      wrap_line(s, k, cols, MORE, out);
    dt_buf_fini(&all);
    s += k;
    if (s < end) {
      dt_buf_addc(out, '\n');
      s++;
    }
  }
}
