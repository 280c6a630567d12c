/* SPDX-License-Identifier: MIT
** repl/help.c: help pages, made from the tables: commands (DtCmd), operators
** (DtOpDef), errors (errors.def), options; and a few topics written here.
** Help never lives in a second place. */
#include "bind/slots.h"
#include "repl/cmd.h"

#include <ctype.h>
#include <string.h>

typedef struct Topic { const char *name, *text; } Topic;

static const Topic topics[] = {
  {"prompt",
   "What can be typed at the prompt\n"
   "  x + y            Lua; an expression shows its value, a trailing ; hides "
   "it\n"
   "  local x = 1      a top-level local lasts for the whole session\n"
   "  _  _1  _2        the last value, the one before, ...\n"
   "  :command         a command; unambiguous beginnings do (:h for :help)\n"
   "  @2 x             on rank 2; @all, @0,2-3, @tp=1, @dp=0,tp=* (see ranks)"
   "\n"
   "  ?word            help\n"
   "An incomplete chunk asks for more (..> ).  Up and Down walk the history,\n"
   "Ctrl-R searches it, Tab completes, Ctrl-C drops the line or stops what "
   "runs\non all ranks, Ctrl-D leaves.  What is pasted is one chunk; prompts "
   "in it are\ndropped; Python and tracebacks go to :python and :import.  With "
   ":set python on\n(dtrepl --python) lines are Python's.  Long lines are cut "
   "for the\nterminal (:set wrap off), long results go through a pager, "
   "$PAGER\nor, under mpirun, our own (:set pager off).\n"},
  {"worlds",
   "Where the ranks live; the same script runs in all of them\n"
   "  dtrepl -n 4          threads of one process (the default)\n"
   "  mpirun -n 4 dtrepl   real processes; dtrepl --mpi 4 starts mpirun with "
   "the\n                       right flags for root and for few cores\n"
   "  dtrepl --fake 16384  one rank (0, or --fake 16384:7) of a pretend world: "
   "\n                       shapes, placements and bytes, no data\n"
   "Results in threads and processes are equal bit for bit.\n"},
  {"ranks",
   "Every rank runs every line; dt.rank() is its number.\n"
   "Output that is equal on all ranks is shown once; else groups of ranks are "
   "named:\n"
   "  [0,2] 1\n"
   "  [1,3] 2\n"
   "A line may be addressed:\n"
   "  @2 x:to_local()          rank 2 only\n"
   "  @0,2-3 x                 ranks 0, 2 and 3\n"
   "  @tp=1 x                  coordinate 1 of mesh dimension tp\n"
   "  @dp=0,tp=* x             several dimensions\n"
   "Mesh dimensions are those of the variable `mesh`, or of the first variable "
   "that\nholds a mesh with these names.  What needs other ranks (a collective)"
   " must run\non all of them.\n"},
  {"lua",
   "Where Lua differs from Python, and this Lua from others\n"
   "  f(a, {b}, {dim = 0})   a last table with a string key holds keywords\n"
   "  dt.zeros{8, 4, device_mesh = m}   one mixed table is fine too\n"
   "  x:repeat_op(2)         names that are Lua keywords end in _op\n"
   "  dt.None                fills a hole in a list\n"
   "  x:eq(y), x:lt(y)       comparisons that give tensors\n"
   "Dimensions, ranks and indices count from 0, as in PyTorch; Lua's own "
   "tables\nfrom 1.  pairs() has one order on all ranks, math.random one "
   "sequence; print()\nis shown when the line has ended, folded over ranks.\n"
   "Files and processes are limited unless --trust is given.\n"},
  {"placements",
   "Where the pieces of a distributed tensor are, one placement per mesh "
   "dimension\n"
   "  S(d)    sharded along tensor dimension d      Shard(d), S0\n"
   "  R       a copy on each rank                   Replicate()\n"
   "  P(sum)  each rank has a part of the sum       Partial()\n"
   "\"S(0) R\" is a list of two.  Printed: f32[8, 32]| S(0)R\n"},
  {"debugging",
   "Stop a script, look around, go back\n"
   "  dtrepl -d x.lua    stop before the first operator; :run x.lua does it "
   "here\n"
   "  :step :next :finish :line :until :continue   over the tree of\n"
   "                     line > function > operator > redistribution >\n"
   "                     collective > kernel, forward and backward\n"
   "  :break op aten.mm* if bytes > 4096   a line or an event, with a "
   "condition;\n"
   "                     :break alone lists the kinds\n"
   "  dt.breakpoint()    in a script: stop here, when somebody debugs\n"
   "At a stop lines of Lua see and set the variables of the stopped function "
   "(:up,\n:down choose another); :list, :bt, :info, :display, :watch look "
   "around.  An\nerror stops where it is raised: :fix N gives the call other "
   "inputs, :continue\ngoes on, :kill ends the script.  Ctrl-C stops a script "
   "that runs; twice ends it.\n"
   "  :back, :goto #7    the state before an operator: tensors by name, with\n"
   "                     values and placements as they were; :goto now\n"
   "  :rerun to #7, :diff last, :record save FILE, dtrepl --open FILE\n"
   "All ranks stop together and have one prompt; where they are at different\n"
   "places, each is shown.  dt.debug has all of it for scripts.\n"},
  {"testing",
   "Session files are tests: dtrepl --check FILE\n"
   "  :testcase addition\n"
   "  1 + 1\n"
   "  :expect\n"
   "  2\n"
   "  :end\n"
   "The exit status is 3 when something differs.\n"},
};
enum { NTOPICS = sizeof topics / sizeof topics[0] };

