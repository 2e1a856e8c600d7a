import { dumpExpr } from "../../../../compiler/check/tree/dump_typed.ts";
import { assertEquals } from "../../../support/assert.ts";
import { stmtsOf } from "../../../support/compiler/check.ts";
import { type Rows, testCodes } from "../../../support/compiler/check_tables.ts";

/** Statements and the expression they become. */
function testEffects(title: string, rows: Rows): void {
  Deno.test(`check() ${title}`, () => {
    const found = Object.fromEntries(
      Object.keys(rows).map((text) => {
        const [stmt] = stmtsOf(text);
        return [text, stmt?.kind === "expression" ? dumpExpr(stmt.expr) : stmt?.kind];
      }),
    );
    assertEquals(found, { ...rows });
  });
}

testEffects("converts and stretches what is assigned", {
  "f = n;": "f = convert<float>(n)",
  "x = 0;": "x = float[16](0.0)",
  "z = y;": "z = broadcast<float[16, 32]>(y)",
  "z = r[:, newaxis];":
    "z = broadcast<float[16, 32]>(convert<float[16, 1]>(reshape<int[16, 1]>(r)))",
  "x = x[:, newaxis];": "x = reshape<float[16]>(reshape<float[16, 1]>(x))",
  "n = one;": "n = reshape<int>(one)",
  "P = 0;": "P = float*(0)",
  "V = P;": "V = convert<void*>(P)",
  "P = V;": "P = convert<float*>(V)",
  "C = P;": "C = convert<const float*>(P)",
  "b = P;": "b = convert<bool>(P)",
  "b = V;": "b = convert<bool>(V)",
  "b = C;": "b = convert<bool>(C)",
  "m = P;": "m = broadcast<bool[16]>(convert<bool>(P))",
  "m = p;": "m = convert<bool[16]>(p)",
  "m = p + 1;": "m = convert<bool[16]>((p + int[16](1)))",
});

testEffects("evaluates address and mask of a compound assignment once", {
  "f += n;": "f = (f + convert<float>(n))",
  "n += f;": "n = convert<int>((convert<float>(n) + f))",
  "z *= y;": "z = (z * broadcast<float[16, 32]>(y))",
  "hz += z;": "hz = convert<half[16, 32]>((convert<float[16, 32]>(hz) + z))",
  "p += 4 * n;": "p = (p + broadcast<int[16]>((4 * n)))",
  "p -= 1;": "p = (p + long[16](-1))",
  "n <<= l;": "n = (n << l)",
  "*P += 1;": "*P = (*P + 1.0)",
  "*(P + n) += 1;": "(let address = (P + n) in *address = (*address + 1.0))",
  "*?(m) p *= 2;": "*?(m) p = (*?(m) p * float[16](2.0))",
  "*?(r < n) p = 1;": "*?((r < broadcast<int[16]>(n))) p = float[16](1.0)",
  "*?(r < n) p += 1;":
    "(let mask = (r < broadcast<int[16]>(n)) in *?(mask) p = (*?(mask) p + float[16](1.0)))",
  "*?(m) P = 1;": "*?(m) broadcast<float*[16]>(P) = float[16](1.0)",
  "P[n] = 1;": "*(P + n) = 1.0",
  "*P++ = 1;": "*(let old = P in (P = (old + 1), old)) = 1.0",
  "*P += n++;":
    "(let value = (let old = n in (n = (old + 1), old)) in *P = (*P + convert<float>(value)))",
});

testEffects("steps variables and memory, giving the old value only where it is used", {
  "n++;": "n = (n + 1)",
  "--n;": "n = (n - 1)",
  "h++;": "h = (h + half(1.0))",
  "b++;": "b = convert<bool>((convert<int>(b) + 1))",
  "x++;": "x = (x + float[16](1.0))",
  "P--;": "P = (P + long(-1))",
  "(*P)++;": "*P = (*P + 1.0)",
  "n = n++;": "n = (let old = n in (n = (old + 1), old))",
  "n = ++n;": "n = n = (n + 1)",
  "n = I[n]++;":
    "n = (let address = (I + n) in (let old = *address in (*address = (old + 1), old)))",
  "n++, l++;": "n = (n + 1)",
  "(n++, l++);": "(n = (n + 1), l = (l + long(1)))",
});

testCodes("refuses what cannot be assigned", {
  "1 = n;": "E5301",
  "n + 1 = 2;": "E5301",
  "x[:] = 0;": "E5301",
  "(n) = 1;": "",
  "THREE = 4;": "E5301",
  "EIGHT = 4;": "E5305",
  "EIGHT++;": "E5305",
  "other = 1;": "E3010",
  "*C = 1;": "E5306",
  "*?(m) (C + r) = 1;": "E5306",
  "C[0] += 1;": "E5306",
  "P = 1;": "E5302",
  "P = I;": "E5302",
  "n = P;": "E5302",
  "b += P;": "E5302",
  "b -= P;": "E5022",
  "b = x;": "E5012",
  "b = p;": "E5012",
  "P = f;": "E5302",
  "f = write(P);": "E5302",
  "P = C;": "E5303",
  "P = VOL;": "E5303",
  "x = y;": "E5011",
  "x = z;": "E5011",
  "*p = y;": "E5011",
  "n = r;": "E5012",
  "y += z;": "E5304",
  "n += r;": "E5304",
  "n += one;": "",
  "x += y;": "E5010",
  "&n;": "E5001",
  "n.x = 1;": "E2002",
});
