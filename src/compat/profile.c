/* SPDX-License-Identifier: MIT
** compat/profile.c: release and device profiles looked up in their tables.
**
** No algorithm depends on a release number: it asks a switch.  The tables
** are the .def files; this file only reads them. */
#include "compat/profile.h"

#include <stdlib.h>
#include <string.h>

static const DtSwitchInfo switch_infos[DT_NSWITCHES] = {
#define X(name, since, until, on, off, doc, source) \
  [DT_SW_##name] = { #name, doc, source, since, until, on, off },
#include "compat/profiles.def"
#undef X
};

static const DtDeviceInfo device_infos[] = {
#define X(name, device, sdpa, own, per_host, note) \
  { name, device, sdpa, own, per_host, note },
#include "compat/devices.def"
#undef X
};
enum { NDEVICES = sizeof device_infos / sizeof device_infos[0] };

typedef struct OpSpan { const char *name; int first, last; } OpSpan;

static const OpSpan op_spans[] = {
#define X(name, first, last) { name, first, last },
#include "compat/ops_by_release.def"
#undef X
};
enum { NSPANS = sizeof op_spans / sizeof op_spans[0] };

static int by_name (const void *key, const void *row) {
  return strcmp((const char *)key, ((const OpSpan *)row)->name);
}

bool dt_profile_has_op (const char *name, int release) {
  const OpSpan *s;
  if (strncmp(name, "aten.", 5) != 0 && strncmp(name, "prims.", 6) != 0)
    return true;
  s = (const OpSpan *)bsearch(name, op_spans, NSPANS, sizeof op_spans[0],
                              by_name);
  return s != NULL && release >= s->first && release <= s->last;
}

/* ---- releases and devices ---- */

static const char *const release_names[] = {
  "2.4", "2.5", "2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13",
  "2.14", "2.15"
};
enum { NRELEASES = sizeof release_names / sizeof release_names[0] };
_Static_assert(NRELEASES == DT_LAST_RELEASE - DT_FIRST_RELEASE + 1,
               "a name for every release");

const DtSwitchInfo *dt_switch_info (DtSwitch s) {
  return (unsigned)s < DT_NSWITCHES ? &switch_infos[s] : NULL;
}

int dt_switch_in (DtSwitch s, int release) {
  const DtSwitchInfo *i = &switch_infos[s];
  return release >= i->since && release <= i->until ? i->on : i->off;
}

/* "2.6", "torch-2.6", "2.6.0", "v2.6.1+cpu" to 206; 0 when it is none. */
static int release_number (const char *text) {
  static const char *const prefixes[] = { "torch-", "torch ", "torch", "v" };
  const char *s = text;
  char *end;
  long major, minor;
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    size_t n = strlen(prefixes[i]);
    if (strncmp(s, prefixes[i], n) == 0) {
      s += n;
      break;
    }
  }
  if (*s < '0' || *s > '9') return 0;
  major = strtol(s, &end, 10);
  if (*end != '.' || end[1] < '0' || end[1] > '9') return 0;
  minor = strtol(end + 1, &end, 10);
  if (*end != 0 && *end != '.' && *end != '+') return 0;
  if (major != 2 || minor < 0 || minor > 99) return 0;
  return (int)(major * 100 + minor);
}

static DtStatus unknown (DtCtx *cx, const char *what, const char *text,
                         const char *const *names, int n) {
  DtStatus st;
  DtBuf b;
  dt_buf_init(&b, cx);
  for (int i = 0; i < n; i++)
    dt_buf_addf(&b, "%s%s", i ? ", " : "", names[i]);
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_raise(cx, DT_E_KEY, "unknown %s \"%s\"; known: %s", what, text,
                  dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static const DtDeviceInfo *device_find (const char *name) {
  size_t n = strcspn(name, ":");
  for (int i = 0; i < NDEVICES; i++)
    if (strlen(device_infos[i].name) == n &&
        strncmp(device_infos[i].name, name, n) == 0)
      return &device_infos[i];
  return NULL;
}

DtStatus dt_profile_init (DtCtx *cx, DtProfile *p, const char *release,
                          const char *device) {
  const char *names[NDEVICES];
  const char *rel = release ? release : DT_DEFAULT_RELEASE_NAME;
  const char *dev = device ? device : device_infos[0].name;
  const DtDeviceInfo *info = device_find(dev);
  int number = release_number(rel);
  if (number < DT_FIRST_RELEASE || number > DT_LAST_RELEASE)
    return unknown(cx, "release", rel, release_names, NRELEASES);
  if (info == NULL) {
    for (int i = 0; i < NDEVICES; i++) names[i] = device_infos[i].name;
    return unknown(cx, "device", dev, names, NDEVICES);
  }
  p->release = number;
  p->device = info;
  for (int i = 0; i < DT_NSWITCHES; i++)
    p->sw[i] = dt_switch_in((DtSwitch)i, number);
  return DT_OK;
}