/* First line of a text. */
static int summary_length (const char *text) {
  return (int)strcspn(text, "\n");
}

/* First sentence of a command's help, in one line. */
static void add_sentence (const char *text, DtBuf *out) {
  for (; *text != '\0'; text++) {
    dt_buf_addc(out, *text == '\n' ? ' ' : *text);
    if ((*text == '.' || *text == '?') &&
        (text[1] == ' ' || text[1] == '\n'))
      break;
  }
}

static void command_page (const DtCmd *c, DtBuf *out) {
  size_t n = strcspn(c->names, " ");
  dt_buf_addf(out, ":%.*s %s\n", (int)n, c->names, c->args);
  if (c->names[n] != '\0')
    dt_buf_addf(out, "also: %s\n", c->names + n + 1);
  dt_buf_addf(out, "%s\n", c->help);
  if ((c->needs & DT_NEED_DATA) != 0)
    dt_buf_add(out, "Not in the fake world.\n");
}

static void group_of (const char *group, DtBuf *out) {
  int it = 0;
  const DtCmd *c;
  char name[32];
  while ((c = dt_cmd_next(&it)) != NULL) {
    if (strcmp(group, c->group) != 0) continue;
    dt_cmd_name(c, name);
    dt_buf_addf(out, "  :%-11s ", name);
    add_sentence(c->help, out);
    dt_buf_addc(out, '\n');
  }
}

static void print_overview (DtRepl *r, DtBuf *out) {
  const char *done[32];
  int it = 0, n = 0;
  const DtCmd *c;
  while ((c = dt_cmd_next(&it)) != NULL) {    /* groups, as they first come */
    int i = 0;
    while (i < n && strcmp(done[i], c->group) != 0) i++;
    if (i < n || n == 32) continue;
    dt_buf_addf(out, "%s%s\n", n > 0 ? "\n" : "", c->group);
    done[n++] = c->group;
    group_of(c->group, out);
  }
  dt_user_list(r->L, out);
  dt_buf_add(out, "\ntopics\n ");
  for (int i = 0; i < NTOPICS; i++)
    dt_buf_addf(out, " %s", topics[i].name);
  dt_buf_add(out, " options tasks\n\n:help tasks is what people come for; :help "
             "WORD explains a command, a topic, an\noperator (:help mm) or an error "
             "(:help DT0101)\n");
}

static void operator_page (const DtOpDef *d, DtBuf *out) {
  dt_buf_addf(out, "%s\n", d->schema);
  if (d->brief != NULL)
    dt_buf_addf(out, "%s\n", d->brief);
  if (d->doc != NULL)
    dt_buf_addf(out, "%s\n", d->doc);
}

/* The first overload with samples: what follows from its definition is shown. */
static const DtOpDef *sampled (const DtPacket *p) {
  for (int i = 0; i < p->n; i++)
    if (p->op[i]->samples != NULL && p->op[i]->samples[0] != NULL)
      return p->op[i];
  return p->op[0];
}

