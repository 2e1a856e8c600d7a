import { sameTokens } from "../../../compiler/preprocess/same_tokens.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { run } from "../../support/compiler/preprocess.ts";

const HEADER = { "h.h": "#define TWICE(x) (2 * (x))\nint h;" };
const TEXT = '#include "h.h"\n#if N > 1\nint many = TWICE(N);\n#else\nint one;\n#endif\n';

Deno.test("sameTokens() holds of what equal macros give, also in other files and expansions", () => {
  const [a, b] = [run(TEXT, { N: "3" }, HEADER), run(TEXT, { N: "3", M: "1" }, HEADER)];
  assert(a.tokens.length > 8);
  assert(sameTokens(a.tokens, b.tokens));
  const unused = "#if N > 1\n#endif\nint x;";
  assert(sameTokens(run(unused, { N: "1" }).tokens, run(unused, { N: "2" }).tokens));
});

Deno.test("sameTokens() distinguishes spellings, places, files and the uses of macros", () => {
  const of = (text: string, N = "3", header = "int h;"): ReturnType<typeof run>["tokens"] =>
    run(text, { N }, { "h.h": header }).tokens;
  const pairs = [
    [of("int N;"), of("int N;", "4")],
    [of("int x;"), of("int y;")],
    [of("int x;"), of("int  x;")],
    [of("int x;"), of("int x; int")],
    [of('#include "h.h"'), of('#include "h.h"', "3", "int h; ")],
    [of("#define A x\n#define B x\nint A;"), of("#define A x\n#define B x\nint B;")],
  ] as const;
  assertEquals(pairs.map(([a, b]) => sameTokens(a, b)), pairs.map(() => false));
});
