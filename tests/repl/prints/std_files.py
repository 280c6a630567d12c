# SPDX-License-Identifier: MIT
import csv, os, glob, shutil, tempfile, pathlib, io
from pathlib import Path
base = tempfile.mkdtemp()
def rel(x): return str(x)[len(base) + 1:]
d = Path(base) / "out"; d.mkdir(); (d / "sub").mkdir()
p = d / "m.csv"
with p.open("w", newline="") as f:
    w = csv.writer(f); w.writerow(["step", "loss"]); w.writerows([(1, 0.5), (2, 'a,"b"')])
print(repr(p.read_text()), repr(p.read_bytes()))
with open(p, newline="") as f:
    for row in csv.DictReader(f): print(row)
s = io.StringIO(); dw = csv.DictWriter(s, fieldnames=["a", "b"], extrasaction="ignore"); dw.writeheader(); dw.writerow({"a": 1, "b": None, "c": 3}); print(repr(s.getvalue()))
print(list(csv.reader(["a;b;'c;d'", "", "x; y;'it''s'"], delimiter=";", quotechar="'")))
try: csv.DictWriter(s, ["a"]).writerow({"z": 1})
except ValueError as e: print(e)
(d / "sub" / "x.txt").write_text("hi\nyo\n"); (d / "sub" / "b.bin").write_bytes(b"\x00\x01")
print(sorted(map(rel, glob.glob(base + "/out/*.csv"))), sorted(map(rel, glob.glob(base + "/out/**/*.txt", recursive=True))), glob.glob("*.nothing"))
print(p.stat().st_size, os.path.join("", "a"), os.path.join("a/", "b"), os.path.join("a", "/b"))
for root, dirs, files in os.walk(d): print(rel(root), dirs, sorted(files))
shutil.copy(p, d / "c.csv"); shutil.move(str(d / "c.csv"), str(d / "e.csv")); print(sorted(os.listdir(d)))
shutil.copytree(d / "sub", d / "two", ignore=shutil.ignore_patterns("*.bin")); print(os.listdir(d / "two"))
os.rename(d / "e.csv", d / "f.csv"); print(sorted(os.listdir(d)), open(d / "f.csv").readline())
with open(d / "t", "w") as f: f.writelines(["a\n", "b\n"])
with open(d / "t") as f: print(next(f), f.read(), f.readable(), f.writable())
with open(d / "t") as f: print([line for line in f])
shutil.rmtree(d); print(d.exists())