/* "mm", "aten.mm", "aten.mm.default". */
static bool operator_help (DtRepl *r, const char *what, DtBuf *out) {
  DtBuf b;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "%s%s", strchr(what, '.') == NULL ? "aten." : "", what);
  const char *full = dt_buf_str(&b);
  const char *dot = strchr(full, '.');
  bool found = false;
  if (dot != NULL && strchr(dot + 1, '.') == NULL) {
    char ns[32];
    size_t n = (size_t)(dot - full);
    memcpy(ns, full, n < 31 ? n : 31);
    ns[n < 31 ? n : 31] = '\0';
    const DtPacket *p = dt_registry_packet(r->cx, r->s->registry, ns, dot + 1);
    found = p != NULL && p->n > 0;
    if (found && !(r->set.python &&
                   dt_help_python(r, sampled(p)->sig->full, out))) {
      for (int i = 0; i < p->n; i++) {
        if (i > 0)
          dt_buf_addc(out, '\n');
        operator_page(p->op[i], out);
      }
      dt_help_operator(r, sampled(p)->sig->full, out);
    }
  }
  if (!found) {
    const DtOpDef *d = dt_registry_find(r->cx, r->s->registry, full);
    if (d != NULL) {
      operator_page(d, out);
      dt_help_operator(r, d->sig->full, out);
      found = true;
    }
  }
  dt_error_clear(r->cx);
  dt_buf_fini(&b);
  return found;
}

static bool error_help (const char *what, DtBuf *out) {
  DtStatus st = dt_error_find(what);
  if (st == DT_OK)
    return false;
  const DtErrorInfo *i = dt_error_info(st);
  dt_buf_addf(out, "%s %s: %s\nPyTorch raises %s.\nNext: %s\n", i->id, i->name,
              i->text, i->pyclass, i->hint);
  return true;
}

/* A kind of finding, by code, trap or name. */
static bool finding_help (const char *what, DtBuf *out) {
  const DtFindKind *k = dt_find_lookup(what);
  if (k == NULL)
    return false;
  dt_find_page(k, out);
  return true;
}

const char *dt_help_topic (int i) {
  return i < NTOPICS ? topics[i].name : i == NTOPICS ? "options"
    : i == NTOPICS + 1 ? "tasks" : NULL;
}

static bool topic_help (const char *what, DtBuf *out) {
  if (strcmp(what, "options") == 0) {
    dt_options_help(out);
    return true;
  }
  if (strcmp(what, "tasks") == 0) return dt_help_tasks(what, out);
  for (int i = 0; i < NTOPICS; i++)
    if (strcmp(topics[i].name, what) == 0) {
      dt_buf_add(out, topics[i].text);
      return true;
    }
  return false;
}

/* A command named exactly, or abbreviated when `loose`. */
static bool command_help (DtRepl *r, const char *what, bool loose,
                          DtBuf *out) {
  const char *s = what + (*what == ':');
  const DtCmd *c = dt_cmd_named(s, strlen(s));
  if (c == NULL && loose && dt_cmd_find(r->cx, s, strlen(s), &c) != DT_OK) {
    dt_error_clear(r->cx);
    c = NULL;
  }
  if (c != NULL)
    command_page(c, out);
  return c != NULL;
}

/* A variable of the person's, or a method of one: "x", "x:relu", "x.shape". */
static bool live_help (DtRepl *r, const char *what, DtBuf *out) {
  const char *dot = strrchr(what, '.'), *colon = strrchr(what, ':');
  const char *last = colon > dot ? colon : dot;
  const char of = r->set.python ? '.' : ':';    /* before a method */
  DtBuf head;
  bool found = false;
  dt_buf_init(&head, r->cx);
  const char *kind = *what != ':' ? dt_names_live(r->L, what, &head) : NULL;
  if (kind != NULL && strcmp(kind, "tensor") == 0)
    dt_buf_addf(out, "%s  %s\n"
                "A tensor.  Tab after %s%c lists its methods, ?%s%crelu has the "
                "page on one;\n:show %s is its picture, :blame %s tells where "
                "its placements come from.\n", what, dt_buf_str(&head), what,
                of, what, of, what, what);
  else if (kind != NULL)
    dt_buf_addf(out, "%s\nA device mesh.  %s[\"...\"] with Tab lists its "
                "dimensions, %s%c its methods.\n", what, what, what, of);
  found = kind != NULL;
  if (!found && last > what && last[1] != '\0') {
    char *path = dt_strndup(r->cx, what, (size_t)(last - what));
    kind = path != NULL ? dt_names_live(r->L, path, &head) : NULL;
    found = kind != NULL && strcmp(kind, "tensor") == 0 &&
            operator_help(r, last + 1, out);
    dt_free(r->cx, path);
  }
  dt_buf_fini(&head);
  return found;
}

/* ---- what the program, or a line, defined ---- */

typedef struct Own {
  DtRepl *r;
  const char *what;
  DtBuf *out;
  size_t before;                /* its length when this began */
} Own;

