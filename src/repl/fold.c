/* SPDX-License-Identifier: MIT
** repl/fold.c: folding of per-rank output by equality.
**
** Texts are compared line by line.  When all have the same number of lines,
** runs of lines alternate between "equal everywhere" and "different"; a run of
** different lines is printed as blocks, one for each group of ranks that agree
** on the whole run.  When the numbers differ, the common head and the common
** tail are taken off and the rest is one run.  So the lines of a training loop
** keep their order, and a tensor's common header is printed once.  In a table
** the names of ranks would push single rows out of their columns, so all its rows
** are moved by as much; rows of all that follow some ranks' rows are named, too,
** since they would be taken for those ranks'.  A value of several lines, as a
** tensor's rows, is equal or different as a whole: one rank's first row is never
** followed by the second one of all. */
#include "repl/fold.h"

#include <string.h>

typedef struct Lines {          /* line i is s[at[i] .. at[i + 1]) */
  const char *s;
  size_t *at;
  int n;
} Lines;

static DtStatus split_lines (DtCtx *cx, const char *s, Lines *l) {
  int n = 0;
  size_t len = strlen(s);
  for (size_t i = 0; i < len; i++)
    n += s[i] == '\n';
  n += len > 0 && s[len - 1] != '\n';
  l->s = s;
  l->n = n;
  l->at = DT_NEWN(cx, size_t, n + 1);
  if (l->at == NULL)
    return DT_E_NOMEM;
  int k = 1;
  for (size_t i = 0; i < len && k < n; i++)
    if (s[i] == '\n')
      l->at[k++] = i + 1;
  l->at[n] = len;
  return DT_OK;
}

/* Are lines [i, i + k) of `a` and [j, j + k) of `b` the same bytes? */
static bool are_same_lines (const Lines *a, int i, const Lines *b, int j,
                            int k) {
  size_t na = a->at[i + k] - a->at[i], nb = b->at[j + k] - b->at[j];
  return na == nb && memcmp(a->s + a->at[i], b->s + b->at[j], na) == 0;
}

static bool same_everywhere (int n, const Lines *v, int line, bool from_end) {
  for (int r = 1; r < n; r++) {
    int i = from_end ? v[0].n - 1 - line : line;
    int j = from_end ? v[r].n - 1 - line : line;
    if (!are_same_lines(&v[0], i, &v[r], j, 1))
      return false;
  }
  return true;
}

static void copy_lines (const Lines *l, int from, int count, DtBuf *out) {
  dt_buf_addn(out, l->s + l->at[from], l->at[from + count] - l->at[from]);
}

void dt_fold_name (int n, const int *rank, DtBuf *out) {
  dt_buf_addc(out, '[');
  for (int i = 0; i < n; i++) {
    int j = i;
    while (j + 1 < n && rank[j + 1] == rank[j] + 1)
      j++;
    dt_buf_addf(out, i > 0 ? ",%d" : "%d", rank[i]);
    if (j > i + 1) {
      dt_buf_addf(out, "-%d", rank[j]);
      i = j;
    }
  }
  dt_buf_addc(out, ']');
}

/* A block: the name, then its lines, later ones indented by as much.  Ranks
** that wrote nothing are not named. */
static void add_block (const char *name, size_t width, const Lines *l, int from,
                       int count, DtBuf *out) {
  for (int i = 0; i < count; i++) {
    dt_buf_addf(out, "%-*s ", (int)width, i == 0 ? name : "");
    copy_lines(l, from + i, 1, out);
    if (out->len > 0 && out->s[out->len - 1] != '\n')
      dt_buf_addc(out, '\n');
  }
}

typedef struct Fold {
  DtCtx *cx;
  int n;
  const int *rank;
  Lines *v;
  int *group;                   /* scratch: group of each text */
  int *member;                  /* scratch: ranks of one group */
  bool *common;                 /* of each line, when all have as many */
  DtBuf *last;                  /* see dt_fold; or NULL */
} Fold;

/* Lines of all ranks: a block before them has ended. */
static void add_common (Fold *f, int from, int count, DtBuf *out) {
  if (count > 0 && f->last != NULL)
    dt_buf_clear(f->last);
  copy_lines(&f->v[0], from, count, out);
}

/* The name of a block, "" when the one before it was of the same ranks. */
static const char *name_block (Fold *f, const DtBuf *name) {
  if (f->last == NULL)
    return dt_buf_str(name);
  if (f->last->len == name->len &&
      memcmp(dt_buf_str(f->last), dt_buf_str(name), name->len) == 0)
    return "";
  dt_buf_clear(f->last);
  dt_buf_addn(f->last, dt_buf_str(name), name->len);
  return dt_buf_str(name);
}

