/* SPDX-License-Identifier: MIT
** repl/complete_arg.c: what Tab offers behind a command's name: by a row of
** the table below, else by what the command's own row says it takes. */
#include "repl/complete.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "debug/control.h"

typedef enum Source {
  FROM_WORDS, FROM_FILES, FROM_OPS, FROM_KINDS, FROM_COLLS,
  FROM_CODES, FROM_SETTINGS, FROM_HELD
} Source;

typedef struct Row {
  const char *cmd;
  int word;                     /* which word of the argument, from 0; -1: any
                                ** after the first */
  const char *after;            /* the word before must be this; NULL: any */
  Source source;
  const char *words;
} Row;

static const char placements[] = "R S(0) S(1) S(2) P(sum)";

static const Row rows[] = {
  {"break", 0, NULL, FROM_KINDS, NULL},
  {"break", 0, NULL, FROM_FILES, NULL},
  {"break", 0, NULL, FROM_WORDS, "save load"},
  {"break", 1, "op", FROM_OPS, NULL},
  {"break", 1, "collective", FROM_COLLS, NULL},
  {"break", 1, "collective", FROM_WORDS, "on"},
  {"break", 1, "redistribute", FROM_WORDS, "implicit >"},
  {"break", 1, "save", FROM_FILES, NULL},
  {"break", 1, "load", FROM_FILES, NULL},
  {"break", -1, NULL, FROM_WORDS, "if on"},
  {"tbreak", 0, NULL, FROM_KINDS, NULL},
  {"tbreak", 0, NULL, FROM_FILES, NULL},
  {"tbreak", 1, "op", FROM_OPS, NULL},
  {"tbreak", -1, NULL, FROM_WORDS, "if on"},
  {"rules", 0, NULL, FROM_OPS, NULL},
  {"doctor", 0, NULL, FROM_OPS, NULL},
  {"whatif", -1, "=", FROM_WORDS, placements},
  {"whatif", -1, "R", FROM_WORDS, placements},
  {"whatif", 0, NULL, FROM_WORDS, "drop"},
  {"plan", 0, NULL, FROM_HELD, NULL},
  {"plan", 1, NULL, FROM_WORDS, placements},
  {"blame", 0, NULL, FROM_HELD, NULL},
  {"types", 0, NULL, FROM_HELD, NULL},
  {"who", 0, NULL, FROM_HELD, NULL},
  {"when", 0, NULL, FROM_HELD, NULL},
  {"why", 0, NULL, FROM_HELD, NULL},
  {"show", 0, NULL, FROM_HELD, NULL},
  {"check", 0, NULL, FROM_HELD, NULL},
  {"same", 0, NULL, FROM_HELD, NULL},
  {"explain", 0, NULL, FROM_CODES, NULL},
  {"explain", 0, NULL, FROM_OPS, NULL},
  {"findings", 0, NULL, FROM_CODES, NULL},
  {"findings", 0, NULL, FROM_WORDS, "clear"},
  {"set", 0, NULL, FROM_SETTINGS, NULL},
  {"set", 1, "sci_mode", FROM_WORDS, "auto off on"},
  {"set", 1, NULL, FROM_WORDS, "off on"},
  {"export", 0, NULL, FROM_WORDS, "html json lua torch trace"},
  {"export", 1, NULL, FROM_FILES, NULL},
  {"record", 0, NULL, FROM_WORDS, "limit off on open ring save"},
  {"record", 1, "save", FROM_FILES, NULL},
  {"record", 1, "open", FROM_FILES, NULL},
  {"lesson", 0, NULL, FROM_WORDS, "1 2 3 4 5 6 7 8 9 10"},
  {"rerun", 0, NULL, FROM_WORDS, "to"},
  {"goto", 0, NULL, FROM_WORDS, "now"},
};

