/* SPDX-License-Identifier: MIT
** parity/called.c: wrong calls against values/shapes_errors.jsonl: torch.X,
** torch.Tensor.X and aten.X by their names, the parser choosing the overload.
** What is called through a library function is that library's to check. */
#include "parity/values_int.h"

const DtPacket *dt_packet_of (DtParity *p, DtSession *s, const char *fn) {
  static const char *const prefix[] = { "torch.Tensor.", "torch.", "aten." };
  for (int i = 0; i < 3; i++) {
    size_t n = strlen(prefix[i]);
    if (strncmp(fn, prefix[i], n) == 0 && strchr(fn + n, '.') == NULL)
      return dt_registry_packet(p->cx, s->registry, "aten", fn + n);
  }
  return NULL;
}

bool dt_check_called (DtParity *p, const json_t *o) {
  const char *fn = dt_jstr(o, "fn");
  const json_t *error = json_object_get(o, "error");
  const DtOpDef *op = NULL;
  DtVCall v;
  memset(&v, 0, sizeof v);
  v.s = dt_parity_session(p, 1, 0);
  if (v.s == NULL)
    return false;
  if (strncmp(fn, "aten.", 5) == 0)
    op = dt_registry_find(p->cx, v.s->registry, fn);
  const DtPacket *packet = op == NULL ? dt_packet_of(p, v.s, fn) : NULL;
  if (op == NULL && packet == NULL) {
    if (strncmp(fn, "torch.nn", 8) != 0 && strncmp(fn, "py", 2) != 0)
      p->unknown = fn;
    return dt_parity_skip(p);
  }
  v.st = op != NULL ? dt_jcall(p, o, op, &v.call)
                    : dt_jcall_packet(p, o, packet, &v.call);
  if (v.st == DT_OK)
    v.st = dt_jvars(p, v.s, &v.call, NULL, &v.vars);
  dt_vcall_run(&v);
  bool ok = error != NULL ? dt_same_error(p, error, v.st)
                          : dt_no_error(p, v.st);
  dt_vcall_fini(&v);
  return ok;
}
