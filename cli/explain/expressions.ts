/** Explanations of E5xxx and W5xxx: operands, shapes, subscripts, products, masks, conversions. */
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
    "The text does not follow the grammar at this place; the message says what could stand here. A missing `;` shows at the token behind.",
    "int a = n\nint b = a;",
    "int a = n;\nint b = a;",
  ),
  E5010: inside(
    "Two tiles go together where each axis, counted from the last, is equal or 1. `newaxis` puts axes of 1 where they are wanted.",
    "int a[16] = 0 ... 16;\nint b[32] = 0 ... 32;\nint c[16, 32] = a + b;",
    "int a[16] = 0 ... 16;\nint b[32] = 0 ... 32;\nint c[16, 32] = a[:, newaxis] + b[newaxis, :];",
  ),
  E5011: inside(
    "A value stretches along axes of 1 and new leading axes to the shape it is assigned to, but is never cut or repeated otherwise.",
    "float t[16] = 0;\nfloat s[32] = t;",
    "float t[16] = 0;\nfloat s[32, 16] = t;",
  ),
  E5012: inside(
    "A scalar is wanted and several values are there. Reduce the tile: `t[+]`, `t[max]`.",
    "float t[16] = *(X + 0 ... 16);\n*X = sqrt((float) t);",
    "float t[16] = *(X + 0 ... 16);\n*X = sqrt(t[+]);",
  ),
  E5020: inside("Pointers move by `+` and `-` only.", "float *p = X * 2;", "float *p = X + 2;"),
  E5021: inside(
    "`%` is for integers; `fmod` is the remainder of floats.",
    "*X = *X % 2.0f;",
    "*X = fmod(*X, 2.0f);",
  ),
  E5022: inside("An integer minus an address is nothing.", "int *p = 4 - I;", "int *p = I - 4;"),
  E5023: inside(
    "The difference of two pointers counts elements, so both point to the same type.",
    "long d = X - I;",
    "long d = X - (float*) I;",
  ),
  E5024: inside(
    "Bits of floats are not numbers. `bitcast` gives them as an integer.",
    "*I = *X & 1;",
    "*I = bitcast<int>(*X) & 1;",
  ),
  E5025: inside(
    "Numbers are compared with numbers, pointers with pointers of the same type or with 0.",
    "bool b = X < I;",
    "bool b = X < (float*) I;",
  ),
  E5101: inside(
    "A range has two ends.",
    "int r[16] = 0 ... 8 ... 16;",
    "int r[16] = 0 ... 16;",
  ),
  E5103: inside(
    "The length of a range is a shape, which is known while compiling. Add what varies.",
    "int r[16] = n ... n + 16;",
    "int r[16] = n + 0 ... 16;",
  ),
  E5104: inside(
    "The upper end is not part of the range and has to be larger than the lower.",
    "int r[16] = 16 ... 0;",
    "int r[16] = 15 - (0 ... 16);",
  ),
  E5110: inside(
    "Brackets rearrange the axes of a tile. Memory is read through pointers: `*(p + i)`.",
    "*X = X[:];",
    "*X = *(X + 1);",
  ),
  E5111: inside(
    "Each axis of the tile has its item: `:` keeps it, `+` or `max` reduces it; `newaxis` comes on top.",
    "float t[16, 16] = 0;\nfloat s[16] = t[+];",
    "float t[16, 16] = 0;\nfloat s[16] = t[:, +];",
  ),
  E5112: inside(
    "`^k` names the axis that comes to stand at this place. All items are of this kind, and each axis appears once.",
    "float t[16, 32] = 0;\nfloat s[32, 16] = t[^1, :];",
    "float t[16, 32] = 0;\nfloat s[32, 16] = t[^1, ^0];",
  ),
  E5113: inside(
    "The elements of a tile are spread over threads; none can be picked by number. Load what is needed, reduce with a mask, or use `gather`.",
    "int t[16] = 0 ... 16;\n*I = t[3];",
    "int t[16] = 0 ... 16;\n*I = (t == 3 ? t : 0)[+];",
  ),
  E5114: inside(
    "Subtraction depends on the order, and a reduction has none. Negate, then add.",
    "int t[16] = 0 ... 16;\n*I = t[-];",
    "int t[16] = 0 ... 16;\n*I = (0 - t)[+];",
  ),
  E5115: inside(
    "Reductions are `+`, `*`, `&`, `|`, `max`, `min`, `argmax`, `argmin`, `xor`, `any`, `all`.",
    "int t[16] = 0 ... 16;\n*I = t[sum];",
    "int t[16] = 0 ... 16;\n*I = t[+];",
  ),
  E5116: inside(
    "Addresses have no sum and no order that means anything. Reduce offsets, or what the pointers point to.",
    "float *p[16] = X + 0 ... 16;\nfloat *q = p[max];",
    "float *p[16] = X + 0 ... 16;\n*X = (*p)[max];",
  ),
  E5120: inside(
    "`@` multiplies matrices: both sides have the same number of axes, at least two.",
    "float a[16, 16] = 0;\nfloat b[16] = 0;\nfloat c[16] = a @ b;",
    "float a[16, 16] = 0;\nfloat b[16] = 0;\nfloat c[16, 1] = a @ b[:, newaxis];",
  ),
  E5121: inside(
    "The columns of the left side are the rows of the right one.",
    "float a[16, 32] = 0;\nfloat b[16, 32] = 0;\nfloat c[16, 32] = a @ b;",
    "float a[16, 32] = 0;\nfloat b[16, 32] = 0;\nfloat c[16, 16] = a @ ^b;",
  ),
  E5122: inside(
    "In a product of stacks of matrices the axes behind the first two are equal; nothing is stretched.",
    "float a[16, 16, 2] = 0;\nfloat b[16, 16, 4] = 0;\nfloat c[16, 16, 4] = a @ b;",
    "float a[16, 16, 4] = 0;\nfloat b[16, 16, 4] = 0;\nfloat c[16, 16, 4] = a @ b;",
  ),
  E5123: inside(
    "Tensor cores take two operands of one type. Cast one.",
    "float a[16, 16] = 0;\nhalf b[16, 16] = 0;\nfloat c[16, 16] = a @ b;",
    "float a[16, 16] = 0;\nhalf b[16, 16] = 0;\nfloat c[16, 16] = (half[16, 16]) a @ b;",
  ),
  E5124: inside(
    "Products are there for floats of 8 to 64 bits and for 8-bit integers.",
    "int a[16, 16] = 0;\nint c[16, 16] = a @ a;",
    "int8 a[16, 16] = 0;\nint c[16, 16] = a @ a;",
  ),
  E5130: inside(
    "`^` in front of a value turns the axes of a tile. Between two integers it is exclusive or.",
    "*I = ^n;",
    "*I = n ^ 1;",
  ),
  E5140: inside(
    "Only pointers are dereferenced. In `*?(m) p` the mask comes first and `p` is the pointer: no second star.",
    "int r[16] = 0 ... 16;\nfloat t[16] = *?(r < n) *(X + r);",
    "int r[16] = 0 ... 16;\nfloat t[16] = *?(r < n) (X + r);",
  ),
  E5150: inside(
    "Both sides of `?:` become one type: two numbers do, two pointers of one type do.",
    "void *p = n ? X : I;",
    "void *p = n ? (void*) X : (void*) I;",
  ),
  E5151: inside(
    "With a tile as its condition both sides are computed, for some lanes each; an assignment there would happen for all.",
    "int r[16] = 0 ... 16;\nint a = 0;\nint t[16] = r < n ? (a = 1) : 0;",
    "int r[16] = 0 ... 16;\nint t[16] = r < n ? 1 : 0;",
  ),
  E5152: inside(
    "The sides of a masked `?:` load with its mask, but through a reduction or a product no mask can be carried. Load before, with the mask.",
    "int r[16] = 0 ... 16;\nfloat t[16] = r < n ? (*(X + r))[+] : 0;",
    "int r[16] = 0 ... 16;\nfloat s[16] = *?(r < n) (X + r);\nfloat t[16] = r < n ? s[+] : 0;",
  ),
  E5160: inside(
    "A cast to another shape keeps the elements in row-major order, so their number has to be the same.",
    "float t[4, 2] = 0;\nfloat s[16] = (float[16]) t;",
    "float t[4, 2] = 0;\nfloat s[8] = (float[8]) t;",
  ),
  E5161: inside(
    "An address has 64 bits.",
    "*I = (int) X;",
    "*I = (int) (long) X;",
  ),
  E5162: inside(
    "`bitcast` keeps all bits, so both types have the same size.",
    "*I = bitcast<int>((half) 1);",
    "*I = bitcast<short>((half) 1);",
  ),
  E5171: inside(
    "A constant is divided by zero while compiling.",
    "int t[16 / 0];",
    "int t[16 / 2] = 0;",
  ),
  E5301: inside(
    "What is assigned to is a variable or memory, not a value that was computed.",
    "n + 1 = 2;",
    "n = 2;",
  ),
  E5302: inside(
    "A pointer converts implicitly to the same pointer type, to and from `void*`, and to `bool`, which is `!= NULL`. Pointers to different types need a cast. A pointer does not become a number: load the element with `*p`, or cast to `long` for the address. A number does not become a pointer, except the constant 0.",
    "float *p = I;",
    "float *p = (float*) I;",
  ),
  E5303: file(
    "Through the new pointer one could write what `const` promises not to write.",
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
    "The pointer says that this kernel only reads there.",
    "__global__ void f(const float *X) { *X = 1; }",
    "__global__ void f(float *X) { *X = 1; }",
  ),
  W5026: inside(
    "The signed side becomes unsigned, so -1 is larger than anything. Cast one side.",
    "bool b = n < u;",
    "bool b = n < (int) u;",
  ),
  W5102: inside(
    "Ranges bind tighter than `*` and `/`: `0 ... 32 / 2` halves each of 32 numbers. Parentheses show what is meant.",
    "int r[32] = 0 ... 32 / 2;",
    "int r[16] = 0 ... (32 / 2);",
  ),
  W5131: inside(
    "A tile with one axis has nothing to turn.",
    "int r[16] = 0 ... 16;\nint t[16] = ^r;",
    "int r[16] = 0 ... 16;\nint t[16, 1] = r[:, newaxis];",
  ),
  W5170: inside(
    "The result does not fit its type and wraps around. A suffix makes the literal wider.",
    "long a = 2147483647 + 1;",
    "long a = 2147483647L + 1;",
  ),
} satisfies Record<string, Explanation>;