static bool begins_with (const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The names in `words`, separated by blanks. */
static void from_words (const char *words, const char *prefix, DtLineAdd add,
                        void *sink) {
  size_t n = strlen(prefix);
  char one[64];
  for (const char *s = words; *s != '\0'; s += strspn(s, " ")) {
    size_t k = strcspn(s, " ");
    if (k < sizeof one && k >= n && strncmp(s, prefix, n) == 0) {
      memcpy(one, s, k);
      one[k] = '\0';
      add(sink, one);
    }
    s += k;
  }
}

/* Files whose path begins with `prefix`; folders end with a slash. */
static void from_files (DtCtx *cx, const char *prefix, DtLineAdd add,
                        void *sink) {
  const char *slash = strrchr(prefix, '/');
  size_t ndir = slash != NULL ? (size_t)(slash - prefix) + 1 : 0;
  const char *base = prefix + ndir;
  char *dir = ndir > 0 ? dt_strndup(cx, prefix, ndir) : dt_strdup(cx, ".");
  DIR *d = dir != NULL ? opendir(dir) : NULL;
  struct dirent *e;
  while (d != NULL && (e = readdir(d)) != NULL) {
    struct stat st;
    DtBuf b;
    if (!begins_with(e->d_name, base) || (e->d_name[0] == '.' && *base != '.'))
      continue;
    dt_buf_init(&b, cx);
    dt_buf_addf(&b, "%.*s%s", (int)ndir, prefix, e->d_name);
    if (!b.oom && stat(dt_buf_str(&b), &st) == 0 && S_ISDIR(st.st_mode))
      dt_buf_addc(&b, '/');
    if (!b.oom)
      add(sink, dt_buf_str(&b));
    dt_buf_fini(&b);
  }
  if (d != NULL)
    closedir(d);
  dt_free(cx, dir);
}

/* The overloads of a packet whose full names begin with `prefix`. */
static void offer_overloads (const DtPacket *p, const char *prefix,
                             DtLineAdd add, void *sink) {
  for (int i = 0; i < p->n; i++)
    if (p->op[i]->sig != NULL && begins_with(p->op[i]->sig->full, prefix))
      add(sink, p->op[i]->sig->full);
}

/* "mm" as it is, "aten.m" with its namespace, "aten.add.T" an overload;
** nothing typed yet: the namespaces. */
void dt_complete_ops (DtRepl *r, const char *prefix, DtLineAdd add,
                      void *sink) {
  const char *dot = strchr(prefix, '.');
  char full[160], last[sizeof full] = "";
  int it = 0;
  const DtPacket *p;
  while ((p = dt_registry_next(r->cx, r->s->registry, &it)) != NULL) {
    if (dot != NULL && strchr(dot + 1, '.') != NULL) {
      snprintf(full, sizeof full, "%s.%s.", p->ns, p->base);
      if (begins_with(prefix, full))
        offer_overloads(p, prefix, add, sink);
    } else if (dot != NULL || *prefix == '\0') {
      snprintf(full, sizeof full, *prefix != '\0' ? "%s.%s" : "%s.", p->ns,
               p->base);
      if (begins_with(full, prefix) && strcmp(full, last) != 0)
        add(sink, full);
      if (*prefix == '\0')
        snprintf(last, sizeof last, "%s", full);
    } else if (begins_with(p->base, prefix)) {
      add(sink, p->base);
    }
  }
}

/* What collectives do, each once. */
static void from_colls (const char *prefix, DtLineAdd add, void *sink) {
  const DtCollName *k, *before;
  for (int i = 0; (k = dt_coll_name(i)) != NULL; i++) {
    int j = 0;
    while ((before = dt_coll_name(j)) != k && strcmp(before->does, k->does))
      j++;
    if (before == k && begins_with(k->does, prefix))
      add(sink, k->does);
  }
}

static void from_codes (const char *prefix, DtLineAdd add, void *sink) {
  for (DtStatus st = dt_error_next(DT_OK); st != DT_OK; st = dt_error_next(st))
    if (begins_with(dt_error_info(st)->id, prefix))
      add(sink, dt_error_info(st)->id);
}

/* False: it knows nothing here, and Lua's names may follow. */
static bool from_row (DtRepl *r, const Row *w, const char *prefix,
                      DtLineAdd add, void *sink) {
  const DtBpKind *k;
  const char *s;
  switch (w->source) {
    case FROM_HELD: return dt_names_held(r->L, prefix, add, sink) > 0;
    case FROM_WORDS: from_words(w->words, prefix, add, sink); break;
    case FROM_FILES: from_files(r->cx, prefix, add, sink); break;
    case FROM_OPS: dt_complete_ops(r, prefix, add, sink); break;
    case FROM_COLLS: from_colls(prefix, add, sink); break;
    case FROM_CODES: from_codes(prefix, add, sink); break;
    case FROM_KINDS:
      for (int i = 1; (k = dt_bp_kind(i)) != NULL; i++)
        from_words(k->name, prefix, add, sink);
      break;
    case FROM_SETTINGS:
      for (int i = 0; (s = dt_setting_name(i)) != NULL; i++)
        from_words(s, prefix, add, sink);
      break;
    default: break;
  }
  return true;
}

/* "[on|off]", "[stop|locals]": the words a row names itself, in small
** letters. */
static void from_args (DtRepl *r, const DtCmd *c, int word, const char *prefix,
                       DtLineAdd add, void *sink) {
  if (strstr(c->args, "FILE") != NULL)
    from_files(r->cx, prefix, add, sink);
  if (word > 0 || strchr(c->args, '|') == NULL)
    return;
  for (const char *s = c->args; *s != '\0'; ) {
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_");
    char one[32];
    if (n > 1 && n < sizeof one && strchr("|] ", s[n]) != NULL) {
      memcpy(one, s, n);
      one[n] = '\0';
      from_words(one, prefix, add, sink);
    }
    s += n > 0 ? n : 1;
  }
}

/* The word of line[..end) that ends there, and which of the argument it is;
** *before, *nbefore: the word in front of it. */
static int which_word (const char *arg, const char *end, const char **word,
                       const char **before, size_t *nbefore) {
  int n = 0;
  const char *s = arg;
  *before = arg;
  *nbefore = 0;
  for (;;) {
    size_t k = 0;
    while (s + k < end && s[k] != ' ' && s[k] != '\t')
      k++;
    if (s + k == end) {
      *word = s;
      return n;
    }
    *before = s;
    *nbefore = k;
    n++;
    s += k;
    while (s < end && (*s == ' ' || *s == '\t'))
      s++;
  }
}

/* Completes a command's argument from `rows`; what they do not say, from the words
** of the command's own usage.  A row with `after` is about the word behind that
** one and replaces all others.  The registry may raise while it looks: an error
** left over would be printed under the line that is being typed. */
bool dt_complete_arg (DtRepl *r, const char *line, int point, int *start,
                      DtLineAdd add, void *sink) {
  const char *name = line + strspn(line, " \t") + 1;
  const char *arg = name + strcspn(name, " \t"), *end = line + point;
  const char *word, *before;
  size_t nbefore;
  char cname[32];
  const DtCmd *c;
  arg += strspn(arg, " \t");
  if (arg > end ||
      dt_cmd_find(r->cx, name, strcspn(name, " \t"), &c) != DT_OK) {
    dt_error_clear(r->cx);
    return false;
  }
  int at = which_word(arg, end, &word, &before, &nbefore);
  char *prefix = dt_strndup(r->cx, word, (size_t)(end - word));
  bool found = false;
  dt_cmd_name(c, cname);
  for (size_t i = 0; prefix != NULL && i < sizeof rows / sizeof rows[0]; i++) {
    const Row *w = &rows[i];
    if (strcmp(w->cmd, cname) != 0 || (w->word >= 0 ? w->word != at : at < 1))
      continue;
    if (w->after != NULL && (strlen(w->after) != nbefore ||
                             memcmp(w->after, before, nbefore) != 0))
      continue;
    *start = (int)(word - line);
    found |= from_row(r, w, prefix, add, sink);
    if (w->after != NULL)       /* it says all */
      break;
  }
  bool lua = strcmp(cname, "whatif") == 0 && at == 0;
  if (!found && prefix != NULL && strpbrk(c->args, "|F") != NULL) {
    *start = (int)(word - line);
    from_args(r, c, at, prefix, add, sink);
    found = strstr(c->args, "FILE") != NULL || strchr(c->args, '|') != NULL;
  }
  dt_free(r->cx, prefix);
  dt_error_clear(r->cx);
  return found && !lua;         /* variables may be there too */
}
