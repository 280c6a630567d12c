/* SPDX-License-Identifier: MIT
** render/html.c: the page: findings, meshes, layouts, parameters, timeline,
** ledger, operators (html_parts.c), source.
**
** All of it is text and SVG, so it opens from a file anywhere, prints, and
** can be read by a screen reader; colours follow the reader's light or dark
** setting.  Bytes are the same for the same record, but for the times. */
#include "render/html_int.h"

#include <string.h>

enum { MAX_LAYOUTS = 24, MAX_MESHES = 8, MAX_ROWS = 64,
  MAX_FILES = 8, MAX_LINES = 5000, MAX_NAMES = 6 };

static const char style[] =
  ":root{color-scheme:light dark;--bg:#fbfbfa;--fg:#1d2023;--dim:#666c73;"
  "--line:#d9dcdf;--card:#fff;--bad:#b3261e;--warn:#8a5a00;--note:#2f5f9e;"
  "--hit:#fdeceb;--op:#6d93c4;--coll:#d98b3a}\n"
  "@media(prefers-color-scheme:dark){:root{--bg:#16181a;--fg:#e4e6e8;"
  "--dim:#9aa1a8;--line:#383d42;--card:#1e2124;--bad:#ff8a80;--warn:#f0b95c;"
  "--note:#8ab4f0;--hit:#3a2322;--op:#5d86bd;--coll:#c97f33}}\n"
  "body{background:var(--bg);color:var(--fg);margin:2rem auto;"
  "max-width:72rem;padding:0 1rem;font:15px/1.5 system-ui,sans-serif}\n"
  "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem;"
  "border-bottom:1px solid var(--line)}\n"
  "code,pre,table.src,.mono{font:13px/1.45 ui-monospace,monospace}\n"
  "table{border-collapse:collapse}td,th{padding:.15rem .7rem .15rem 0;"
  "text-align:left;vertical-align:top}th{color:var(--dim);font-weight:500;"
  "border-bottom:1px solid var(--line)}td.n,th.n{text-align:right}\n"
  ".scroll{overflow-x:auto}.scroll svg{min-width:44rem}"
  ".dim{color:var(--dim)}svg{overflow:visible}\n"
  ".card{background:var(--card);border:1px solid var(--line);"
  "border-left:4px solid var(--note);border-radius:6px;padding:.6rem .9rem;"
  "margin:.7rem 0}.card.wrong{border-left-color:var(--bad)}"
  ".card.warning{border-left-color:var(--warn)}\n"
  ".card p{margin:.25rem 0}.tag{font-weight:600}.wrong .tag{color:var(--bad)}"
  ".warning .tag{color:var(--warn)}.note .tag{color:var(--note)}\n"
  "figure{display:inline-block;margin:.5rem 1.4rem .5rem 0;"
  "vertical-align:top}figcaption{max-width:22rem}\n"
  "svg text{font:12px ui-monospace,monospace;fill:var(--fg)}"
  "svg .s{fill:var(--dim);font-size:11px}svg .c{text-anchor:middle;"
  "fill:#16181a;font-weight:600}\n"
  "svg .frame{fill:none;stroke:var(--dim)}svg .grid{stroke:var(--line)}"
  "svg .op{fill:var(--op)}svg .coll{fill:var(--coll)}svg .bw{opacity:.65}\n"
  "svg rect[class^=r]{stroke:var(--bg);stroke-width:1.5}"
  "svg .part{stroke:var(--bad);stroke-dasharray:5 3}\n"
  "svg .r0{fill:#8fb8e8}svg .r1{fill:#f2b880}svg .r2{fill:#9bd19b}"
  "svg .r3{fill:#e8a0b4}svg .r4{fill:#c5aee8}svg .r5{fill:#e3d27c}"
  "svg .r6{fill:#8fd3cf}svg .r7{fill:#c9c2b8}\n"
  "svg .deep{stroke-width:3}\n"
  "table.src td{padding:0 .8rem 0 0;white-space:pre}table.src tr.hit td"
  "{background:var(--hit)}table.src td.n{color:var(--dim);padding-left:.2rem}\n"
  "details{margin:.3rem 0}summary{cursor:pointer}"
  "input[type=search]{font:inherit;width:100%;max-width:32rem;padding:.3rem "
  ".6rem;color:var(--fg);background:var(--card);border:1px solid var(--line);"
  "border-radius:6px}\n"
  "@media(max-width:40rem){body{margin:1rem auto;padding:0 .6rem;"
  "font-size:14px}figure{display:block;margin-right:0}"
  "figure svg{max-width:100%;height:auto}pre{white-space:pre-wrap}}\n"
  "@media print{:root{color-scheme:light}body{max-width:none;margin:0;"
  "font-size:10pt}.scroll{overflow:visible}.scroll svg{min-width:0}"
  "pre{white-space:pre-wrap}figure,.card,tr{break-inside:avoid}"
  "h2{break-after:avoid}input[type=search],#found{display:none}}\n";

