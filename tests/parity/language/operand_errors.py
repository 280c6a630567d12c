"""What is said of operands that no sign takes: of their own classes, and with the
sign that was written; what a method of the program's raises stays as it is."""
class I(int): pass
class L(list): pass
class A:
    def __add__(self, other): return 1 + other
for code in ("x = 1; x += 'a'", "x = 1; x |= 2.0", "x = 2; x **= 'a'", "2 ** 'a'",
             "x = I(3) + 'a'", "x = I(3); x -= 'b'", "x = A(); x += 'q'", "A() + []",
             "x = 'a'; x += 1", "x = [1]; x -= 1", "1.5 | 2", "I(1) | 2.5",
             "True | 2.5", "x = L([1]); x -= 1", "I(2) + L([1])", "x = None; x += 1",
             "x = {}; x |= 3", "x = 1j; x //= 2"):
    try:
        exec(code)
        print(code, "runs")
    except TypeError as e:
        print(code, "->", e)
