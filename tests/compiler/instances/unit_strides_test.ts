/** Instances of `specialize(auto)` for kernels that take the strides of all axes. */
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { must } from "../../../compiler/support/bug.ts";
import {
  STRIDED_TEXTS,
  type StridedText,
  stridedText,
  withUnits,
} from "../../support/compiler/strided_texts.ts";

/** The conditions of all instances by the ends of their names; `aligned` for those of alignment, which are tested elsewhere. */
function conditionsOf(text: string): Record<string, string> {
  const { kernels: [kernel], diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: ["sm_80"],
    checkOnly: true,
  });
  assertEquals(diagnostics, []);
  const { name, instances } = must(kernel, "a kernel");
  return Object.fromEntries(instances.map(({ symbol, specialization }) => {
    const texts = specialization.map((one) => one.text);
    const others = texts.filter((one) => !one.endsWith(" == 0"));
    const all = others.length < texts.length ? [...others, "aligned"] : others;
    return [symbol.slice(name.length), all.join(", ")];
  }));
}

const UNITS: Readonly<Record<string, string>> = {
  attention: "sqd == 1, skd == 1, svd == 1, sod == 1",
  transposition: "sx1 == 1, sy1 == 1",
  copied: "sx1 == 1, sy1 == 1",
  softmax: "sy1 == 1, sx1 == 1",
  embedding: "sw1 == 1, sy1 == 1",
};

Deno.test("tensors whose strides are all arguments are assumed to be contiguous along the last axis", () => {
  for (const [name, units] of Object.entries(UNITS)) {
    assertEquals(
      conditionsOf(stridedText(name).text),
      { "": "", _a16: `${units}, aligned`, _a1: units },
      name,
    );
  }
});

Deno.test("two operands of products are by rows or by columns", () => {
  for (const name of ["matmul", "grouped", "batched"]) {
    assertEquals(conditionsOf(stridedText(name).text), {
      "": "",
      _a16: "sak == 1, sbn == 1, scn == 1, aligned",
      _a16nt: "sak == 1, sbk == 1, scn == 1, aligned",
      _a16tn: "sam == 1, sbn == 1, scn == 1, aligned",
      _a16tt: "sam == 1, sbk == 1, scn == 1, aligned",
      _a1: "sak == 1, sbn == 1, scn == 1",
    }, name);
  }
});

Deno.test("alignment is asked for of what decides where rows start, and of extents along contiguous axes", () => {
  const { kernels: [kernel] } = compileFile({ name: "k.tc", text: stridedText("matmul").text }, {
    targets: ["sm_80"],
    checkOnly: true,
  });
  const demandsOf = (end: string): readonly string[] =>
    must(kernel?.instances.find(({ symbol }) => symbol === `matmul${end}`), end).specialization
      .flatMap(({ text }) => / % 8 == 0$/.test(text) ? [text.slice(0, -" % 8 == 0".length)] : []);
  assertEquals(demandsOf("_a16"), ["N", "K", "sam", "sbk", "scm"]);
  assertEquals(demandsOf("_a16nt"), ["N", "K", "sam", "sbn", "scm"]);
  assertEquals(demandsOf("_a16tn"), ["M", "N", "sak", "sbk", "scm"]);
  assertEquals(demandsOf("_a16tt"), ["M", "N", "K", "sak", "sbn", "scm"]);
});

/** The opcodes of each entry and form, in order. */
function opcodesOf(text: string, target: TargetName): ReadonlyMap<string, string> {
  const { kernels: [kernel], diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: [target],
  });
  assertEquals(diagnostics, []);
  const texts = kernel?.modules.flatMap(({ ptx }) => ptx.split(".visible .entry ").slice(1)) ?? [];
  return new Map(texts.map((ptx) => {
    const opcodes = ptx.split("\n").flatMap((line) =>
      /^\s*(?:@!?%\w+ )?([a-z][\w.:]*)\s.*;/.exec(line)?.[1] ?? []
    );
    return [must(/^\w+/.exec(ptx)?.[0], "a name"), opcodes.join("\n")];
  }));
}

/** Each entry of the text with strides of 1 is an entry of the other. */
function assertSameCode(
  strided: StridedText,
  units: readonly string[],
  target: TargetName,
  names: Readonly<Record<string, string>>,
): void {
  const { name, text } = strided;
  const all = opcodesOf(text, target);
  let compared = 0;
  for (const [symbol, opcodes] of opcodesOf(withUnits(strided, units), target)) {
    const [end, form = ""] = symbol.slice(name.length).split(/(?=_tensor|_turns|_shifted)/);
    const same = names[end ?? ""];
    if (same === undefined) continue;
    assertEquals(all.get(`${name}${same}${form}`), opcodes, `${symbol}, ${target}`);
    compared++;
  }
  assertEquals(compared >= Object.keys(names).length, true, `${name}, ${target}`);
}

Deno.test("code under strides that are 1 is that of a text that says so", () => {
  for (const target of ["sm_80", "sm_90a"] as const) {
    for (const strided of STRIDED_TEXTS) {
      assertSameCode(strided, strided.last, target, { _a16: "_a16", "": "_a1" });
    }
    const columns = ["sam", "sbk", "scn"];
    assertSameCode(stridedText("matmul"), columns, target, { _a16: "_a16tt" });
    assertSameCode(stridedText("grouped"), columns, target, { _a16: "_a16tt" });
  }
});

