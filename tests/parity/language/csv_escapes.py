# SPDX-License-Identifier: MIT
# csv: what is escaped is not quoted for that.
import csv, io
for row in (['a', 'say "hi"', 'x,y', 'p\\q', 'line\n']):
    for kw in ({"doublequote": False, "escapechar": "\\"}, {"escapechar": "\\"}, {"quoting": csv.QUOTE_ALL, "doublequote": False, "escapechar": "\\"}, {"quoting": csv.QUOTE_NONE, "escapechar": "\\"}):
        o = io.StringIO(); csv.writer(o, **kw).writerow([row, 1]); print(kw, repr(o.getvalue()))
