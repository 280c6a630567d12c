# Where the text of an eval is no expression: the words, and their place in it.
for text in ("0b102", "1__0", "1_", "0x", "1_.5", "0_7", "0o8", "1_j", "5__5.0", "01",
             "x = 1", "a b", "lambda: =", "(1, 2", "[1, 2))"):
    try:
        print(text, eval(text))
    except SyntaxError as e:
        print(repr(text), e.msg.split(":")[0], e.lineno, e.offset, repr(e.text))
