# SPDX-License-Identifier: MIT
# Paths, JSON, locks: pathlib, json, threading.
from pathlib import Path, PurePath
import os, tempfile, threading
p = Path("a") / "b" / "../c.tar.gz"
print(p, repr(p), p.name, p.stem, p.suffix, p.suffixes, p.parent, p.parts)
print("x" / p, p.with_suffix(".txt"), p.with_name("z"), Path("/a/b").is_absolute(), Path("/a/b/c").relative_to("/a"))
print(list(Path("/a/b/c").parents), Path("a//b/./c"), Path(), Path(""), Path(".hidden").suffix, Path("x.").suffix)
print(p == Path("a/b/../c.tar.gz"), hash(p) == hash(Path(str(p))), sorted([Path("b"), Path("a/z"), Path("a")]))
d = Path(tempfile.mkdtemp())
(d / "sub").mkdir()
(d / "sub" / "one.txt").write_text("hello\n")
(d / "two.txt").write_bytes(b"ab")
print(sorted(q.name for q in d.iterdir()), [q.relative_to(d).as_posix() for q in sorted(d.rglob("*.txt"))])
print([q.name for q in d.glob("*.txt")], (d / "sub/one.txt").read_text(), (d / "two.txt").read_bytes(), (d/"no").exists())
with open(d / "three", "w") as f:
    f.write("3")
print(os.path.exists(d / "three"), os.path.join(d, "q") == str(d / "q"), os.fspath(p), os.path.basename(p))
try:
    (d / "sub").mkdir()
except FileExistsError as e:
    print("exists", type(e).__name__)
(d / "m" / "n").mkdir(parents=True, exist_ok=True)
print((d / "m" / "n").is_dir(), isinstance(p, PurePath), isinstance(p, os.PathLike))
(d / "two.txt").unlink(); (d / "two.txt").unlink(missing_ok=True)
print(f"{p}", "%s" % p, {p: 1}[Path("a/b/../c.tar.gz")], p.match("*.gz"), Path("a/b.py").match("a/*.py"))
try:
    Path(3)
except TypeError as e:
    print(e)
try:
    Path("a") / 3
except TypeError as e:
    print(e)
try:
    Path("/a").relative_to("/b")
except ValueError as e:
    print(e)
l = threading.Lock()
with l:
    print(l.locked(), l.acquire(blocking=False))
print(l.locked(), threading.current_thread().name)
r = threading.RLock()
with r:
    with r:
        print("nested")
e = threading.Event(); e.set(); print(e.is_set(), e.wait())
import io, json
print(json.dumps({"b": [1, 2.5, None, True], "a": {"x": "é\n\""}}, indent=2, sort_keys=True))
print(json.dumps([1, [2, 3]], separators=(",", ":")), json.dumps("é", ensure_ascii=False), json.dumps({1: 2, None: 3, True: 4}))
print(json.loads('{"a": [1, 2.0, "\\u00e9", null, false], "n": -1e3}'))
try:
    json.loads("{bad")
except json.JSONDecodeError as e:
    print(e, e.pos, e.lineno, isinstance(e, ValueError))
try:
    json.dumps({"a": {1}})
except TypeError as e:
    print(e)
print(json.dumps({"t": (1, 2)}, default=str), json.dumps(float("inf")), json.dumps({}), json.dumps([]), json.dumps([], indent=1))
f = io.StringIO(); json.dump({"q": 1}, f, indent=4); print(f.getvalue())
class E(json.JSONEncoder):
    def default(self, o):
        return "E:" + type(o).__name__
print(json.dumps({"a": {1}}, cls=E))
