# SPDX-License-Identifier: MIT
import io
import configparser
c = configparser.ConfigParser(); c.read_string("[DEFAULT]\nbase = /data\n[train]\nlr = 0.1 ; c\npath = %(base)s/x\nflag = yes\nmulti =\n  a\n\n  b\n[eval]\nk: 5\n; note\n")
print(c.sections(), c["train"]["path"], c["train"]["lr"], c.getboolean("train", "flag"), c["eval"].getint("k"), c.get("eval", "none", fallback="fb"), dict(c["eval"]), c.has_option("train", "base"), repr(c["train"]["multi"]), "train" in c, list(c), len(c), c["eval"], c.items("eval"), c.options("train"))
for f in (lambda: c["nope"], lambda: c.get("train", "zz"), lambda: c.get("q", "zz"), lambda: c.add_section("train"), lambda: c.read_string("x=1"), lambda: c.read_string("[a]\nb\n"), lambda: c.set("train", "a", 5), lambda: c.read_string("[a]\nx=1\nx=2"), lambda: c.read_string("[a]\n[a]"), lambda: c.getint("train", "path"), lambda: c.set("train", "z", "%(nope)s") or c.get("train", "z"), lambda: c.set("train", "z", "100%"), lambda: c.getboolean("train", "path"), lambda: c["train"]["qq"], lambda: c.set("nos", "a", "b")):
    try: print(f())
    except Exception as e: print(type(e).__name__, e, e.args)
c["new"] = {"a": "1", "B": "2\n3"}; o = io.StringIO(); c.write(o); print(o.getvalue()); del c["new"]; print(c.sections(), c.remove_option("eval", "k"), c["eval"].get("k"), c["eval"].getint("k", 7), c.defaults())
d = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation(), inline_comment_prefixes=("#",), allow_no_value=True); d.read_string("[p]\nhome=/h # c\n[q]\nx=${p:home}/y\nz=${x}!\nflag\n"); print(d["q"]["z"], d["q"]["flag"], dict(d["p"]), d.read("nofile"))
d = configparser.RawConfigParser(); d.optionxform = str; d.read_dict({"A": {"Key": 1, "b": None}}); print(dict(d["A"]), d.items("A"))

# References that are wrong, of both signs, and values that may not be set.
for kind, text in (
        (configparser.BasicInterpolation(), "[a]\nx=1\ny=%(x)s-%%\nz=%(w)s\nq=%x\n"
         "r=%(x\nl=%(l)s\n"),
        (configparser.ExtendedInterpolation(), "[a]\nx=1\ny=${x}-$$-${b:k}\nz=${w}\n"
         "q=$x\nr=${x\nl=${l}\nm=${a:b:c}tail\n[b]\nk=${j}\nj=7\n")):
    p = configparser.ConfigParser(interpolation=kind)
    p.read_string(text)
    for option in p.options("a"):
        try:
            print(option, p.get("a", option))
        except configparser.Error as e:
            print(type(e).__name__, e)
    for value in ("%(x)s", "%", "$", "${x}", "a$$", "b%%"):
        try:
            p.set("a", "x", value)
            print("set", value)
        except ValueError as e:
            print(e)
