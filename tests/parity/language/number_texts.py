# SPDX-License-Identifier: MIT
# Format specs, %-conversions, rounding, and numbers as texts and of texts.
nan=float("nan"); inf=float("inf")
for spec in ("", ".4", ".3", ".0", "g", ".4g", "F", "E", "G", ".2F", "n", "%", ".1%", "+", " ", "-", "e", "+.3e", "010.2f", ">10", "<10.1f", "^10", "=10", "*^12.3f", ",", ",.2f", "_.1f", "#.0f", "#g", "z.1f", ".10g", "012,.2f", "#.3", "+08.3g", "<+7.2f", ".15g", ".17g"):
    row=[]
    for v in (1234.56, 0.0, -0.0, 1e16, 1.5e-7, nan, inf, -inf, 123456789.123, -3.0, 1e100, 0.1, 2.5):
        try: row.append(format(v,spec))
        except ValueError as e: row.append(str(e))
    print(spec, row)
for spec in ("d","5d","<5d","^+7d","x","#x","#X","o","#o","b","#010b","08d","+d"," d",",","_","_x","_b","c","e","f",".2f","g","%","n","s",".3d","=+6d","*=6d","z","#_b","010,d","<010d",",x"):
    row=[]
    for v in (0, 5, -5, 255, 1234567, -10**20, True):
        try: row.append(format(v,spec))
        except (ValueError,OverflowError) as e: row.append(str(e))
    print(spec, row)
for spec in ("","s","10","<10","^10",">10",".2","*^7.3","05","d","=5",",","x^5s","10.3s","<<5","}>5"):
    try: print(repr(spec), repr(format("abc",spec)))
    except ValueError as e: print(spec, e)
for spec in ("",".2f","10.1f","e","+","<20","g",",.1f","010"):
    try: print(spec, format(3.5-2j,spec), format(complex(0,1),spec))
    except ValueError as e: print(spec, e)
for t,a in (("%d",3.7),("%i",-3),("%u",5),("%5.2f",3.14159),("%-8s|","ab"),("%+d",3),("% d",3),("%05d",-42),("%x",255),("%#x",255),("%X",255),("%o",8),("%#o",8),("%e",12345.678),("%g",1e-5),("%G",1e20),("%c",65),("%c","z"),("%r","a"),("%a","é"),("%s",None),("%%",()),("%.3s","abcdef"),("%*d",(5,3)),("%.*f",(2,3.14159)),("%-*d|",(4,7)),("%(a)s",{"a":1}),("%s %s",("a",[1])),("%#.3g",1.0),("%.0f",0.5),("%.0f",1.5),("%.0e",15),("%F",nan),("%f",inf),("%d",10**25),("%x",-255),("%.3d",5),("%+.2e",0.0),("%s",(1,)),("%d","a"),("%c","ab"),("%c",-1),("%x",1.5),("%q",1),("%",1),("%s",()),("%s%s","a"),("%(a)s",3),("%d",True),("%i",3.99),("%ld",3),("%hs","x")):
    try: print(t, repr(t % a))
    except Exception as e: print(t, type(e).__name__, e)
print("{:>{w}}|{!r}|{0}".format(1,w=3) if 0 else "{:>{w}}".format(1,w=3), "{0[1]} {1.real} {2[k]}".format([1,2],3,{"k":4}), "{:{}{}}".format(1,">",4), "{!s:>5}".format("a"), "{!a}".format("é"), "{{}}".format(), "{a[0]}".format(a="xy"), "{0.imag}".format(3j), "{:%Y}".format(__import__("datetime").date(2024,1,1)))
for bad in ("{","}","{0}{}","{}{0}","{a","{!z}","{0[}","{0!}","{:d}","{0.}","{0]}","{]}","{x!r:}}"):
    try: print(bad, bad.format("a",x=1))
    except Exception as e: print(bad, type(e).__name__, e)
for x,n in ((2.675,2),(1.005,2),(0.5,0),(1.5,0),(-0.5,0),(12345.678,-2),(1e300,2),(1.5,300),(1.5,-300),(5e15+0.5,0),(25,-1),(35,-1),(-25,-1),(10**30+5,-1),(123,5),(1e22,-21),(0.15,1),(0.25,1),(0.35,1),(2.5,None)):
    print(x,n,round(x,n) if n is not None else round(x))
for v in (1e16,1e15,123456789012345678.0,1e-4,1e-5,0.1,1/3,2/3,1e23,9007199254740993.0,5e-324,1.7976931348623157e308,100.0,-0.0,1e21,1.1e-7,3.0e10): print(repr(v), str(v), v.hex(), v.as_integer_ratio() if v<1e25 and v>1e-10 else "")
for s in (" 1.5 ","1_000.5","1e5","inf","-Infinity","nan","+.5","1.","0x1","1__0","","1e","١.٥","1_","_1",".","1.5f"):
    try: print(repr(s), float(s))
    except ValueError as e: print(s, e)
for s,b in (("12",10),(" -12 ",10),("0x1f",16),("0x1f",0),("0b11",0),("0o17",0),("1_000",10),("z",36),("08",0),("",10),("1 2",10),("+5",10),("0_7",0),("٣",10),("0b2",0),("-0x1F",0),("1__2",10)):
    try: print(s,b,int(s,b))
    except ValueError as e: print(e)
print(divmod(7.5,2), divmod(-7.5,2), -7.5//2, -7.5%2, 7.5%-2, 5%-3.0, 0.0%-1, -0.0%1, inf%2 if 0 else "", 3.0//0.1, 1e20%3, (-1)**0.5, 2**0.5, (-8)**(1/3), 4**-1, 0.0**0, 10**-2, (2+3j)**2, abs(3+4j), (1+2j)*(3-1j), (1+2j)/(3-1j), complex("1+2j"), complex(1,-0.0), -1j, 1j**2, complex(0,inf))
print(7//2,-7//2,7//-2,-7//-2,7%-2,-7%2, (-7)%-2, 2**64//3, -(2**64)//3, (2**64)%-7, 1<<70, (1<<70)>>68, -1>>3, ~5, 5&-2, 5|-8, 5^-1, -(2**65)&(2**66-1), (2**100).bit_length(), int(1e20), int(-2.9), 10**18*10**18, 123456789**5%1000007, (-2)**3, 2**-2, True+True, True<<3, int.from_bytes(b"\xff\xfe","big",signed=True), (-2).to_bytes(2,"little",signed=True), 3 .__add__(4), (3).__truediv__(2), (255).__format__("x"))
try: (300).to_bytes(1,"big")
except OverflowError as e: print(e)
try: print(nan==nan, nan!=nan, nan<1, inf>1e308, inf-inf, inf*0, max(nan,1), min(1,nan), sorted([3,nan,1]), {nan:1}, hash(inf), hash(1.0)==hash(1), hash(2**61-1), hash(-1), hash(1.5), hash("a")==hash("a"), hash((1,2))==hash((1,2)))
except Exception as e: print(e)
for w in range(0,16):
    for v in (0,7,123,1234,12345,123456,1234567,-5,-1234,-123456):
        print(format(v,"0%d,"%w), format(v,"0%d_"%w), format(v,"0=+%d,"%w), format(v/8,"0%d,.2f"%w), format(v,"0%d_x"%w), format(v,"#0%d_b"%w), format(v,"0%d,.1%%"%w))
