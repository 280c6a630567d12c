/* SPDX-License-Identifier: MIT
** diag/edit.c: the edit of a program's line that mends a finding, as lines of a
** difference: what goes begins with '-', what comes with '+', what stays with ' '. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "debug/control.h"
#include "diag/diag_int.h"

typedef enum DtEditHow {
  DT_EDIT_BEFORE, DT_EDIT_AFTER, DT_EDIT_BESIDE, DT_EDIT_SWAP, DT_EDIT_DROP
} DtEditHow;

typedef struct DtEdit {
  DtFindId id;
  const char *what;             /* how the word begins that fixes depend on */
  DtEditHow how;
  const char *needs, *text;
} DtEdit;

static const DtEdit rows[] = {
#define X(kind, what, how, needs, text) \
  { DT_FIND_ID_##kind, what, DT_EDIT_##how, needs, text },
#include "diag/edits.def"
#undef X
};

/* A line of the program, without what indents it. */
typedef struct DtLine {
  const char *s;
  size_t n;
} DtLine;

static bool has (DtLine l, const char *word, size_t *at) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= l.n; i++)
    if (memcmp(l.s + i, word, n) == 0) {
      *at = i;
      return true;
    }
  return false;
}

static bool is_inner (char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Only a name, its attributes and its items can stand in a program. */
static bool is_path (const char *s) {
  if (!isalpha((unsigned char)*s) && *s != '_') return false;
  for (; *s; s++)
    if (!isalnum((unsigned char)*s) && strchr("_.[]", *s) == NULL) return false;
  return true;
}

/* How many brackets of a line are open at its end, without its remark; quotes are
** looked over.  `last`: its last character. */
static int open_at_end (DtLine l, char *last) {
  int open = 0;
  char quote = 0;
  *last = 0;
  for (size_t i = 0; i < l.n; i++) {
    char c = l.s[i];
    if (!quote && c == '#') break;
    if (!isspace((unsigned char)c)) *last = c;
    if (quote) quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'') quote = c;
    else if (strchr("([{", c)) open++;
    else if (strchr(")]}", c)) open--;
  }
  return open;
}

/* Does a statement end with this line, so that another can follow? */
static bool ends_simple (DtLine l) {
  size_t at;
  char last;
  return open_at_end(l, &last) == 0 && last != ':' && last != '\\' && last != ',' &&
         !(has(l, "return", &at) && at == 0) && !has(l, ": ", &at);
}

/* Does one begin with it, so that another can come before? */
static bool begins (DtLine l) {
  static const char *const inner[] = { "elif ", "else", "except", "finally", "and ",
                                       "or ", ")", "]", "}", NULL };
  size_t at;
  for (int i = 0; inner[i]; i++)
    if (has(l, inner[i], &at) && at == 0) return false;
  return true;
}

/* Does it give the name a new value? */
static bool assigns (DtLine l, const char *name) {
  size_t n = strlen(name), at;
  return l.n > n + 2 && memcmp(l.s, name, n) == 0 && has(l, " = ", &at) && at == n;
}

/* Does the line say the first n letters of `name` as a word, and not as an attribute? */
static bool says (DtLine l, const char *name, size_t n) {
  for (size_t i = 0; i + n <= l.n; i++)
    if (memcmp(l.s + i, name, n) == 0 &&
        (i == 0 || (!is_inner(l.s[i - 1]) && l.s[i - 1] != '.')) &&
        (i + n == l.n || !is_inner(l.s[i + n])))
      return true;
  return false;
}

/* Is the new value made of the old one? */
static bool makes_of_itself (DtLine l, const char *name) {
  size_t n = strlen(name);
  return assigns(l, name) && says((DtLine){ l.s + n, l.n - n }, name, n);
}

/* Line `line`, and by how much it is indented; false: there is none, or it is empty. */
static bool line_at (DtDiag *g, const DtFinding *f, int line, DtLine *l, int *indent) {
  DtControl *c = dt_control_of(g->s);
  l->s = c->h.source(c->h.ud, f->file, line, &l->n);
  if (l->s == NULL) return false;
  for (*indent = 0; l->n > 0 && isspace((unsigned char)*l->s); l->s++, ++*indent) l->n--;
  while (l->n > 0 && isspace((unsigned char)l->s[l->n - 1])) l->n--;
  return l->n > 0;
}

