# SPDX-License-Identifier: MIT
"""test.typinganndata: modules full of annotations, of which CPython's tests
import some by their side.  Those have metaclasses, which are refused."""
