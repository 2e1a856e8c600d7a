/** Explanations of E5xxx and W5xxx: operands, shapes, subscripts, dot, masks, conversions. */
import { type Explanation, file, inside } from "./example.ts";

export const EXPRESSIONS = {
  E5001: inside(
    "Variables live in registers and have no address. `&*p` is `p`.",
    "int *p = &n;",
    "int *p = I;",
  ),
  E5002: inside(
    "A tile of equal values is declared with that value, or made by `zeros`.",
    "*X = ((float){ 1 });",
    "*X = (float) 1;",
  ),
  E5003: inside(
    "The text does not match the grammar here. The message lists what is allowed. A missing `;` is reported at the next token.",
    "int a = n\nint b = a;",
    "int a = n;\nint b = a;",
  ),
  E5010: inside(
    "Two shapes broadcast if, counted from the last axis, each pair of extents is equal or one of them is 1. `newaxis` inserts an axis of extent 1.",
    "int a[16] = 0 ... 16;\nint b[32] = 0 ... 32;\nint c[16, 32] = a + b;",
    "int a[16] = 0 ... 16;\nint b[32] = 0 ... 32;\nint c[16, 32] = a[:, newaxis] + b[newaxis, :];",
  ),
  E5011: inside(
    "A value broadcasts to the shape it is assigned to along axes of extent 1 and new leading axes. It is never cut.",
    "float t[16] = 0;\nfloat s[32] = t;",
    "float t[16] = 0;\nfloat s[32, 16] = t;",
  ),
  E5012: inside(
    "A scalar is required, and the value is a tile of several elements. Reduce the tile: `t[+]`, `t[max]`.",
    "float t[16] = *(X + 0 ... 16);\n*X = sqrt((float) t);",
    "float t[16] = *(X + 0 ... 16);\n*X = sqrt(t[+]);",
  ),
  E5020: inside(
    "Pointer arithmetic has only `+` and `-`.",
    "float *p = X * 2;",
    "float *p = X + 2;",
  ),
  E5021: inside(
    "`%` takes integers. `fmod` is the remainder of floats.",
    "*X = *X % 2.0f;",
    "*X = fmod(*X, 2.0f);",
  ),
  E5022: inside("An integer minus a pointer has no meaning.", "int *p = 4 - I;", "int *p = I - 4;"),
  E5023: inside(
    "The difference of two pointers is a number of elements, so both must point to the same type.",
    "long d = X - I;",
    "long d = X - (float*) I;",
  ),
  E5024: inside(
    "Bit operations take integers. `bitcast` reinterprets the bits of a float as an integer.",
    "*I = *X & 1;",
    "*I = bitcast<int>(*X) & 1;",
  ),
  E5025: inside(
    "Numbers are compared with numbers, pointers with pointers of the same type or with 0.",
    "bool b = X < I;",
    "bool b = X < (float*) I;",
  ),
  E5101: inside(
    "A range has two bounds.",
    "int r[16] = 0 ... 8 ... 16;",
    "int r[16] = 0 ... 16;",
  ),
  E5103: inside(
    "The length of a range is an extent of a shape and must be a compile-time constant. Add a variable base to the range.",
    "int r[16] = n ... n + 16;",
    "int r[16] = n + 0 ... 16;",
  ),
  E5104: inside(
    "The upper bound is exclusive and must be larger than the lower bound.",
    "int r[16] = 16 ... 0;",
    "int r[16] = 15 - (0 ... 16);",
  ),
  E5110: inside(
    "Brackets rearrange the axes of a tile. Memory is read through pointers: `*(p + i)`.",
    "*X = X[:];",
    "*X = *(X + 1);",
  ),
  E5111: inside(
    "The subscript has one item per axis of the tile: `:` keeps the axis, `+` or `max` reduces it. Items `newaxis` are extra.",
    "float t[16, 16] = 0;\nfloat s[16] = t[+];",
    "float t[16, 16] = 0;\nfloat s[16] = t[:, +];",
  ),
  E5112: inside(
    "`^k` names the source axis for this position. All items have this form, and each axis appears once.",
    "float t[16, 32] = 0;\nfloat s[32, 16] = t[^1, :];",
    "float t[16, 32] = 0;\nfloat s[32, 16] = t[^1, ^0];",
  ),
  E5113: inside(
    "The elements of a tile are distributed over threads and cannot be indexed. Load the element from memory, reduce with a mask, or use `gather`.",
    "int t[16] = 0 ... 16;\n*I = t[3];",
    "int t[16] = 0 ... 16;\n*I = (t == 3 ? t : 0)[+];",
  ),
  E5114: inside(
    "Subtraction depends on the order of its operands, and a reduction has no order. Negate, then add.",
    "int t[16] = 0 ... 16;\n*I = t[-];",
    "int t[16] = 0 ... 16;\n*I = (0 - t)[+];",
  ),
  E5115: inside(
    "Reductions are `+`, `*`, `&`, `|`, `max`, `min`, `argmax`, `argmin`, `xor`, `any`, `all`.",
    "int t[16] = 0 ... 16;\n*I = t[sum];",
    "int t[16] = 0 ... 16;\n*I = t[+];",
  ),
  E5116: inside(
    "Addresses cannot be added and have no meaningful order. Reduce offsets, or the loaded values.",
    "float *p[16] = X + 0 ... 16;\nfloat *q = p[max];",
    "float *p[16] = X + 0 ... 16;\n*X = (*p)[max];",
  ),
  E5120: inside(
    "`@` multiplies matrices: both operands have the same number of axes, at least two.",
    "float a[16, 16] = 0;\nfloat b[16] = 0;\nfloat c[16] = a @ b;",
    "float a[16, 16] = 0;\nfloat b[16] = 0;\nfloat c[16, 1] = a @ b[:, newaxis];",
  ),
  E5121: inside(
    "The number of columns of the left operand equals the number of rows of the right one.",
    "float a[16, 32] = 0;\nfloat b[16, 32] = 0;\nfloat c[16, 32] = a @ b;",
    "float a[16, 32] = 0;\nfloat b[16, 32] = 0;\nfloat c[16, 16] = a @ ^b;",
  ),
  E5122: inside(
    "In a batched `@` the axes after the first two are batch axes. Their extents must be equal; they are not broadcast.",
    "float a[16, 16, 2] = 0;\nfloat b[16, 16, 4] = 0;\nfloat c[16, 16, 4] = a @ b;",
    "float a[16, 16, 4] = 0;\nfloat b[16, 16, 4] = 0;\nfloat c[16, 16, 4] = a @ b;",
  ),
  E5123: inside(
    "Tensor cores take two operands of one type. Cast one.",
    "float a[16, 16] = 0;\nhalf b[16, 16] = 0;\nfloat c[16, 16] = a @ b;",
    "float a[16, 16] = 0;\nhalf b[16, 16] = 0;\nfloat c[16, 16] = (half[16, 16]) a @ b;",
  ),
  E5124: inside(
    "`@` supports floats of 8 to 64 bits and 8-bit integers.",
    "int a[16, 16] = 0;\nint c[16, 16] = a @ a;",
    "int8 a[16, 16] = 0;\nint c[16, 16] = a @ a;",
  ),
  E5130: inside(
    "Prefix `^` transposes a tile. Between two integers `^` is exclusive or.",
    "*I = ^n;",
    "*I = n ^ 1;",
  ),
  E5140: inside(
    "`*` needs a pointer. In `*?(m) p` the mask comes first and `p` is the pointer, without a second `*`.",
    "int r[16] = 0 ... 16;\nfloat t[16] = *?(r < n) *(X + r);",
    "int r[16] = 0 ... 16;\nfloat t[16] = *?(r < n) (X + r);",
  ),
  E5150: inside(
    "Both sides of `?:` convert to one type: they are numbers, or pointers of one type.",
    "void *p = n ? X : I;",
    "void *p = n ? (void*) X : (void*) I;",
  ),
  E5151: inside(
    "If the condition is a tile, both sides are evaluated. An assignment in one of them would take effect for all elements.",
    "int r[16] = 0 ... 16;\nint a = 0;\nint t[16] = r < n ? (a = 1) : 0;",
    "int r[16] = 0 ... 16;\nint t[16] = r < n ? 1 : 0;",
  ),
  E5152: inside(
    "Loads in the sides of a masked `?:` take its mask. The mask cannot be applied through a reduction or `@`. Load before, with the mask.",
    "int r[16] = 0 ... 16;\nfloat t[16] = r < n ? (*(X + r))[+] : 0;",
    "int r[16] = 0 ... 16;\nfloat s[16] = *?(r < n) (X + r);\nfloat t[16] = r < n ? s[+] : 0;",
  ),
  E5160: inside(
    "A cast to another shape keeps the elements in row-major order, so the number of elements must be equal.",
    "float t[4, 2] = 0;\nfloat s[16] = (float[16]) t;",
    "float t[4, 2] = 0;\nfloat s[8] = (float[8]) t;",
  ),
  E5161: inside(
    "An address has 64 bits. Cast to `long` first.",
    "*I = (int) X;",
    "*I = (int) (long) X;",
  ),
  E5162: inside(
    "`bitcast` keeps all bits, so both types must have the same size.",
    "*I = bitcast<int>((half) 1);",
    "*I = bitcast<short>((half) 1);",
  ),
  E5171: inside(
    "A constant expression divides by zero.",
    "int t[16 / 0];",
    "int t[16 / 2] = 0;",
  ),
  E5301: inside(
    "The left side of an assignment is a variable or memory, not a computed value.",
    "n + 1 = 2;",
    "n = 2;",
  ),
  E5302: inside(
    "A pointer converts implicitly to the same pointer type, to and from `void*`, and to `bool`, which is `!= NULL`. Pointers to different types need a cast. A pointer does not convert to a number: load the element with `*p`, or cast to `long` for the address. A number does not convert to a pointer, except the constant 0.",
    "float *p = I;",
    "float *p = (float*) I;",
  ),
  E5303: file(
    "The new pointer would allow writes that `const` excludes.",
    "__global__ void f(const float *X, float *Y) { float *p = X; *Y = *p; }",
    "__global__ void f(const float *X, float *Y) { const float *p = X; *Y = *p; }",
  ),
  E5304: inside(
    "`a += b` keeps the shape of `a`, so `b` may not have more axes or longer ones.",
    "float row[16] = 0;\nfloat t[16, 16] = 0;\nrow += t;",
    "float row[16] = 0;\nfloat t[16, 16] = 0;\nt += row;",
  ),
  E5305: inside(
    "A `const` variable keeps its first value.",
    "const int a = 1;\na = 2;",
    "int a = 1;\na = 2;",
  ),
  E5306: file(
    "`const` says that this kernel only reads through the pointer.",
    "__global__ void f(const float *X) { *X = 1; }",
    "__global__ void f(float *X) { *X = 1; }",
  ),
  W5026: inside(
    "The signed operand converts to unsigned, so -1 becomes the largest value. Cast one side.",
    "bool b = n < u;",
    "bool b = n < (int) u;",
  ),
  W5027: inside(
    "Comparisons do not chain: `0 <= n < 8` compares `0 <= n`, which is 0 or 1, with 8 and is always true. Join two comparisons by `&&`.",
    "bool b = 0 <= n < 8;",
    "bool b = 0 <= n && n < 8;",
  ),
  W5028: inside(
    "The quotient of two integers is an integer: `1 / 2` is 0, also where it becomes a float afterwards. Make one of them a float. A cast of the quotient, as in `(float) (1 / 2)`, says that it is meant.",
    "float x = 1 / 2;",
    "float x = 1.0 / 2;",
  ),
  W5029: inside(
    "An unsigned number is never below 0, so a loop that counts down does not end by `u >= 0`. It is reported where it holds for all variants of a kernel.",
    "bool b = u < 0;",
    "bool b = (int) u < 0;",
  ),
  W5102: inside(
    "Ranges bind tighter than `*` and `/`: `0 ... 32 / 2` halves each of 32 numbers. Parentheses make the intent explicit.",
    "int r[32] = 0 ... 32 / 2;",
    "int r[16] = 0 ... (32 / 2);",
  ),
  W5131: inside(
    "A tile with one axis equals its transpose.",
    "int r[16] = 0 ... 16;\nint t[16] = ^r;",
    "int r[16] = 0 ... 16;\nint t[16, 1] = r[:, newaxis];",
  ),
  W5170: inside(
    "The result overflows its type and wraps. A suffix makes the literal wider.",
    "long a = 2147483647 + 1;",
    "long a = 2147483647L + 1;",
  ),
} satisfies Record<string, Explanation>;
