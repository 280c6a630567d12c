/* SPDX-License-Identifier: MIT
** repl/source.c: a small reader of Lua's tokens, for the rewriting of locals.
**
** It does not parse: it counts what opens and closes a block, which is enough
** to know the top level, and looks a few tokens past `local`.  Whatever it
** does not understand is passed on as it is, for Lua to complain about. */
#include "repl/source.h"

#include <ctype.h>
#include <string.h>

typedef enum Kind { TK_END, TK_NAME, TK_OTHER } Kind;

typedef struct Token { Kind kind; const char *s; size_t n; } Token;

/* After "[" "="* "[": the end of the long string or comment. */
static const char *skip_long (const char *s) {
  size_t level = strspn(s + 1, "=");
  for (s += level + 2; *s != '\0'; s++) {
    if (*s == ']' && strspn(s + 1, "=") == level && s[level + 1] == ']')
      return s + level + 2;
  }
  return s;
}

static bool opens_long (const char *s) {
  return *s == '[' && s[1 + strspn(s + 1, "=")] == '[';
}

static const char *skip_blank (const char *s) {
  for (;;) {
    while (isspace((unsigned char)*s))
      s++;
    if (s[0] != '-' || s[1] != '-')
      return s;
    s += 2;
    if (opens_long(s))
      s = skip_long(s);
    else
      s += strcspn(s, "\n");
  }
}

static const char *skip_string (const char *s) {
  char quote = *s++;
  while (*s != '\0' && *s != quote && *s != '\n') {
    if (*s == '\\' && s[1] != '\0')
      s++;
    s++;
  }
  return *s == quote ? s + 1 : s;
}

static bool name_char (char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static Token next_token (const char *s) {
  s = skip_blank(s);
  const char *e = s;
  if (*s == '\0')
    return (Token){TK_END, s, 0};
  if (isalpha((unsigned char)*s) || *s == '_') {
    while (name_char(*e))
      e++;
    return (Token){TK_NAME, s, (size_t)(e - s)};
  }
  if (isdigit((unsigned char)*s)) {
    while (name_char(*e) || *e == '.')
      e++;
  } else if (*s == '"' || *s == '\'') {
    e = skip_string(s);
  } else if (opens_long(s)) {
    e = skip_long(s);
  } else {
    e = s + 1;
  }
  return (Token){TK_OTHER, s, (size_t)(e - s)};
}

static bool is_token (Token t, const char *word) {
  return t.kind != TK_END && strlen(word) == t.n &&
         memcmp(t.s, word, t.n) == 0;
}

static bool opens_block (Token t) {
  return t.kind == TK_NAME && (is_token(t, "function") || is_token(t, "do") ||
                               is_token(t, "if") || is_token(t, "repeat"));
}

static bool closes_block (Token t) {
  return t.kind == TK_NAME && (is_token(t, "end") || is_token(t, "until"));
}

/* Copy the newlines of [from, to): line numbers must stay. */
static void copy_newlines (const char *from, const char *to, DtBuf *out) {
  for (; from < to; from++)
    if (*from == '\n')
      dt_buf_addc(out, '\n');
}

/* The names after `local` (which ends at `s`): rewritten into `out`.  The end
** of the list, or NULL when the statement must stay as it is. */
static const char *name_list (const char *s, DtBuf *out) {
  for (;;) {
    Token name = next_token(s), t;
    if (name.kind != TK_NAME || is_token(name, "_ENV"))
      return NULL;
    copy_newlines(s, name.s, out);
    s = name.s + name.n;
    const char *table = DT_LOCALS;
    t = next_token(s);
    if (is_token(t, "<")) {
      Token attrib = next_token(t.s + 1);
      Token close = next_token(attrib.s + attrib.n);
      if (!is_token(attrib, "const") || !is_token(close, ">"))
        return NULL;
      table = DT_CONSTS;
      s = close.s + 1;
      t = next_token(s);
    }
    dt_buf_addf(out, "%s.%.*s", table, (int)name.n, name.s);
    if (!is_token(t, ","))
      break;
    dt_buf_add(out, ", ");
    s = t.s + 1;
  }
  Token t = next_token(s);
  if (!is_token(t, "=") || t.s[1] == '=')
    dt_buf_add(out, " = nil;");
  return s;
}

/* Rewrite one `local` statement's head; where reading goes on. */
static const char *rewrite_local (DtCtx *cx, Token local, DtBuf *out) {
  const char *after = local.s + local.n;
  Token t = next_token(after);
  if (is_token(t, "function")) {
    Token name = next_token(t.s + t.n);
    if (name.kind == TK_NAME) {
      copy_newlines(after, name.s, out);
      dt_buf_add(out, "function " DT_LOCALS ".");
      return name.s;            /* the caller counts the block by itself */
    }
  } else {
    DtBuf head;
    dt_buf_init(&head, cx);
    const char *end = name_list(after, &head);
    if (end != NULL)
      dt_buf_addn(out, dt_buf_str(&head), head.len);
    bool oom = head.oom;
    dt_buf_fini(&head);
    if (oom)
      out->oom = true;
    if (end != NULL)
      return end;
  }
  dt_buf_addn(out, local.s, local.n);
  return after;
}

DtStatus dt_source_locals (DtCtx *cx, const char *text, DtBuf *out) {
  int depth = 0;
  const char *s = text;
  for (;;) {
    Token t = next_token(s);
    dt_buf_addn(out, s, (size_t)(t.s - s));
    if (t.kind == TK_END)
      break;
    if (depth == 0 && is_token(t, "local") && t.kind == TK_NAME) {
      bool function = is_token(next_token(t.s + t.n), "function");
      s = rewrite_local(cx, t, out);
      depth += function;
      continue;
    }
    depth += opens_block(t);
    depth -= closes_block(t) && depth > 0;
    dt_buf_addn(out, t.s, t.n);
    s = t.s + t.n;
  }
  return dt_buf_ok(out);
}

/* ---- pasted prompts ---- */

/* "dt#12> ", "dt[4]> ", and Python's */
static size_t stop_prompt (const char *s) {
  if ((strncmp(s, "dt", 2) != 0 && strncmp(s, "py", 2) != 0) ||
      (s[2] != '#' && s[2] != '['))
    return 0;
  size_t digits = strspn(s + 3, "0123456789"), n = 3 + digits;
  n += s[2] == '[' && s[n] == ']';
  return digits > 0 && s[n] == '>' ? n + 1 + (s[n + 1] == ' ') : 0;
}

static size_t prompt_length (const char *s) {
  static const char *const marks[] = {DT_PROMPT, DT_PROMPT_PYTHON,
                                      DT_PROMPT_MORE, ">>> ",
                                      "... ", ">> ", "> "};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    size_t n = strlen(marks[i]);
    if (strncmp(s, marks[i], n) == 0)
      return n;
    if (strncmp(s, marks[i], n - 1) == 0 && (s[n - 1] == '\n' ||
                                              s[n - 1] == '\0'))
      return n - 1;
  }
  return stop_prompt(s);
}