/* Lines [from, from + count[r]) of each text as blocks, names in a column of
** `width` at least; which it was.  Without `out`: only that.  Two passes,
** because the column is as wide as the longest name and names are known when
** all groups are. */
static size_t add_differing (Fold *f, int from, int tail, size_t width,
                             DtBuf *out) {
  int ngroups = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int r = 0; r < f->n && pass == 0; r++) {
      f->group[r] = -1;
      int k = f->v[r].n - from - tail;
      for (int q = 0; q < r && f->group[r] < 0; q++)
        if (f->v[q].n - from - tail == k &&
            are_same_lines(&f->v[q], from, &f->v[r], from, k))
          f->group[r] = f->group[q];
      if (f->group[r] < 0)
        f->group[r] = ngroups++;
    }
    for (int g = 0; g < ngroups; g++) {
      int m = 0, first = -1;
      for (int r = 0; r < f->n; r++) {
        if (f->group[r] != g)
          continue;
        first = first < 0 ? r : first;
        f->member[m++] = f->rank[r];
      }
      DtBuf name;
      dt_buf_init(&name, f->cx);
      dt_fold_name(m, f->member, &name);
      bool empty = f->v[first].n - from - tail == 0;
      if (pass == 0 && !empty)
        width = name.len > width ? name.len : width;
      else if (pass == 1 && !empty && out != NULL)
        add_block(name_block(f, &name), width, &f->v[first], from,
                  f->v[first].n - from - tail, out);
      dt_buf_fini(&name);
    }
  }
  return width;
}

/* Can a value go on in this line: is it moved in, or empty, as between the
** matrices of a tensor of three dims? */
static bool goes_on (const char *s) { return *s == ' ' || *s == '\n'; }

/* Is a value open behind the line [s, end), when `depth` brackets were before? */
static int open_behind (const char *s, const char *end, int depth) {
  if (!goes_on(s))
    depth = 0;
  for (; s < end; s++)
    depth += (*s == '[') - (*s == ']');
  return depth > 0 ? depth : 0;
}

/* The last line of the value that begins in line i: its square brackets close
** there, and none of the lines between is of something else; i: it has one line. */
static int find_value_end (const Lines *l, int i) {
  int depth = 0;
  for (int k = i; k < l->n; k++) {
    const char *s = l->s + l->at[k];
    if (k > i && !goes_on(s))
      return i;
    depth = open_behind(s, l->s + l->at[k + 1], depth);
    if (depth == 0)
      return k;
  }
  return i;
}

/* Which lines are the same on all ranks, values as a whole. */
static void mark_common (Fold *f) {
  int total = f->v[0].n;
  for (int i = 0; i < total; i++)
    f->common[i] = same_everywhere(f->n, f->v, i, false);
  for (int i = 0, next; i < total; i = next) {
    bool same = true;
    next = i + 1;
    for (int r = 0; r < f->n; r++) {
      int end = find_value_end(&f->v[r], i) + 1;
      next = end > next ? end : next;
    }
    for (int k = i; k < next; k++)
      same = same && f->common[k];
    for (int k = i; k < next && !same; k++)
      f->common[k] = false;
  }
}

/* The first line from `i` on, before `end`, that is (not) the same. */
static int find_line (const Fold *f, int i, int end, bool is_same) {
  while (i < end && f->common[i] != is_same)
    i++;
  return i;
}

/* Is a line a row of a table: cells two or more blanks apart, none of a tensor's
** brackets, and no number with a comma first, as where a tensor's row goes on? */
static bool is_row (const char *s, const char *end) {
  bool cells = false;
  while (s < end && *s == ' ')
    s++;
  const char *word = s;
  while (word < end && *word != ' ' && *word != ',')
    word++;
  if (word < end && *word == ',')
    return false;
  for (; s < end; s++) {
    if (*s == '[' || *s == ']' || *s == '|')
      return false;
    cells = cells || (s + 2 < end && s[0] == ' ' && s[1] == ' ');
  }
  return cells;
}

static bool row_everywhere (const Fold *f, int i) {
  for (int r = 0; r < f->n; r++) {
    const Lines *l = &f->v[r];
    if (!is_row(l->s + l->at[i], l->s + l->at[i + 1]))
      return false;
  }
  return true;
}

/* How wide the name of all ranks is. */
static size_t measure_all (const Fold *f) {
  DtBuf all;
  dt_buf_init(&all, f->cx);
  dt_fold_name(f->n, f->rank, &all);
  size_t width = all.len;
  dt_buf_fini(&all);
  return width;
}

/* How wide the names are in the table of lines [i, *end); 0: no table, or the
** same everywhere. */
static size_t measure_table (Fold *f, int i, int *end) {
  int total = f->v[0].n, k = i;
  size_t width = 0;
  while (k < total && row_everywhere(f, k))
    k++;
  *end = k;
  for (k = find_line(f, i, *end, false); k < *end;
       k = find_line(f, k, *end, false)) {
    int to = find_line(f, k, *end, true);
    width = add_differing(f, k, total - to, width, NULL);
    size_t all = to < *end ? measure_all(f) : 0;
    width = all > width ? all : width;
    k = to;
  }
  return width;
}