const rows = (pragmas: string, access: string, head = "int M, int N, int s0, int s1"): string => `
${pragmas}
__global__ void k(float *X, float *Y, ${head}) {
  int m[32] = get_program_id(0) * 32 + 0 ... 32, n[32] = get_program_id(1) * 32 + 0 ... 32;
  bool inside[32, 32] = m[:, newaxis] < M && n[newaxis, :] < N;
  *?(inside) (Y + ${access}) = *?(inside) (X + ${access});
}`;

const BOTH = "m[:, newaxis] * s0 + n[newaxis, :] * s1";

Deno.test("strides that tensors share count once", () => {
  const shared = { "": "", _a16: "s1 == 1, aligned", _a1: "s1 == 1" };
  assertEquals(conditionsOf(rows("", BOTH)), shared);
  // As rows of one and columns of the other both would be 1.
  const crossed = rows("", BOTH).replace(`(Y + ${BOTH})`, "(Y + m[:, newaxis] * s0)");
  assertEquals(conditionsOf(crossed), { "": "", _a16: "aligned" });
});

Deno.test("nothing is assumed of strides that are expressions, promised, compared with indices or computed", () => {
  const plain = { "": "", _a16: "aligned" };
  assertEquals(
    conditionsOf(rows("", "m[:, newaxis] * (2 * s0) + n[newaxis, :] * (s0 * s1)")),
    plain,
  );
  assertEquals(
    conditionsOf(
      rows("#pragma tri require(s1 % 2 == 0)", BOTH.replace("m[:, newaxis] * s0", "0 * s0")),
    ),
    plain,
  );
  assertEquals(conditionsOf(rows("", "m[:, newaxis] * N + n[newaxis, :] * M")), plain);
  assertEquals(
    conditionsOf(
      rows("", "m[:, newaxis] * (s0 + s1) + n[newaxis, :] * (get_program_id(2) > 0 ? s0 : s1)"),
    ),
    plain,
  );
  // A column of each matrix: the axis that programs walk along is contiguous.
  assertEquals(
    conditionsOf(`
__global__ void k(float *X, float *Y, int M, int s0) {
  int m[32] = get_program_id(0) * 32 + 0 ... 32;
  *?(m < M) (Y + m * s0 + get_program_id(1)) = *?(m < M) (X + m * s0 + get_program_id(1));
}`),
    plain,
  );
});

Deno.test("beside tiles that are contiguous by the text there is an aligned instance for any strides", () => {
  const text = rows("", BOTH).replace(`(X + ${BOTH})`, "(X + m[:, newaxis] * N + n[newaxis, :])");
  assertEquals(conditionsOf(text), {
    "": "",
    _a16: "s1 == 1, aligned",
    _a16s: "aligned",
    _a1: "s1 == 1",
  });
});

Deno.test("lines with conditions or values get the strides of last axes", () => {
  assertEquals(conditionsOf(rows("#pragma tri specialize(auto && M < 1000, auto)", BOTH)), {
    "": "",
    _s1: "M < 1000, s1 == 1, aligned",
    _a16: "s1 == 1, aligned",
    _a1: "s1 == 1",
  });
  const { text } = stridedText("matmul");
  assertEquals(
    conditionsOf(
      `#pragma tri specialize(auto) for SIZE in {1, 2}\n${
        text.replace("32 * sak", "SIZE * 32 * sak")
      }`,
    ),
    {
      "": "",
      _s1: "sak == 1, sbn == 1, scn == 1, aligned",
      _s2: "sak == 1, sbn == 1, scn == 1, aligned",
    },
  );
});

Deno.test("strides that a condition states are not assumed otherwise", () => {
  const { text } = stridedText("matmul");
  assertEquals(
    conditionsOf(`#pragma tri specialize(auto && sam == 1 && sbn == 1 && scn == 1)\n${text}`),
    {
      "": "",
      _s1: "sam == 1 && sbn == 1 && scn == 1, aligned",
    },
  );
  assertEquals(conditionsOf(`#pragma tri specialize(auto && sam == 1)\n${text}`), {
    "": "",
    _s1: "sam == 1, sbn == 1, scn == 1, aligned",
    _s1s: "sam == 1, aligned",
  });
  assertEquals(conditionsOf(rows("#pragma tri specialize(auto && s1 >= 2)", BOTH)), {
    "": "",
    _s1: "s1 >= 2, s0 == 1, aligned",
  });
});

Deno.test("products of a tensor with itself have one choice", () => {
  const text = stridedText("matmul").text.replaceAll(/\s+/g, " ").replaceAll("B + ", "A + ")
    .replace("int sbk, int sbn, ", "").replaceAll("sbk", "sak").replaceAll("sbn", "sam");
  assertEquals(conditionsOf(text), {
    "": "",
    _a16: "sak == 1, scn == 1, aligned",
    _a16t: "sam == 1, scn == 1, aligned",
    _a1: "sak == 1, scn == 1",
  });
});