static void esc (DtBuf *b, const char *s) { dt_html_text(b, s); }

/* --- what failed --- */

static void failure (const DtPage *p, DtBuf *b) {
  const char *s = NULL;
  size_t n = 0;
  if (p->failure == NULL) return;
  dt_buf_add(b, "<h2 id=\"failure\">What failed</h2>\n"
             "<div class=\"card wrong\">");
  if (p->file && p->line > 0) {
    dt_buf_add(b, "<p>");
    dt_html_place(b, p->file, p->line);
    if (p->source) s = p->source(p->ud, p->file, p->line, &n);
    if (s) {
      dt_buf_add(b, "<code>");
      dt_html_text_n(b, s, n);
      dt_buf_add(b, "</code>");
    }
    dt_buf_add(b, "</p>");
  }
  dt_buf_add(b, "<pre class=\"scroll\">");
  esc(b, p->failure);
  dt_buf_add(b, "</pre></div>\n");
}

/* --- findings --- */

static void finding (const DtFinding *f, DtBuf *b) {
  dt_buf_addf(b, "<div class=\"card %s\"><p><span class=\"tag\">%s %s %s"
              "</span> ", dt_find_severity(f->kind->severity),
              dt_find_severity(f->kind->severity), f->kind->code,
              f->kind->trap);
  esc(b, f->kind->title);
  dt_buf_add(b, "</p><p class=\"dim\">");
  dt_html_place(b, f->file, f->line);
  if (f->seq > 0) dt_buf_addf(b, "#%lld ", (long long)f->seq);
  esc(b, f->op);
  if (f->count > 1) dt_buf_addf(b, ", %lld times", (long long)f->count);
  dt_buf_add(b, "</p><p>");
  esc(b, f->evidence);
  dt_buf_add(b, "</p><p>");
  esc(b, f->kind->cause);
  dt_buf_add(b, "</p><p>Fix: <code>");
  esc(b, f->lua);
  dt_buf_add(b, "</code></p><p>PyTorch: <code>");
  esc(b, f->torch);
  dt_buf_add(b, "</code></p></div>\n");
}

static void findings (const DtPage *p, DtBuf *b) {
  const DtFinding *f;
  int i;
  dt_buf_add(b, "<h2 id=\"findings\">Findings</h2>\n");
  for (i = 0; p->diag && (f = dt_diag_at(p->diag, i)) != NULL; i++)
    finding(f, b);
  if (i == 0)
    dt_buf_add(b, p->failure ? "<p>Nothing else was found.</p>\n"
                             : "<p>Nothing was found.</p>\n");
}

/* --- meshes and layouts --- */

typedef struct Layout {
  const DtSpec *spec; int nname, more; const char *name[MAX_NAMES];
} Layout;

typedef struct Seen {
  int nlay; Layout lay[MAX_LAYOUTS];
  bool more;                    /* there were others */
  int nmesh; const DtMesh *mesh[MAX_MESHES];
} Seen;

