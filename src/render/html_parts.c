/* SPDX-License-Identifier: MIT
** render/html_parts.c: the long sections of the page: every operator, folded by
** hundreds, with a search; the parameters of the program's modules. */
#include <string.h>
#include "render/html_int.h"

enum { FOLD = 100 };            /* operators in one fold */

void dt_html_text (DtBuf *b, const char *s) { dt_xml(b, s ? s : ""); }

void dt_html_text_n (DtBuf *b, const char *s, size_t n) {
  char piece[256];
  while (n > 0) {
    size_t k = n < sizeof piece - 1 ? n : sizeof piece - 1;
    memcpy(piece, s, k);
    piece[k] = '\0';
    dt_xml(b, piece);
    s += k;
    n -= k;
  }
}

void dt_html_place (DtBuf *b, const char *file, int line) {
  if (line <= 0) return;
  dt_buf_add(b, "<a href=\"#L-");
  dt_html_text(b, file);
  dt_buf_addf(b, "-%d\">", line);
  dt_html_text(b, file);
  dt_buf_addf(b, ":%d</a> ", line);
}

/* --- names of variables --- */

static int slot_of (const DtVarNames *n, int64_t id) {
  uint64_t h = (uint64_t)id * UINT64_C(11400714819323198485);
  int i = (int)(h >> 33) & (n->size - 1);
  while (n->id[i] != 0 && n->id[i] != id) i = (i + 1) & (n->size - 1);
  return i;
}

DtStatus dt_var_names_new (DtCtx *cx, const DtRecord *k, DtVarNames *out) {
  int size = 16, i;
  while (size < 2 * k->nname) size *= 2;
  out->size = size;
  out->id = DT_NEWN(cx, int64_t, size);
  out->name = DT_NEWN(cx, const char *, size);
  if (out->id == NULL || out->name == NULL) {
    dt_var_names_free(cx, out);
    return DT_E_NOMEM;
  }
  for (i = 0; i < k->nname; i++) {
    if (k->name[i].var == 0) continue;  /* it holds none any more */
    int at = slot_of(out, k->name[i].var);
    out->id[at] = k->name[i].var;
    out->name[at] = k->name[i].name;
  }
  return DT_OK;
}

void dt_var_names_free (DtCtx *cx, DtVarNames *n) {
  dt_free(cx, n->id);
  dt_free(cx, n->name);
  n->id = NULL;
  n->name = NULL;
}

const char *dt_var_name (const DtVarNames *n, const DtRecVar *v) {
  int at = slot_of(n, v->id);
  return v->id != 0 && n->id[at] == v->id ? n->name[at] : v->name;
}

/* --- operators --- */

static const char search[] =
  "<p><input type=\"search\" id=\"q\" placeholder=\"search: operator, "
  "variable, placement, line\"> <span id=\"found\" class=\"dim\"></span></p>\n";

/* Words of the field are looked for in each row; folds with hits open. */
static const char script[] =
  "<script>\n(function(){var q=document.getElementById('q'),"
  "found=document.getElementById('found'),"
  "folds=[].slice.call(document.querySelectorAll('#ops details'));\n"
  "q.addEventListener('input',function(){"
  "var words=q.value.toLowerCase().split(/\\s+/).filter(Boolean),all=0;\n"
  "folds.forEach(function(d){var n=0;"
  "[].forEach.call(d.querySelectorAll('tr.row'),function(r){"
  "var t=r.textContent.toLowerCase(),"
  "ok=words.every(function(w){return t.indexOf(w)>=0});"
  "r.hidden=!ok;if(ok)n++});\n"
  "all+=n;d.hidden=words.length>0&&n===0;if(words.length)d.open=n>0});\n"
  "found.textContent=words.length?all+' found':''})})();\n</script>\n";

static void var_cell (const DtVarNames *names, int n, const DtRecVar *v,
                      DtBuf *t, DtBuf *b) {
  int i;
  dt_buf_add(b, "<td>");
  for (i = 0; i < n; i++) {
    const char *name = v[i].none ? NULL : dt_var_name(names, &v[i]);
    if (i) dt_buf_add(b, "<br>");
    if (name) {
      dt_buf_add(b, "<b>");
      dt_html_text(b, name);
      dt_buf_add(b, "</b> ");
    }
    dt_buf_clear(t);
    if (v[i].none) dt_buf_add(t, "None");
    else if (v[i].spec) dt_spec_print(v[i].spec, t);
    else { dt_buf_add(t, "t: "); dt_meta_print(v[i].meta, t); }
    dt_html_text(b, dt_buf_str(t));
  }
  dt_buf_add(b, "</td>");
}

static void operator_row (const DtRecOp *r, const DtVarNames *names, DtBuf *t,
                          DtBuf *b) {
  dt_buf_add(b, "<tr class=\"row\"><td class=\"n\">");
  if (r->seq > 0) dt_buf_addf(b, "%lld", (long long)r->seq);
  dt_buf_add(b, "</td><td>");
  dt_html_text(b, r->label);
  if (r->backward) dt_buf_add(b, " <span class=\"dim\">backward</span>");
  if (r->module && *r->module) {
    dt_buf_add(b, " <span class=\"dim\">");
    dt_html_text(b, r->module);
    dt_buf_add(b, "</span>");
  }
  if (r->error) {
    dt_buf_add(b, "<br><span style=\"color:var(--bad)\">");
    dt_html_text_n(b, r->error, strcspn(r->error, "\n"));
    dt_buf_add(b, "</span>");
  }
  dt_buf_add(b, "</td>");
  var_cell(names, r->nin, r->in, t, b);
  var_cell(names, r->nout, r->out, t, b);
  dt_buf_clear(t);
  dt_record_print_colls(r, t);
  dt_buf_add(b, "<td>");
  dt_html_text(b, dt_buf_str(t));
  dt_buf_add(b, "</td><td>");
  dt_html_place(b, r->file, r->line);
  dt_buf_add(b, "</td></tr>\n");
}

