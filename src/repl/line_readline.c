/* SPDX-License-Identifier: MIT
** repl/line_readline.c: editing with GNU readline, on a terminal that is ours
** or that a launcher forwards key by key.
**
** The three hooks that make readline work where fd 0 is a pipe: keys come
** from input.c (rl_getc_function), settings are put on the terminal by its
** own descriptor (prep and deprep functions), and readline is told that echo
** is on, without which it edits but shows nothing.  The window's size is
** looked at whenever no key comes, because SIGWINCH goes to the launcher. */
#include "repl/line.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <readline/readline.h>
#include <readline/history.h>
#include "repl/history.h"
#include "repl/input.h"

/* A line longer than HISTORY_LINE is not kept for the next session. */
enum { IDLE_MS = 200, PASTE_MS = 500, HISTORY_LINE = 64 << 10 };
enum { BURST = 256, BURST_MS = 150 };   /* bytes; the pause that ends it */
enum { CTRL_C = 3, CTRL_Z = 26, CTRL_BACKSLASH = 28 };

typedef struct Edit {
  DtLine base;
  DtLineOpts o;
  DtInput *in;
  FILE *out;
  char *prompt;
  bool dropped, leave, history_ok;
  bool pasting;                 /* a paste in brackets is being read */
  int cols, rows;
  int word, line_start;         /* completion: starts, readline's and ours */
  DtBuf words;                  /* candidates, each with its 0 byte */
  size_t next_word;
} Edit;

/* The line being edited: readline's callbacks carry no argument. */
static Edit *current;

static void write_text (Edit *e, const char *s) {
  fputs(s, e->out);
  fflush(e->out);
}

/* ---- the hooks ---- */

static void on_prep (int meta) {
  (void)meta;
  dt_tty_raw(current->o.tty);
  rl_tty_set_echoing(1);
  write_text(current, "\033[?2004h");
}

/* Forwarded keys stay raw while a command runs: the terminal must not turn
** Ctrl-C into a signal that ends the launcher. */
static void on_deprep (void) {
  write_text(current, "\033[?2004l");
  if (!current->o.tty->forwarded)
    dt_tty_restore(current->o.tty);
}

static void look_at_size (Edit *e) {
  int cols, rows;
  dt_tty_size(e->o.tty, &cols, &rows);
  if (cols == e->cols && rows == e->rows)
    return;
  e->cols = cols;
  e->rows = rows;
  rl_clear_visible_line();
  rl_set_screen_size(rows, cols);
  rl_on_new_line();
  rl_redisplay();
}

/* A terminal that puts no brackets around a paste sends it as if typed, faster
** than anybody types: where an Enter has so much behind it, all that follows
** without a pause is a piece of the line, as a paste in brackets is.  Line by
** line each would be edited, shown and run by itself, a megabyte for minutes,
** and what is typed ahead of a running command is shown twice.  Gives the key
** that comes instead: the last Enter of the paste, or none. */
static int take_burst (Edit *e, int enter) {
  DtBuf b;
  int c;
  bool trace = strstr(rl_line_buffer, "Traceback (most recent call") != NULL;
  if (e->pasting || dt_input_waiting(e->in) < (trace ? 1 : BURST))
    return enter;
  dt_buf_init(&b, e->base.cx);
  dt_buf_addc(&b, '\n');
  while ((c = dt_input_key(e->in, BURST_MS)) >= 0 && c != CTRL_C)
    dt_buf_addc(&b, c == '\r' ? '\n' : (char)c);
  bool whole = !b.oom && b.s[b.len - 1] == '\n';
  if (whole)
    b.s[--b.len] = '\0';
  if (!b.oom && c != CTRL_C) {
    rl_point = rl_end;
    rl_insert_text(b.s);
  }
  dt_buf_fini(&b);
  if (!whole)
    rl_redisplay();
  return c == CTRL_C ? CTRL_C : whole ? enter : DT_KEY_IDLE;
}

static int on_getc (FILE *unused) {
  Edit *e = current;
  (void)unused;
  for (;;) {
    int c = dt_input_key(e->in, IDLE_MS);
    if (c == '\r' || c == '\n')
      c = take_burst(e, c);
    if (c >= 0)
      return c;
    if (c == DT_KEY_EOF || e->leave ||
        (e->o.idle != NULL && !e->o.idle(e->o.ud))) {
      e->leave = true;
      return EOF;
    }
    look_at_size(e);
  }
}

static int on_available (void) {
  /* An escape sequence may be cut in two by the launcher: wait a little. */
  for (int i = 0; i < 10; i++) {
    if (dt_input_ready(current->in))
      return 1;
    usleep(2000);
  }
  return 0;
}

/* ---- keys that would be signals, and pastes ---- */

static const char paste_end[] = "\033[201~";

static bool paste_ends (const DtBuf *b) {
  size_t n = sizeof paste_end - 1;
  return b->len >= n && memcmp(b->s + b->len - n, paste_end, n) == 0;
}