/* The last script variable that held the tensor. */
static void see_mesh (Seen *s, const DtMesh *m) {
  int i;
  for (i = 0; i < s->nmesh; i++)
    if (dt_mesh_equal(s->mesh[i], m)) return;
  if (s->nmesh < MAX_MESHES) s->mesh[s->nmesh++] = m;
}

static void see_spec (Seen *s, const DtSpec *spec, const char *name) {
  Layout *l;
  int i;
  if (spec == NULL || !spec->has_meta) return;
  see_mesh(s, spec->mesh);
  if (name == NULL) return;
  for (i = 0; i < s->nlay && !dt_spec_equal(s->lay[i].spec, spec); i++) ;
  if (i == MAX_LAYOUTS) {
    s->more = true;
    return;
  }
  l = &s->lay[i];
  if (i == s->nlay) {
    s->nlay++;
    l->spec = spec;
    l->nname = l->more = 0;
  }
  for (i = 0; i < l->nname; i++)
    if (strcmp(l->name[i], name) == 0) return;
  if (l->nname < MAX_NAMES) l->name[l->nname++] = name;
  else l->more++;
}

static void see_all (const DtPage *p, const DtVarNames *names, Seen *s) {
  const DtRecOp *r;
  int i, k;
  memset(s, 0, sizeof *s);
  for (i = 0; i < p->nparam; i++)
    see_spec(s, p->param[i].var->spec, p->param[i].name);
  for (i = p->d->rec.n - 1; i >= 0; i--) {
    r = dt_record_at(p->d, i);
    for (k = 0; k < r->nin; k++)
      if (!r->in[k].none)
        see_spec(s, r->in[k].spec, dt_var_name(names, &r->in[k]));
    for (k = 0; k < r->nout; k++)
      if (!r->out[k].none)
        see_spec(s, r->out[k].spec, dt_var_name(names, &r->out[k]));
  }
}

static void meshes (const DtPage *p, const Seen *s, DtBuf *b) {
  int i;
  dt_buf_add(b, "<h2 id=\"meshes\">Meshes</h2>\n");
  for (i = 0; i < s->nmesh; i++) {
    dt_buf_add(b, "<figure>");
    dt_svg_mesh(p->cx, s->mesh[i], b);
    dt_buf_add(b, "</figure>\n");
  }
  if (s->nmesh == 0)
    dt_buf_add(b, "<p>No tensor was distributed.</p>\n");
}

static DtStatus layouts (const DtPage *p, const Seen *s, DtBuf *b) {
  DtBuf t;
  DtStatus st = DT_OK;
  int i, k;
  dt_buf_add(b, "<h2 id=\"layouts\">Layouts</h2>\n");
  if (s->nlay == 0)
    dt_buf_add(b, "<p>No variable held a distributed tensor.</p>\n");
  dt_buf_init(&t, p->cx);
  for (i = 0; i < s->nlay && st == DT_OK; i++) {
    const Layout *l = &s->lay[i];
    dt_buf_add(b, "<figure>");
    st = dt_svg_layout(p->cx, l->spec, b);
    dt_buf_add(b, "<figcaption class=\"mono\"><b>");
    for (k = 0; k < l->nname; k++) {
      if (k) dt_buf_add(b, ", ");
      esc(b, l->name[k]);
    }
    dt_buf_add(b, l->more ? ", …</b> " : "</b> ");
    dt_buf_clear(&t);
    dt_spec_print(l->spec, &t);
    dt_buf_add(&t, " mesh ");
    dt_mesh_print(l->spec->mesh, &t);
    esc(b, dt_buf_str(&t));
    dt_buf_add(b, "</figcaption></figure>\n");
  }
  if (s->more)
    dt_buf_addf(b, "<p class=\"dim\">The first %d layouts.</p>\n", MAX_LAYOUTS);
  dt_buf_fini(&t);
  return st;
}