static bool line_of (DtDiag *g, const DtFinding *f, DtLine *l, int *indent) {
  DtControl *c = dt_control_of(g->s);
  size_t n = f->file ? strlen(f->file) : 0;
  return n > 3 && strcmp(f->file + n - 3, ".py") == 0 && c != NULL && f->line > 0 &&
         c->h.source != NULL && line_at(g, f, f->line, l, indent);
}

/* Are the line and those up to `end` all that a block holds?  Without them there must be
** something else. */
static bool is_block (DtDiag *g, const DtFinding *f, int end, int indent) {
  enum { FAR = 64 };            /* lines of remarks, or empty ones */
  DtLine l;
  char last = 0;
  int k = f->line - 1, ind = 0;
  size_t at;
  while (k > 0 && (!line_at(g, f, k, &l, &ind) || (has(l, "#", &at) && at == 0))) k--;
  if (k <= 0 || ind >= indent || (open_at_end(l, &last), last != ':')) return false;
  for (int gap = 0; gap < FAR; gap++) {
    if (!line_at(g, f, end + 1 + gap, &l, &ind) || (has(l, "#", &at) && at == 0)) continue;
    return ind < indent;
  }
  return true;
}

/* Can this line say the name?  The function around it, or the program outside of
** functions, must have said its first word above. */
static bool in_scope (DtDiag *g, const DtFinding *f, int indent, const char *name) {
  size_t n = 0, at;
  bool inside = true;
  DtLine l;
  while (is_inner(name[n])) n++;
  for (int k = f->line, ind; k > 0; k--) {
    if (!line_at(g, f, k, &l, &ind)) continue;
    if ((inside || ind == 0) && says(l, name, n)) return true;
    if (ind >= indent || k == f->line) continue;
    indent = ind;
    inside = inside && !(has(l, "def ", &at) && at == 0);
  }
  return false;
}

/* Is the word of n letters at `at` one that the text itself makes, as `for p in`? */
static bool is_made_there (const char *text, const char *at, size_t n) {
  for (const char *f = text; (f = strstr(f, "for ")) != NULL; f += 4)
    if (strncmp(f + 4, at, n) == 0 && !is_inner(f[4 + n])) return true;
  return false;
}

/* Does the word there stand for something that the program must have: no attribute,
** keyword or argument's name, and not what the text makes? */
static bool is_asked (const char *text, const char *at, size_t n) {
  static const char *const words[] = { "for", "in", "if", "is", "not", "None", "pass",
                                       "range" };
  if (isdigit((unsigned char)*at)) return false;
  if (at > text && strchr(".%\"", at[-1])) return false;
  if (at[n] == '=' && at[n + 1] != '=') return false;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i]) == n && strncmp(words[i], at, n) == 0) return false;
  return !is_made_there(text, at, n);
}

static bool is_said (const DtDiag *g, const DtFinding *f, const char *name, size_t n) {
  const DtControl *c = dt_control_of(g->s);
  DtLine l;
  for (int k = 1; (l.s = c->h.source(c->h.ud, f->file, k, &l.n)) != NULL; k++)
    if (says(l, name, n)) return true;
  return false;
}

/* Does the program say all the names that the text needs an import for? */
static bool imports (const DtDiag *g, const DtFinding *f, const char *text) {
  for (const char *p = text; *p; ) {
    size_t n = 0;
    while (is_inner(p[n])) n++;
    if (n == 0) { p++; continue; }
    if (is_asked(text, p, n) && !is_said(g, f, p, n)) return false;
    p += n;
  }
  return true;
}

/* Is the name the variable of a loop around the line, and read no more in it?  To give
** it another value changes nothing then. */
static bool is_lost_there (DtDiag *g, const DtFinding *f, int indent, const char *name) {
  enum { FAR = 256 };
  const size_t n = strlen(name);
  DtLine l;
  int ind, k;
  size_t at;
  for (k = f->line - 1; k > 0; k--) {
    if (!line_at(g, f, k, &l, &ind) || ind >= indent) continue;
    if (has(l, "for ", &at) && at == 0 && has(l, " in ", &at) &&
        says((DtLine){ l.s, at }, name, n)) break;
    if (ind == 0) return false;
  }
  if (k <= 0) return false;
  for (int gap = 1; gap < FAR; gap++) {
    if (!line_at(g, f, f->line + gap, &l, &k)) continue;
    if (k <= ind) return true;
    if (says(l, name, n)) return false;
  }
  return true;
}