/* Lines [i, end), those that are the same moved by `width`. */
static void fold_some (Fold *f, int i, int end, size_t width, DtBuf *out) {
  const int from = i;
  DtBuf all;
  dt_buf_init(&all, f->cx);
  dt_fold_name(f->n, f->rank, &all);
  while (i < end) {
    int j = find_line(f, i, end, false);
    if (width > 0 && i < j && f->last != NULL)
      dt_buf_clear(f->last);
    for (int k = i; width > 0 && i < j; i++)
      add_block(k > from && i == k ? dt_buf_str(&all) : "", width, &f->v[0],
                i, 1, out);
    add_common(f, i, j - i, out);
    i = find_line(f, j, end, true);
    if (i > j)
      add_differing(f, j, f->v[0].n - i, width, out);
  }
  dt_buf_fini(&all);
}

static void fold_even (Fold *f, DtBuf *out) {
  int total = f->v[0].n;
  mark_common(f);
  for (int i = 0; i < total; ) {
    int end;
    size_t width = measure_table(f, i, &end);
    if (width == 0)             /* up to where the next table begins */
      for (end = end > i ? end : i + 1; end < total &&
           !row_everywhere(f, end);)
        end++;
    fold_some(f, i, end, width, out);
    i = end;
  }
}

static void fold_uneven (Fold *f, DtBuf *out) {
  int least = f->v[0].n;
  for (int r = 1; r < f->n; r++)
    least = f->v[r].n < least ? f->v[r].n : least;
  int head = 0, tail = 0;
  while (head < least && same_everywhere(f->n, f->v, head, false))
    head++;
  while (tail < least - head && same_everywhere(f->n, f->v, tail, true))
    tail++;
  add_common(f, 0, head, out);
  add_differing(f, head, tail, 0, out);
  add_common(f, f->v[0].n - tail, tail, out);
}

static bool all_equal (int n, const char *const *text) {
  for (int r = 1; r < n; r++)
    if (strcmp(text[0], text[r]) != 0)
      return false;
  return true;
}

DtStatus dt_fold (DtCtx *cx, int n, const int *rank, const char *const *text,
                  DtBuf *last, DtBuf *out) {
  if (n == 0)
    return DT_OK;
  if (all_equal(n, text)) {
    if (last != NULL && text[0][0] != '\0')
      dt_buf_clear(last);
    dt_buf_add(out, text[0]);
    return dt_buf_ok(out);
  }
  DtStatus st = DT_OK;
  Fold f = {cx, n, rank, DT_NEWN(cx, Lines, n), DT_NEWN(cx, int, n),
            DT_NEWN(cx, int, n), NULL, last};
  if (f.v == NULL || f.group == NULL || f.member == NULL)
    st = DT_E_NOMEM;
  bool even = true;
  for (int r = 0; r < n && st == DT_OK; r++) {
    st = split_lines(cx, text[r], &f.v[r]);
    even = even && f.v[r].n == f.v[0].n;
  }
  if (st == DT_OK && even) {
    f.common = DT_NEWN(cx, bool, f.v[0].n);
    st = f.common == NULL ? DT_E_NOMEM : DT_OK;
  }
  if (st == DT_OK) {
    if (even)
      fold_even(&f, out);
    else
      fold_uneven(&f, out);
    st = dt_buf_ok(out);
  }
  for (int r = 0; r < n && f.v != NULL; r++)
    dt_free(cx, f.v[r].at);
  dt_free(cx, f.v);
  dt_free(cx, f.group);
  dt_free(cx, f.member);
  dt_free(cx, f.common);
  return st;
}

size_t dt_fold_head (int n, const char *const *text) {
  size_t head = 0, whole = 0;
  int depth = 0;
  for (const char *s = text[0], *end; (end = strchr(s, '\n')) != NULL;
       s = end + 1) {
    size_t k = (size_t)(end + 1 - s);
    if (n > 1 && is_row(s, end))
      break;
    for (int r = 1; r < n; r++)
      if (strncmp(text[r] + head, s, k) != 0)
        return whole;
    head += k;
    depth = open_behind(s, end, depth);
    if (depth == 0)
      whole = head;
  }
  return whole;
}

void dt_fold_raw (int n, const int *rank, const char *const *text,
                  DtBuf *out) {
  for (int r = 0; r < n; r++) {
    for (const char *s = text[r]; *s != '\0'; ) {
      size_t k = strcspn(s, "\n");
      dt_buf_addf(out, "[%d] %.*s\n", rank[r], (int)k, s);
      s += k + (s[k] == '\n');
    }
  }
}
