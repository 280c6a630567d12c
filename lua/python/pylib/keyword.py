# SPDX-License-Identifier: MIT
"""keyword: the words of the language."""

import _functions

kwlist = list(_functions.keywords)
softkwlist = ["_", "case", "match"]
iskeyword = frozenset(kwlist).__contains__
issoftkeyword = frozenset(softkwlist).__contains__