/* The tensor's name, and that of another one that the finding is about; NULL: none. */
typedef struct DtNames {
  const char *subject, *other;
} DtNames;

/* What a row says must be held, with the tensor's name in it. */
typedef struct DtNeeds {
  char word[96];
  size_t at, end;               /* where in the line it is */
} DtNeeds;

static bool holds (const DtEdit *e, DtLine l, const char *subject, DtNeeds *out) {
  const char *x = strstr(e->needs, "%x");
  if (x == NULL) snprintf(out->word, sizeof out->word, "%s", e->needs);
  else snprintf(out->word, sizeof out->word, "%.*s%s%s", (int)(x - e->needs), e->needs,
                subject, x + 2);
  if (!has(l, out->word, &out->at) || (x == e->needs && out->at != 0)) return false;
  out->end = out->at + strlen(out->word);
  return true;
}

/* Where the first argument ends that follows what is held, of a path, which may call
** without arguments; `from`: it is none.  The line may end with it. */
static size_t end_of_argument (DtLine l, size_t from) {
  size_t at = from, k;
  while (at < l.n) {
    if (is_inner(l.s[at]) || strchr(".[]", l.s[at])) at++;
    else if (at > from && l.s[at] == '(' && at + 1 < l.n && l.s[at + 1] == ')') at += 2;
    else break;
  }
  for (k = at; k < l.n && isspace((unsigned char)l.s[k]); k++) ;
  return k == l.n || l.s[k] == '#' || (k == at && strchr(",)", l.s[k])) ? at : from;
}

/* Where the last path in the first n bytes begins: whose method it is; n: it is none. */
static size_t owner_at (DtLine l, size_t n) {
  size_t from = n;
  while (from > 0 && (is_inner(l.s[from - 1]) || l.s[from - 1] == '.')) from--;
  return from > 0 && strchr(")]", l.s[from - 1]) ? n : from;
}

/* Is the line one statement, which begins with what is held, or with whose method it
** is?  A divisor must be all that is left of it. */
static bool is_alone (const DtEdit *e, DtLine l, const DtNeeds *at) {
  const bool divides = at->end > at->at && at->word[at->end - at->at - 1] == ' ';
  size_t k;
  if (!begins(l) || !ends_simple(l) || has(l, ";", &k)) return false;
  if ((*e->needs == '.' ? owner_at(l, at->at) : at->at) != 0) return false;
  for (k = at->end; k < l.n && (is_inner(l.s[k]) || strchr(".()[]", l.s[k])); k++) ;
  while (k < l.n && isspace((unsigned char)l.s[k])) k++;
  return !divides || k == l.n || l.s[k] == '#';
}

/* Is the edit one of a statement, and not of what is somewhere in the line? */
static bool of_statement (const DtEdit *e, DtEditHow how) {
  return how == DT_EDIT_DROP || (how == DT_EDIT_SWAP && !*e->needs) ||
         (how == DT_EDIT_BEFORE && *e->needs);
}

/* Is what ends there the end of an argument, too? */
static bool ends_argument (DtLine l, size_t k) {
  while (k < l.n && isspace((unsigned char)l.s[k])) k++;
  return k == l.n || strchr(",)#", l.s[k]) != NULL;
}

/* Is what SWAP would take away there once, and can the arguments behind it stay?
** Another function has other keywords, and %a is to be the only one without.  An operand
** is taken where nothing else is made of it. */
static bool is_single (const DtEdit *e, DtLine l, const DtNeeds *at) {
  const DtLine rest = { l.s + at->end, l.n - at->end };
  const bool calls = at->end > at->at && l.s[at->end - 1] == '(';
  size_t k = end_of_argument(l, at->end), more;
  if (at->end > at->at && has(rest, at->word, &more)) return false;
  if (*e->needs == ' ' && !ends_argument(l, at->end)) return false;
  if (strstr(e->text, "%a") == NULL) return !calls || !has(rest, "=", &more);
  if (k >= l.n || strchr(",)", l.s[k]) == NULL || l.s[k] == ')') return true;
  for (k++; k < l.n && l.s[k] == ' '; k++) ;
  while (k < l.n && is_inner(l.s[k])) k++;
  return k < l.n && l.s[k] == '=';
}

