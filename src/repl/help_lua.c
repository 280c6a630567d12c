/* SPDX-License-Identifier: MIT
** repl/help_lua.c: pages on the functions of the Lua library, harvested from
** its sources: the comment above a definition is its page, so there is no
** second text to keep true.
**
** A definition is a line "function M.NAME(...)", "function M.Class:NAME(...)"
** or "M.NAME = ..." at the margin of an embedded module. */
#include <string.h>
#include "bind/embed.h"
#include "repl/cmd.h"

enum { MOST = 4 };              /* definitions shown */

typedef struct Def {
  const DtEmbed *module;
  const char *comment;          /* first line of the block above, or line */
  const char *line, *end;       /* the definition; its last line ends here */
  int number;
} Def;

static const char *line_end (const char *p) { return p + strcspn(p, "\n"); }

static bool starts_with (const char *p, const char *with) {
  return strncmp(p, with, strlen(with)) == 0;
}

/* Length of the name defined by the line at p ("Class:method" too), 0 for no
** definition; *name points into the line. */
static size_t defined_name (const char *p, const char **name) {
  bool function = starts_with(p, "function M.");
  size_t n;
  if (!function && !starts_with(p, "M.")) return 0;
  *name = p + (function ? 11 : 2);
  n = strspn(*name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789_.:");
  if (function) return (*name)[n] == '(' ? n : 0;
  return starts_with(*name + n, " = ") ? n : 0;
}

/* The whole definition: a function up to its "end" at the margin, a table up
** to its brace, else the line. */
static const char *definition_end (const char *p) {
  const char *e = line_end(p);
  const char *close = starts_with(p, "function ") ? "end" :
                      e > p && (e[-1] == '{' || e[-1] == ')') ? "}" : NULL;
  if (close != NULL && e[-1] == ')' && close[0] == '}') close = "end";
  while (close != NULL && *e != '\0') {
    if (starts_with(e + 1, close)) return line_end(e + 1);
    if (e[1] != ' ' && e[1] != '\n') break;
    e = line_end(e + 1);
  }
  return line_end(p);
}

/* Does a module's name have the words of a prefix ("nn", "dt.parallel")?
** "F" is dt.functional, "dt" is any. */
static bool prefix_fits (const char *prefix, size_t n, const char *module) {
  if (n == 0 || (n == 2 && memcmp(prefix, "dt", 2) == 0)) return true;
  if (n == 1 && *prefix == 'F') return strstr(module, "functional") != NULL;
  if (n > 3 && memcmp(prefix, "dt.", 3) == 0) {
    prefix += 3;
    n -= 3;
  }
  for (const char *p = module; (p = strchr(p, '.')) != NULL; p++)
    if (strncmp(p + 1, prefix, n) == 0 &&
        (p[1 + n] == '.' || p[1 + n] == '\0'))
      return true;
  return false;
}

static int scan_module (const DtEmbed *m, const char *name, size_t len,
                        Def *out, int room) {
  const char *p = m->text, *comment = NULL, *found = NULL;
  int n = 0, number = 1;
  for (; *p != '\0'; p = *line_end(p) ? line_end(p) + 1 : line_end(p),
                     number++) {
    size_t k = defined_name(p, &found);
    if (starts_with(p, "-- ")) {
      if (comment == NULL) comment = p;
      continue;
    }
    if (k == len && memcmp(found, name, len) == 0 && n < room)
      out[n++] = (Def){ m, comment ? comment : p, p, definition_end(p),
                        number };
    comment = NULL;
  }
  return n;
}

static int find_definitions (const char *what, Def *out) {
  const char *dot = strrchr(what, '.');
  size_t nprefix = dot ? (size_t)(dot - what) : 0, nmod, i;
  const char *name = dot ? dot + 1 : what;
  const DtEmbed *all = dt_embed_all(&nmod);
  int n = 0;
  for (i = 0; i < nmod && n < MOST && *name != '\0'; i++)
    if (prefix_fits(what, nprefix, all[i].name))
      n += scan_module(&all[i], name, strlen(name), out + n, MOST - n);
  return n;
}

bool dt_help_lua (const char *what, bool source, DtBuf *out) {
  Def def[MOST];
  int i, n = *what ? find_definitions(what, def) : 0;
  for (i = 0; i < n; i++) {
    const char *p = def[i].comment;
    if (i > 0) dt_buf_addc(out, '\n');
    while (p < def[i].line) {
      const char *e = line_end(p);
      dt_buf_addn(out, p + 3, (size_t)(e - p) - 3);
      dt_buf_addc(out, '\n');
      p = e + 1;
    }
    if (source || def[i].comment == def[i].line) {
      const char *e = source ? def[i].end : line_end(def[i].line);
      dt_buf_addn(out, def[i].line, (size_t)(e - def[i].line));
      dt_buf_addc(out, '\n');
    }
    dt_buf_addf(out, "  %s:%d\n", def[i].module->file, def[i].number);
  }
  return n > 0;
}

bool dt_help_asked (const char *text, DtBuf *name, bool *source) {
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789_.:");
  size_t marks = strspn(text + n, "?");
  if (n == 0 || *text == ':' || marks == 0 || marks > 2 ||
      text[n + marks + strspn(text + n + marks, " \t\n")] != '\0')
    return false;
  dt_buf_addn(name, text, n);
  *source = marks == 2;
  return true;
}