/* Output may come in front of the first prompt. */
static bool has_prompt (const char *s) {
  for (; *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n')
    if (strncmp(s, DT_PROMPT, sizeof DT_PROMPT - 1) == 0 ||
        strncmp(s, DT_PROMPT_PYTHON, sizeof DT_PROMPT_PYTHON - 1) == 0 ||
        stop_prompt(s) > 0)
      return true;
  return false;
}

DtPrompted dt_source_prompted (const char *line) {
  if (strncmp(line, DT_PROMPT, sizeof DT_PROMPT - 2) == 0 ||
      strncmp(line, DT_PROMPT_PYTHON, sizeof DT_PROMPT_PYTHON - 2) == 0 ||
      strncmp(line, DT_PROMPT_MORE, sizeof DT_PROMPT_MORE - 2) == 0 ||
      stop_prompt(line) > 0)
    return DT_PROMPTED_LINE;
  return strncmp(line, "dtrepl ", 7) == 0 && strstr(line, ":help") != NULL
    ? DT_PROMPTED_GREETING : DT_PROMPTED_NOT;
}

DtStatus dt_source_strip (DtCtx *cx, const char *text, DtBuf *out) {
  (void)cx;
  const char *s = text + strspn(text, " \t\n");
  if (prompt_length(s) == 0 && !has_prompt(s)) {
    dt_buf_add(out, text);
    return dt_buf_ok(out);
  }
  while (*s != '\0') {
    size_t len = strcspn(s, "\n"), p = prompt_length(s);
    if (p > 0) {
      if (p > len)
        p = len;
      if (out->len > 0)
        dt_buf_addc(out, '\n');
      dt_buf_addn(out, s + p, len - p);
    }
    s += len + (s[len] == '\n');
  }
  return dt_buf_ok(out);
}

bool dt_source_hidden (const char *text, size_t *n) {
  const char *s = text, *last = NULL;
  for (Token t = next_token(s); t.kind != TK_END; t = next_token(s)) {
    last = t.s;
    s = t.s + t.n;
  }
  if (last == NULL || *last != ';') {
    *n = strlen(text);
    return false;
  }
  while (last > text && (last[-1] == ';' || isspace((unsigned char)last[-1])))
    last--;
  *n = (size_t)(last - text);
  return true;
}

/* --- Python --- */

/* A statement with a block, "for x in xs:" or "if a: b": in Lua no blank and no
** end of a line follows a colon. */
static bool python_block (const char *s, size_t n) {
  static const char *const heads[] = {"for ", "if ", "while ", "else:"};
  char quote = '\0';
  bool head = false;
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
    head = head || strncmp(s, heads[i], strlen(heads[i])) == 0;
  for (size_t i = 0; head && i < n; i++) {
    if (quote != '\0' ? s[i] == quote : s[i] == '"' || s[i] == '\'')
      quote = quote != '\0' ? '\0' : s[i];
    else if (quote == '\0' && s[i] == ':' &&
             (i + 1 == n || s[i + 1] == ' ' || s[i + 1] == '\t'))
      return true;
  }
  return false;
}

bool dt_line_is_python (const char *s) {
  static const char *const heads[] = {"import ", "from ", "def ", "class ",
                                      "with ", "@", ">>> ", "try:", "elif ",
                                      "async ", "In [", "```py"};
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
    if (strncmp(s, heads[i], strlen(heads[i])) == 0)
      return true;
  return python_block(s, strcspn(s, "\n"));
}