/* "#1 to #100, 12 backward, 3 with communication". */
static void fold_head (const DtPage *p, int newest, int oldest, DtBuf *b) {
  const DtRecOp *first = dt_record_at(p->d, oldest);
  const DtRecOp *last = dt_record_at(p->d, newest);
  int i, backward = 0, comm = 0, failed = 0;
  for (i = newest; i <= oldest; i++) {
    const DtRecOp *r = dt_record_at(p->d, i);
    backward += r->backward;
    comm += r->ncoll > 0;
    failed += r->error != NULL;
  }
  dt_buf_addf(b, "<summary>#%lld to #%lld", (long long)first->seq,
              (long long)last->seq);
  if (backward) dt_buf_addf(b, ", %d backward", backward);
  if (comm) dt_buf_addf(b, ", %d with communication", comm);
  if (failed) dt_buf_addf(b, ", %d failed", failed);
  dt_buf_add(b, "</summary>");
}

static void fold (const DtPage *p, const DtVarNames *names, int newest,
                  int oldest, DtBuf *t, DtBuf *b) {
  dt_buf_add(b, newest == 0 ? "<details open>" : "<details>");
  fold_head(p, newest, oldest, b);
  dt_buf_add(b, "<div class=\"scroll\"><table class=\"mono\"><tr>"
             "<th class=\"n\">#</th><th>operator</th><th>takes</th>"
             "<th>gives</th><th>communication</th><th>line</th></tr>\n");
  for (int i = oldest; i >= newest; i--)
    operator_row(dt_record_at(p->d, i), names, t, b);
  dt_buf_add(b, "</table></div></details>\n");
}

DtStatus dt_html_operators (const DtPage *p, const DtVarNames *names,
                            DtBuf *b) {
  DtBuf t;
  int n = p->d->rec.n;
  dt_buf_addf(b, "<h2 id=\"operators\">Operators</h2>\n<p class=\"dim\">%d of "
              "%lld.</p>\n", n, (long long)p->d->rec.total);
  dt_buf_add(b, search);
  dt_buf_add(b, "<div id=\"ops\">\n");
  dt_buf_init(&t, p->cx);
  for (int oldest = n - 1; oldest >= 0; oldest -= FOLD)
    fold(p, names, oldest >= FOLD ? oldest - FOLD + 1 : 0, oldest, &t, b);
  dt_buf_add(b, "</div>\n");
  dt_buf_add(b, script);
  DtStatus st = dt_buf_ok(&t);
  dt_buf_fini(&t);
  return st;
}

/* --- parameters --- */

static void parameter_row (const DtPageParam *q, DtBuf *t, DtBuf *b) {
  const DtVar *v = q->var;
  const DtMeta *own = &v->local->m;
  dt_buf_add(b, "<tr><td>");
  dt_html_text(b, q->name);
  dt_buf_add(b, "</td><td>");
  dt_buf_clear(t);
  if (v->spec) dt_spec_print(v->spec, t);
  else { dt_buf_add(t, "t: "); dt_meta_print(own, t); }
  dt_html_text(b, dt_buf_str(t));
  dt_buf_add(b, "</td><td>");
  dt_buf_clear(t);
  if (v->spec) dt_mesh_print(v->spec->mesh, t);
  dt_html_text(b, dt_buf_str(t));
  dt_buf_add(b, "</td><td>");
  dt_buf_clear(t);
  dt_buf_add_i64s(t, own->shape, own->ndim);
  dt_html_text(b, dt_buf_str(t));
  dt_buf_addf(b, "</td><td class=\"n\">%lld</td><td>", (long long)dt_meta_nbytes(own));
  dt_buf_clear(t);
  if (v->grad == NULL) dt_buf_add(t, "none");
  else if (v->grad->spec)
    dt_pls_print(v->grad->spec->pl, v->grad->spec->npl, t);
  else dt_buf_add(t, "plain");
  dt_html_text(b, dt_buf_str(t));
  dt_buf_add(b, "</td></tr>\n");
}

void dt_html_parameters (const DtPage *p, DtBuf *b) {
  int64_t bytes = 0;
  DtBuf t;
  int i, n = 0;
  for (i = 0; i < p->nparam; i++) {
    if (p->param[i].variable) continue;
    bytes += dt_meta_nbytes(&p->param[i].var->local->m);
    n++;
  }
  dt_buf_add(b, "<h2 id=\"parameters\">Parameters</h2>\n");
  if (n == 0) {
    dt_buf_add(b, "<p>No variable held a module.</p>\n");
    return;
  }
  dt_buf_addf(b, "<p class=\"dim\">%d, %lld bytes on rank 0.</p>\n<details%s>"
              "<summary>by module</summary><div class=\"scroll\">"
              "<table class=\"mono\"><tr><th>parameter</th><th>layout</th>"
              "<th>mesh</th><th>on rank 0</th><th class=\"n\">bytes</th>"
              "<th>gradient</th></tr>\n", n, (long long)bytes,
              n <= FOLD ? " open" : "");
  dt_buf_init(&t, p->cx);
  for (i = 0; i < p->nparam; i++)
    if (!p->param[i].variable) parameter_row(&p->param[i], &t, b);
  if (t.oom) b->oom = true;
  dt_buf_fini(&t);
  dt_buf_add(b, "</table></div></details>\n");
}
