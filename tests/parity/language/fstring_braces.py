# SPDX-License-Identifier: MIT
# What is wrong inside the braces of f-strings, and the letters before strings.
for s in ("f'{}'", "f'{ }'", "f'{!r}'", "f'{:2}'", "f'{=}'", "f'{3:s'", "f'{3'", "f'{(3}'", "f'{3)}'", "f'{a[)]}'", "f'{\"a}'", "f'{3!q}'", "f'{\"\\n\"}'", "uf''", "ub'a'", "bf''", "f'{1}' f'{2!r}'", "f'{ {1: 2}[1] }'", "f'{3:{4}}'", "f'{x!r:>{5}}'", "rf'\\d{1}'", "f'{3 = }'", "f'a{{b}}'", "F'{1}'", "bR'\\n'", "Rb'x'", "f'{1!=2}'", "f'{1==1}'"):
    try: print(s, repr(eval(s, {'x': 'q', 'a': 1, 'b': 2})))
    except SyntaxError as e: print(s, e.msg)