static int on_drop (int count, int key) {
  (void)count;
  (void)key;
  write_text(current, "^C\n");
  current->dropped = true;
  rl_point = rl_end;
  rl_done = 1;
  return 0;
}

static int on_suspend (int count, int key) {
  (void)count;
  (void)key;
  if (current->o.tty->forwarded) {
    rl_message("(Ctrl-Z is off under mpirun) ");
    rl_clear_message();
    rl_ding();
    return 0;
  }
  on_deprep();
  kill(0, SIGTSTP);
  on_prep(0);
  rl_on_new_line();
  rl_forced_update_display();
  return 0;
}

static int on_quit_key (int count, int key) {
  (void)count;
  (void)key;
  rl_ding();
  return 0;
}

/* Of a paste that was stopped, what still comes is no line. */
static void swallow_paste (Edit *e, DtBuf *b) {
  for (int c; (c = dt_input_key(e->in, PASTE_MS)) >= 0;) {
    dt_buf_addc(b, (char)c);
    if (paste_ends(b))
      return;
    if (b->len > 4096)
      dt_buf_clear(b);
  }
}

/* A paste in brackets is a piece of the line, as it is.  Readline's own reader
** waits for the second bracket whatever is typed: Ctrl-C ends this one. */
static int on_paste (int count, int key) {
  Edit *e = current;
  DtBuf b;
  int c = 0;
  (void)count;
  (void)key;
  dt_buf_init(&b, e->base.cx);
  e->pasting = true;
  while (!paste_ends(&b) && (c = rl_read_key()) != CTRL_C && !e->leave)
    if (c > 0)
      dt_buf_addc(&b, c == '\r' ? '\n' : (char)c);
  e->pasting = false;
  if (c == CTRL_C) {
    swallow_paste(e, &b);
    on_drop(1, CTRL_C);
  } else if (!b.oom && b.len > 0) {
    if (paste_ends(&b))
      b.s[b.len - (sizeof paste_end - 1)] = '\0';
    rl_insert_text(b.s);
  }
  dt_buf_fini(&b);
  return 0;
}

static void bind_keys (void) {
  static const char *const maps[] = {"emacs", "vi-insert", "vi-command"};
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    Keymap m = rl_get_keymap_by_name(maps[i]);
    rl_bind_key_in_map(CTRL_C, on_drop, m);
    rl_bind_key_in_map(CTRL_Z, on_suspend, m);
    rl_bind_key_in_map(CTRL_BACKSLASH, on_quit_key, m);
    rl_bind_keyseq_in_map("\\e[200~", on_paste, m);
  }
  Keymap emacs = rl_get_keymap_by_name("emacs");
  rl_bind_keyseq_in_map("\\e[5~", rl_history_search_backward, emacs);
  rl_bind_keyseq_in_map("\\e[6~", rl_history_search_forward, emacs);
}

/* ---- completion ---- */

static void add_word (void *sink, const char *word) {
  Edit *e = sink;
  if (e->line_start >= e->word) {
    dt_buf_addn(&e->words, rl_line_buffer + e->word,
                (size_t)(e->line_start - e->word));
    dt_buf_add(&e->words, word);
  } else {
    size_t skip = (size_t)(e->word - e->line_start);
    dt_buf_add(&e->words, strlen(word) > skip ? word + skip : "");
  }
  dt_buf_addc(&e->words, '\0');
}

/* readline frees the word, with free(): it must not come from the context. */
static char *next_word (const char *text, int state) {
  Edit *e = current;
  (void)text;
  if (state == 0)
    e->next_word = 0;
  while (e->next_word < e->words.len) {
    const char *w = e->words.s + e->next_word;
    e->next_word += strlen(w) + 1;
    if (*w != '\0')
      return strdup(w);
  }
  return NULL;
}

/* The sink learns the start only when the words come: collect them first. */
typedef struct Found { Edit *e; int *start; } Found;
static void found_word (void *sink, const char *word) {
  Found *f = sink;
  f->e->line_start = *f->start;
  add_word(f->e, word);
}

static char **on_complete (const char *text, int start, int end) {
  Edit *e = current;
  int ours = start;
  rl_attempted_completion_over = 1;
  if (e->o.complete == NULL)
    return NULL;
  dt_buf_clear(&e->words);
  e->word = start;
  Found f = {e, &ours};
  e->o.complete(e->o.ud, rl_line_buffer, end, &ours, found_word, &f);
  rl_completion_suppress_append = 1;
  return e->words.oom ? NULL : rl_completion_matches(text, next_word);
}

/* ---- history ---- */

/* From the end, as entries behind a removed one move down. */
static void forget_double (const char *text) {
  for (int i = history_length - 1; i >= 0; i--) {
    HIST_ENTRY *h = history_get(history_base + i);
    if (h != NULL && strcmp(h->line, text) == 0)
      free_history_entry(remove_history(i));
  }
}

static void on_loaded (void *ud, const char *text) {
  (void)ud;
  add_history(text);
}