/* Would the text write into the tensor itself, by a collective?  Autograd does not
** see that: what has a gradient would keep the one of before. */
static bool writes_subject (const char *text) {
  const char *at = strstr(text, "dist.");
  if (at == NULL || strstr(text, "%x.grad") || strstr(text, "%x.data")) return false;
  return (at = strchr(at, '(')) != NULL && strncmp(at + 1, "%x", 2) == 0;
}

/* How the program names the tensor that the evidence names in its first word, beside
** this one in its third: as this one, with the other's path at its end.  NULL: it does
** not say so. */
static const char *other_name (const char *subject, const char *evidence, char name[96]) {
  const size_t own = strcspn(evidence, " "), n = strlen(subject);
  const char *third = evidence + own;
  size_t m;
  if (strncmp(third, " and ", 5) != 0) return NULL;
  m = strcspn(third += 5, " ");
  if (m == 0 || n < m || strncmp(subject + n - m, third, m) != 0) return NULL;
  snprintf(name, 96, "%.*s%.*s", (int)(n - m), subject, (int)own, evidence);
  return is_path(name) ? name : NULL;
}

/* How an edit goes with this line; false: it does not. */
static bool fits (const DtEdit *e, const DtFinding *f, DtLine l, const char *subject,
                  DtEditHow *how, DtNeeds *at) {
  size_t word = 0;
  *how = e->how;
  if (f->some && strstr(e->text, "dist.")) return false;
  if (f->in_graph && writes_subject(e->text)) return false;
  if ((strstr(e->text, "%x") || strstr(e->needs, "%x")) && !is_path(subject)) return false;
  if (!holds(e, l, subject, at)) return false;
  if (strstr(e->text, "%a") && end_of_argument(l, at->end) == at->end) return false;
  if (strstr(e->text, "%o") && owner_at(l, at->at) == at->at) return false;
  if (*how == DT_EDIT_BESIDE && makes_of_itself(l, subject))
    return false;                       /* of which of the two is it said? */
  if (*how == DT_EDIT_BESIDE)
    *how = assigns(l, subject) ? DT_EDIT_AFTER : DT_EDIT_BEFORE;
  if (of_statement(e, *how) && !is_alone(e, l, at)) return false;
  if (*how == DT_EDIT_SWAP) return is_single(e, l, at);
  if (*how == DT_EDIT_BEFORE) return begins(l);
  while (is_inner(subject[word])) word++;
  return begins(l) && ends_simple(l) &&
         (*how == DT_EDIT_DROP || strstr(e->text, "%x") == NULL || says(l, subject, word));
}

static void add_text (DtBuf *b, const char *text, const DtNames *names, DtLine l,
                      const DtNeeds *at) {
  for (; *text; text++) {
    if (*text == '\n') dt_buf_add(b, "\n+ ");
    if (*text != '%') {
      if (*text != '\n') dt_buf_addc(b, *text);
      continue;
    }
    text++;
    if (*text == 'x') dt_buf_add(b, names->subject);
    else if (*text == 'e') dt_buf_add(b, names->other);
    else if (*text == 'o')
      dt_buf_addn(b, l.s + owner_at(l, at->at), at->at - owner_at(l, at->at));
    else if (*text == 'a')
      dt_buf_addn(b, l.s + at->end, end_of_argument(l, at->end) - at->end);
  }
}

/* What the next line but remarks, `*end`, does to a sum that would be dropped. */
typedef enum DtNext {
  DT_NEXT_OTHER,
  DT_NEXT_AVERAGES,             /* divides it by the ranks: it goes, too */
  DT_NEXT_DIVIDES               /* by who knows what */
} DtNext;