/* A function of Lua on the top: where it is written, and how it begins. */
static void describe_function (lua_State *L, const Own *k) {
  lua_Debug ar;
  size_t n = 0;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &ar);
  if (*ar.what == 'C' || dtL_is_ours(ar.source))
    return;
  const char *file = ar.source + (*ar.source == '@' || *ar.source == '=');
  const char *line = dtL_source_line(L, file, ar.linedefined, &n);
  dt_buf_addf(k->out, "%s  function at %s:%d\n", k->what, file, ar.linedefined);
  if (line != NULL)
    dt_buf_addf(k->out, "  %.*s\n", (int)n, line);
}

/* Has a Python program left names here? */
static bool is_loaded (lua_State *L, const char *module) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  bool yes = lua_getfield(L, -1, module) != LUA_TNIL;
  lua_pop(L, 2);
  return yes;
}

/* Protected. */
static int ask_own (lua_State *L) {
  const Own *k = lua_touserdata(L, 1);
  bool expression;
  if (!k->r->set.python) {
    if (dt_eval_compile(L, k->what, &expression) && expression &&
        lua_pcall(L, 0, 1, 0) == LUA_OK && lua_isfunction(L, -1))
      describe_function(L, k);
    if (k->out->len > k->before || !is_loaded(L, "torch.prompt")) return 0;
  }
  lua_getglobal(L, "require");
  lua_pushliteral(L, "torch.prompt");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "own");
  lua_pushstring(L, k->what);
  lua_call(L, 1, 1);
  if (lua_isstring(L, -1)) dt_buf_add(k->out, lua_tostring(L, -1));
  return 0;
}