static void load_history (Edit *e) {
  using_history();
  stifle_history(DT_HISTORY_MAX);
  if (e->o.history == NULL || *e->o.history == '\0')
    return;
  DtCtx *cx = e->base.cx;
  if (dt_history_load(cx, e->o.history, on_loaded, e) == DT_OK) {
    e->history_ok = true;
    return;
  }
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_buf_addf(&b, "history is not kept: %s", dt_buf_str(&cx->err.message));
  e->o.warn(e->o.ud, dt_buf_str(&b));
  dt_buf_fini(&b);
  dt_error_clear(cx);
}

static void edit_remember (DtLine *l, const char *text) {
  Edit *e = (Edit *)l;
  if (*text == '\0' || *text == ' ')
    return;
  forget_double(text);
  add_history(text);
  if (e->history_ok && strlen(text) <= HISTORY_LINE &&
      dt_history_append(l->cx, e->o.history, text) != DT_OK) {
    e->history_ok = false;
    e->o.warn(e->o.ud, dt_buf_str(&l->cx->err.message));
    dt_error_clear(l->cx);
  }
}

/* ---- the four functions ---- */

/* readline has no argument for its caller: `current` is what its hooks find.
** The size is asked before each prompt, since nobody receives SIGWINCH under a
** launcher. */
static DtLineResult edit_read (DtLine *l, const char *prompt, DtBuf *out) {
  Edit *e = (Edit *)l;
  DtBuf p;
  dt_buf_clear(out);
  dt_buf_init(&p, l->cx);
  if (e->o.color)
    dt_buf_addf(&p, "\001\033[1m\002%s\001\033[0m\002", prompt);
  else
    dt_buf_add(&p, prompt);
  e->dropped = false;
  current = e;
  dt_tty_size(e->o.tty, &e->cols, &e->rows);
  rl_set_screen_size(e->rows, e->cols);
  char *s = readline(dt_buf_str(&p));
  dt_buf_fini(&p);
  DtLineResult r = DT_LINE_TEXT;
  if (e->dropped)
    r = DT_LINE_DROPPED;
  else if (s == NULL || e->leave)
    r = DT_LINE_END;
  else
    dt_buf_add(out, s);
  if (s == NULL)
    write_text(e, "\n");
  free(s);
  return r;
}

static void edit_running (DtLine *l, bool yes) {
  (void)dt_input_running(((Edit *)l)->in, yes);
}

/* Keys that a launcher forwards; elsewhere a program of its own reads them. */
static int edit_key (DtLine *l) {
  Edit *e = (Edit *)l;
  int c;
  bool was = dt_input_running(e->in, false);    /* results come after a command */
  do
    c = dt_input_key(e->in, IDLE_MS);
  while (c == DT_KEY_IDLE);
  (void)dt_input_running(e->in, was);
  return c == DT_KEY_EOF ? -1 : c;
}

static void edit_close (DtLine *l) {
  Edit *e = (Edit *)l;
  dt_input_free(e->in);
  dt_tty_restore(e->o.tty);
  fclose(e->out);
  rl_outstream = stderr;
  clear_history();
  current = NULL;
  dt_buf_fini(&e->words);
  dt_free(l->cx, e);
}

static const DtLineVt edit_vt = {edit_read, edit_remember, edit_running,
                                 edit_key, edit_close};

static void set_up_readline (Edit *e) {
  static char name[] = "dtrepl";
  rl_readline_name = name;
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_change_environment = 0;
  rl_instream = stdin;
  rl_outstream = e->out;
  rl_prep_term_function = on_prep;
  rl_deprep_term_function = on_deprep;
  rl_getc_function = on_getc;
  rl_input_available_hook = on_available;
  rl_attempted_completion_function = on_complete;
  rl_completer_word_break_characters = " \t\n\"'`@><=;|&{}(),+-*/%^~#[]!?";
  rl_completer_quote_characters = "";
  rl_completion_query_items = 200;
  rl_variable_bind("enable-bracketed-paste", "on");
  rl_initialize();
  bind_keys();
}

DtStatus dt_line_open_readline (DtCtx *cx, const DtLineOpts *o, DtLine **out) {
  Edit *e = DT_NEW(cx, Edit);
  DtStatus st = DT_OK;
  if (e == NULL)
    return DT_E_NOMEM;
  e->base.vt = &edit_vt;
  e->base.cx = cx;
  e->o = *o;
  dt_buf_init(&e->words, cx);
  int fd = dup(o->tty->fd);
  e->out = fd < 0 ? NULL : fdopen(fd, "w");
  DT_CHECKG(cx, e->out != NULL, DT_E_IO, "cannot write to the terminal");
  current = e;
  set_up_readline(e);
  load_history(e);
  DT_TRYG(cx, dt_input_new(cx, o->tty->forwarded, o->stop, o->ud, &e->in));
  /* Now, not at the first prompt: a program may run before it. */
  if (o->tty->forwarded)
    dt_tty_raw(o->tty);
  *out = &e->base;
  return DT_OK;
done:
  if (e->out != NULL)
    fclose(e->out);
  dt_free(cx, e);
  return st;
}