static DtNext next_of (DtDiag *g, const DtFinding *f, int indent, const char *subject,
                       int *end) {
  enum { FAR = 8 };
  const size_t n = strlen(subject);
  DtLine l = { NULL, 0 };
  size_t at;
  int ind = 0;
  for (*end = f->line + 1; *end < f->line + FAR; ++*end)
    if (!line_at(g, f, *end, &l, &ind) || *l.s != '#') break;
  if (l.s == NULL || ind != indent || l.n < n + 5 || memcmp(l.s, subject, n) != 0 ||
      (memcmp(l.s + n, " /= ", 4) != 0 &&
       (l.n < n + 6 || memcmp(l.s + n, ".div_(", 6) != 0)))
    return DT_NEXT_OTHER;
  return has(l, "get_world_size()", &at) || says(l, "world", 5) ||
         says(l, "world_size", 10) ? DT_NEXT_AVERAGES : DT_NEXT_DIVIDES;
}

static void add_line (DtBuf *b, char sign, DtLine l) {
  dt_buf_addf(b, "%c %.*s\n", sign, (int)l.n, l.s);
}

/* `block`: the line is a block of its own. */
static void write_edit (const DtEdit *e, DtEditHow how, bool block, DtLine l,
                        const DtNeeds *at, const DtNames *names, DtBuf *b) {
  if (how == DT_EDIT_AFTER) add_line(b, ' ', l);
  if (how == DT_EDIT_DROP || how == DT_EDIT_SWAP) add_line(b, '-', l);
  if (how == DT_EDIT_DROP) {
    if (block) dt_buf_add(b, "+ pass\n");
    return;
  }
  dt_buf_add(b, "+ ");
  if (how == DT_EDIT_SWAP) dt_buf_addn(b, l.s, at->at);
  add_text(b, e->text, names, l, at);
  if (how == DT_EDIT_SWAP) {
    size_t end = strstr(e->text, "%a") ? end_of_argument(l, at->end) : at->end;
    dt_buf_addn(b, l.s + end, l.n - end);
  }
  dt_buf_addc(b, '\n');
  if (how == DT_EDIT_BEFORE) add_line(b, ' ', l);
}

/* The edit of a row that fits; false: what stays would be wrong without it. */
static bool write_fitting (DtDiag *g, const DtFinding *f, const DtEdit *e, DtEditHow how,
                           int indent, DtLine l, const DtNeeds *at,
                           const DtNames *names, DtBuf *out) {
  DtNext then = DT_NEXT_OTHER;
  int end = f->line, ind;
  if (how == DT_EDIT_DROP && strncmp(e->needs, "dist.", 5) == 0)
    then = next_of(g, f, indent, names->subject, &end);
  if (then == DT_NEXT_DIVIDES) return false;
  if (then == DT_NEXT_AVERAGES) {
    const bool block = is_block(g, f, end, indent);
    for (int k = f->line; k <= end; k++)
      if (line_at(g, f, k, &l, &ind)) add_line(out, k == f->line || k == end ? '-' : ' ', l);
    if (block) dt_buf_add(out, "+ pass\n");
  } else {
    write_edit(e, how, is_block(g, f, f->line, indent), l, at, names, out);
  }
  return true;
}

void dt_diag_edit (DtDiag *g, const DtFinding *f, const char *what, const char *subject,
                   const char *evidence, DtBuf *out) {
  char other[96];
  const DtNames names = { subject, other_name(subject, evidence, other) };
  DtLine l;
  DtEditHow how;
  DtNeeds at;
  int indent;
  if (!line_of(g, f, &l, &indent)) return;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].id == f->kind->id &&
        strncmp(what ? what : "", rows[i].what, strlen(rows[i].what)) == 0 &&
        fits(&rows[i], f, l, subject, &how, &at) && imports(g, f, rows[i].text) &&
        (strstr(rows[i].text, "%x") == NULL || in_scope(g, f, indent, subject)) &&
        (strstr(rows[i].text, "%e") == NULL || names.other != NULL) &&
        !(strcmp(rows[i].text, "%x = ") == 0 && is_lost_there(g, f, indent, subject))) {
      (void)write_fitting(g, f, &rows[i], how, indent, l, &at, &names, out);
      return;
    }
}