/* --- ledger --- */

typedef struct Row {
  const char *coll, *mdim, *op; int64_t count, bytes, implicit;
} Row;

static void ledger_add (Row *row, int *n, const char *op,
                        const DtRecColl *c) {
  int i;
  for (i = 0; i < *n; i++)
    if (strcmp(row[i].coll, c->coll) == 0 &&
        strcmp(row[i].mdim, c->mdim) == 0 && strcmp(row[i].op, op) == 0)
      break;
  if (i == MAX_ROWS) return;
  if (i == *n) row[(*n)++] = (Row){ c->coll, c->mdim, op, 0, 0, 0 };
  row[i].count++;
  row[i].bytes += c->bytes_in;
  row[i].implicit += c->implicit;
}

static void ledger (const DtPage *p, DtBuf *b) {
  Row row[MAX_ROWS];
  int n = 0, i, k;
  for (i = p->d->rec.n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_at(p->d, i);
    for (k = 0; k < r->ncoll; k++)
      ledger_add(row, &n, r->label, &r->coll[k]);
  }
  dt_buf_add(b, "<h2 id=\"ledger\">Ledger</h2>\n");
  if (n == 0) { dt_buf_add(b, "<p>No rank sent anything.</p>\n"); return; }
  dt_buf_add(b, "<div class=\"scroll\"><table><tr><th>collective</th>"
             "<th>mesh dim</th><th>for</th><th class=\"n\">count</th>"
             "<th class=\"n\">implicit</th><th class=\"n\">bytes per rank"
             "</th></tr>\n");
  for (i = 0; i < n; i++) {
    dt_buf_add(b, "<tr><td>");
    esc(b, row[i].coll);
    dt_buf_add(b, "</td><td>");
    esc(b, row[i].mdim);
    dt_buf_add(b, "</td><td>");
    esc(b, row[i].op);
    dt_buf_addf(b, "</td><td class=\"n\">%lld</td><td class=\"n\">%lld</td>"
                "<td class=\"n\">%lld</td></tr>\n", (long long)row[i].count,
                (long long)row[i].implicit, (long long)row[i].bytes);
  }
  dt_buf_add(b, "</table></div>\n");
}

/* --- source --- */

static bool on_line (const char *file, int line, const char *f, int l) {
  return l == line && f && strcmp(f, file) == 0;
}

static void source_line (const DtPage *p, const char *file, int line,
                         const char *text, size_t n, DtBuf *b) {
  const DtFinding *f;
  int64_t bytes = 0;
  int ops = 0, i, k, hits = 0;
  for (i = 0; i < p->d->rec.n; i++) {
    const DtRecOp *r = dt_record_at(p->d, i);
    if (!on_line(file, line, r->file, r->line)) continue;
    ops++;
    for (k = 0; k < r->ncoll; k++) bytes += r->coll[k].bytes_in;
  }
  for (i = 0; p->diag && (f = dt_diag_at(p->diag, i)) != NULL; i++)
    hits += on_line(file, line, f->file, f->line);
  dt_buf_addf(b, "<tr%s id=\"L-", hits ? " class=\"hit\"" : "");
  esc(b, file);
  dt_buf_addf(b, "-%d\"><td class=\"n\">%d</td><td>", line, line);
  dt_html_text_n(b, text, n);
  dt_buf_add(b, "</td><td class=\"n\">");
  if (ops) dt_buf_addf(b, "%d op%s", ops, ops == 1 ? "" : "s");
  if (bytes) dt_buf_addf(b, ", %lld B", (long long)bytes);
  dt_buf_add(b, "</td><td>");
  for (i = 0; p->diag && (f = dt_diag_at(p->diag, i)) != NULL; i++)
    if (on_line(file, line, f->file, f->line)) {
      dt_buf_addf(b, "%s ", f->kind->code);
      esc(b, f->kind->title);
      dt_buf_addc(b, ' ');
    }
  dt_buf_add(b, "</td></tr>\n");
}