static bool own_help (DtRepl *r, const char *what, DtBuf *out) {
  Own k = {r, what, out, out->len};
  int top = lua_gettop(r->L);
  if (what[strspn(what, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_.")] != '\0')
    return false;
  lua_pushcfunction(r->L, ask_own);
  lua_pushlightuserdata(r->L, &k);
  (void)lua_pcall(r->L, 1, 0, 0);
  lua_settop(r->L, top);
  dt_error_clear(r->cx);
  return out->len > k.before;
}

typedef struct NearPages { const char *what; int limit, count; DtBuf *b; }
  NearPages;

static void near_page (void *ud, const char *name) {
  NearPages *k = ud;
  const char *s = k->what + (*k->what == ':');
  if (k->count < 4 && dt_word_distance(s, strlen(s), name, strlen(name)) ==
      k->limit)
    dt_buf_addf(k->b, k->count++ > 0 ? ", %s" : "; did you mean %s", name);
}

/* "aten.mm.nosuch": the overloads that there are.  False: no such operator. */
static bool near_overloads (DtRepl *r, const char *what, DtBuf *b) {
  const char *base = strncmp(what, "aten.", 5) == 0 ? what + 5 : what;
  size_t n = strcspn(base, ".");
  const DtPacket *p;
  int it = 0;
  while (base[n] == '.' &&
         (p = dt_registry_next(r->cx, r->s->registry, &it)) != NULL) {
    if (strlen(p->base) != n || memcmp(p->base, base, n) != 0 ||
        strcmp(p->ns, "aten") != 0) continue;
    for (int i = 0; i < p->n; i++)
      dt_buf_addf(b, i > 0 ? ", %s" : "; did you mean %s", p->op[i]->sig->full);
    return p->n > 0;
  }
  return false;
}

/* Commands, the person's own, topics, errors; then operators. */
static void near_pages (DtRepl *r, const char *what, DtBuf *b) {
  NearPages k = {what, 1, 0, b};
  size_t len = strlen(what);
  char name[32];
  const DtCmd *c;
  const char *s, *op[3];
  if (near_overloads(r, what, b)) return;
  for (; k.limit <= (len > 4 ? 2 : 1) && k.count == 0; k.limit++) {
    int it = 0;
    while ((c = dt_cmd_next(&it)) != NULL)
      near_page(&k, dt_cmd_name(c, name));
    for (int i = 0; (s = dt_help_topic(i)) != NULL; i++)
      near_page(&k, s);
    dt_user_commands(r->L, "", "", near_page, &k);
    for (DtStatus st = dt_error_next(DT_OK); st != DT_OK;
         st = dt_error_next(st))
      near_page(&k, dt_error_info(st)->id);
  }
  int n = *what == ':' ? 0 : dt_registry_near(r->cx, r->s->registry, what, op,
                                               3);
  for (int i = 0; i < n; i++)
    dt_buf_addf(b, k.count++ > 0 ? ", %s" : "; did you mean %s", op[i]);
  dt_error_clear(r->cx);
}

/* A name of the library: "F.gelu" has its page; "gelu" that and the operator's;
** "x:sum" and "torch.sum" the operator's. */
static bool name_help (DtRepl *r, const char *what, DtBuf *out) {
  DtBuf packet;
  if (*what == ':')
    return operator_help(r, what, out);
  bool bare = strpbrk(what, ".:") == NULL;
  bool found = (bare || strncmp(what, "aten.", 5) != 0) &&
               dt_help_everyday(r, what, out);
  if (found && !bare)
    return true;
  dt_buf_init(&packet, r->cx);
  if (operator_help(r, what, &packet)) {
    dt_buf_addf(out, "%s%s", found ? "\n" : "", dt_buf_str(&packet));
    found = true;
  }
  dt_buf_clear(&packet);
  if (!found)
    found = dt_help_packet(r, what, &packet) &&
            operator_help(r, dt_buf_str(&packet), out);
  dt_buf_fini(&packet);
  return found;
}

/* The order decides what a name that means several things shows: a topic, the
** user's own function, a command, a tensor, a word for what people come for, a
** tensor's method or a public name, an error, a finding, a name of Lua. The last step takes a command without its
** colon.  What the program itself defined goes before names of the library. */
DtStatus dt_help_page (DtRepl *r, const char *what, DtBuf *out) {
  r->prose = true;
  if (*what == '\0') {
    print_overview(r, out);
    return dt_buf_ok(out);
  }
  size_t n = strlen(what);
  char front[64];
  if (n > 1 && n < sizeof front && what[n - 1] == '.') {  /* "F.": the module */
    snprintf(front, sizeof front, "%.*s", (int)(n - 1), what);
    return dt_help_page(r, front, out);
  }
  if (topic_help(what, out) || dt_user_help(r->L, what, out) ||
      command_help(r, what, *what == ':', out) ||
      live_help(r, what, out) || own_help(r, what, out))
    return dt_buf_ok(out);
  DtBuf b;
  dt_buf_init(&b, r->cx);
  if (dt_help_tasks(what, out)) {       /* and what else is called so */
    if (name_help(r, what, &b)) dt_buf_addf(out, "\n%s", dt_buf_str(&b));
    dt_buf_fini(&b);
    return dt_buf_ok(out);
  }
  if (name_help(r, what, out) || error_help(what, out) || finding_help(what, out) || dt_help_lua(what, false, out) ||
      command_help(r, what, true, out))
    return dt_buf_ok(out);
  near_pages(r, what, &b);
  DtStatus st = dt_raise(r->cx, DT_E_KEY, "no page on \"%s\"%s%s", what,
                         dt_buf_str(&b),
                         b.len > 0 ? "?" : " (:help lists all)");
  dt_buf_fini(&b);
  return st;
}

/* Does `text` contain `word`, whatever the case of its letters? */
static bool speaks_of (const char *text, const char *word) {
  size_t n = strlen(word);
  for (; text != NULL && *text != '\0'; text++) {
    size_t i = 0;
    while (i < n && text[i] != '\0' &&
           tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
      i++;
    if (i == n)
      return true;
  }
  return false;
}

/* Every kind of thing that has help, each line as wide as the others: commands,
** pages, errors, operators.  A new kind of help is one more loop here. */
void dt_help_apropos (DtRepl *r, const char *word, DtBuf *out) {
  size_t before = out->len;
  int it = 0;
  const DtCmd *c;
  char name[32];
  while ((c = dt_cmd_next(&it)) != NULL)
    if (speaks_of(c->names, word) || speaks_of(c->help, word))
      dt_buf_addf(out, ":%-19s %.*s\n", dt_cmd_name(c, name),
                  summary_length(c->help), c->help);
  for (int i = 0; i < NTOPICS; i++)
    if (speaks_of(topics[i].text, word) || speaks_of(topics[i].name, word))
      dt_buf_addf(out, "%-20s %.*s\n", topics[i].name,
                  summary_length(topics[i].text), topics[i].text);
  for (DtStatus st = dt_error_next(DT_OK); st != DT_OK;
       st = dt_error_next(st)) {
    const DtErrorInfo *e = dt_error_info(st);
    if (speaks_of(e->text, word) || speaks_of(e->name, word))
      dt_buf_addf(out, "%-20s %s\n", e->id, e->text);
  }
  const DtPacket *p;
  it = 0;
  while ((p = dt_registry_next(r->cx, r->s->registry, &it)) != NULL) {
    const char *brief = p->n > 0 ? p->op[0]->brief : NULL;
    if (speaks_of(p->base, word) || speaks_of(brief, word))
      dt_buf_addf(out, "%s.%-*s %s\n", p->ns, 19 - (int)strlen(p->ns),
                  p->base, brief != NULL ? brief : "");
  }
  if (out->len == before)
    dt_buf_addf(out, "nothing speaks of \"%s\"\n", word);
}