static void source_file (const DtPage *p, const char *file, DtBuf *b) {
  const char *text;
  size_t n = 0;
  int line = 1;
  text = p->source(p->ud, file, line, &n);
  if (text == NULL) return;
  dt_buf_add(b, "<h3 class=\"mono\">");
  esc(b, file);
  dt_buf_add(b, "</h3><div class=\"scroll\"><table class=\"src\">\n");
  for (; text && line <= MAX_LINES; text = p->source(p->ud, file, ++line, &n))
    source_line(p, file, line, text, n, b);
  dt_buf_add(b, "</table></div>\n");
}

static void sources (const DtPage *p, DtBuf *b) {
  const char *file[MAX_FILES];
  int n = 0, i, k;
  dt_buf_add(b, "<h2 id=\"source\">Source</h2>\n");
  for (i = p->d->rec.n - 1; p->source && i >= 0; i--) {
    const DtRecOp *r = dt_record_at(p->d, i);
    if (r->file == NULL || r->line <= 0) continue;
    for (k = 0; k < n && strcmp(file[k], r->file) != 0; k++) ;
    if (k < n || n == MAX_FILES) continue;
    file[n++] = r->file;
    source_file(p, r->file, b);
  }
}

/* How many ranks and operators; where ranks are pretended there is one. */
static void summary (const DtPage *p, DtBuf *b) {
  int world = p->d->s->comm ? p->d->s->comm->size : p->nranks;
  dt_buf_addf(b, "<p class=\"dim\">%d rank%s%s, %lld operators; what one "
              "rank saw is rank 0's.</p>\n", world, world == 1 ? "" : "s",
              world > p->nranks ? " (pretended, but for rank 0)" : "",
              (long long)p->d->rec.total);
}

static void head (const DtPage *p, DtBuf *b) {
  dt_buf_add(b, "<!doctype html>\n<html lang=\"en\"><head>"
             "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
             "content=\"width=device-width,initial-scale=1\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>");
  esc(b, p->title);
  dt_buf_add(b, " - dtrepl</title>\n<style>\n");
  dt_buf_add(b, style);
  dt_buf_add(b, "</style></head><body>\n<h1>");
  esc(b, p->title);
  dt_buf_add(b, "</h1>\n");
}

static void timeline (const DtPage *p, DtBuf *b) {
  dt_buf_add(b, "<h2 id=\"timeline\">Timeline</h2>\n<p class=\"dim\">Upper "
             "lanes: operators; lower lanes: collectives, with their wait for "
             "the other ranks; paler: backward. Point at a bar for its name."
             "</p>\n<div class=\"scroll\">");
  dt_svg_timeline(p->nranks, p->span, p->nspan, b);
  dt_buf_add(b, "</div>\n");
}

static DtStatus body (const DtPage *p, const DtVarNames *names, Seen *s,
                      DtBuf *b) {
  see_all(p, names, s);
  failure(p, b);
  summary(p, b);
  findings(p, b);
  meshes(p, s, b);
  DT_TRY(p->cx, layouts(p, s, b));
  dt_html_parameters(p, b);
  timeline(p, b);
  ledger(p, b);
  DT_TRY(p->cx, dt_html_operators(p, names, b));
  sources(p, b);
  return DT_OK;
}

DtStatus dt_html_page (const DtPage *p, DtBuf *b) {
  Seen *s = DT_NEW(p->cx, Seen);
  DtVarNames names;
  DtStatus st;
  if (s == NULL) return DT_E_NOMEM;
  st = dt_var_names_new(p->cx, &p->d->rec, &names);
  if (st == DT_OK) {
    head(p, b);
    st = body(p, &names, s, b);
    dt_buf_add(b, "</body></html>\n");
    dt_var_names_free(p->cx, &names);
  }
  dt_free(p->cx, s);
  return st == DT_OK ? dt_buf_ok(b) : st;
}
