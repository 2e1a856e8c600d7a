import { entryAt, valueAt } from "../../../compiler/check/facts.ts";
import { spellType } from "../../../compiler/check/tree/types.ts";
import { visibleNames } from "../../../compiler/check/visible.ts";
import { kernelAt, surveyFile } from "../../../compiler/driver/survey.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const TEXT = `#pragma tri variants TYPE in {float, half}
__global__ void first(TYPE *X) { TYPE a[8] = *(X + 0 ... 8); *(X + 0 ... 8) = a * 2; }
// About the second.
#pragma tri variant N=16
__global__ void second(int *Y) {
  int sum = 0;
  for (int i = 0; i < N; i++) { int y = *(Y + i); sum += y; }
  int rest = broken(;
  *Y = sum;
}
`;
const FILE = { name: "a.tc", text: TEXT };
const survey = surveyFile(FILE, { targets: ["sm_80"] });

Deno.test("surveyFile() has a view of every kernel for every instance, with its types", () => {
  const [first, second] = survey.kernels;
  assertEquals([first.views.length, second?.views.length], [2, 1]);
  const offset = TEXT.indexOf("a * 2");
  const types = first.views.map((view) => {
    const entry = entryAt(view().facts, FILE, offset);
    return entry?.kind === "variable" ? spellType(entry.variable.type) : undefined;
  });
  assertEquals(types, ["float[8]", "half[8]"]);
  const product = valueAt(first.views[0]().facts, FILE, offset + 2);
  assertEquals(product?.syntax.kind, "binary");
});

Deno.test("surveyFile() covers the text before and after an error", () => {
  const view = survey.kernels[1]?.views[0]();
  for (const name of ["sum += y", "sum;"]) {
    const entry = view && entryAt(view.facts, FILE, TEXT.indexOf(name));
    assertEquals(entry?.kind === "variable" ? entry.variable.name : entry?.kind, "sum");
  }
});

Deno.test("surveyFile() checks what is outside of kernels once for all of them", () => {
  const text = "const int N = 4;\n__global__ void f(int *X) { *X = N; }\n" +
    "__global__ void g(int *X) { *X = N; }\n";
  const { kernels } = surveyFile({ name: "c.tc", text }, { targets: ["sm_80"] });
  const [first, second] = kernels.map(({ views: [view] }) =>
    view().facts.declarations.find(({ name }) => name === "N")?.entry
  );
  assert(first !== undefined && first === second);
});

Deno.test("kernelAt() counts the text before a kernel as the kernel's", () => {
  const at = (text: string): string | undefined =>
    kernelAt(survey, TEXT.indexOf(text)).plan?.kernel;
  assertEquals(
    [at("variants"), at("a * 2"), at("About"), at("variant N"), at("sum;")],
    ["first", "first", "second", "second", "second"],
  );
});

Deno.test("kernelAt() counts a pragma as that of the first kernel that it is for", () => {
  const text = `#pragma tri kernel g
#pragma tri require(N > 0)
#pragma tri kernel f, g
#pragma tri ftz(on)
__global__ void f(float *X) {}
__global__ void g(float *X, int N) {}
`;
  const survey = surveyFile({ name: "d.tc", text }, { targets: ["sm_80"] });
  const at = (word: string): string | undefined =>
    kernelAt(survey, text.indexOf(word)).plan?.kernel;
  assertEquals([at("N > 0"), at("ftz"), at("void f")], ["g", "f", "f"]);
});

Deno.test("visibleNames() lists what is declared in the scopes around a location", () => {
  const unit = kernelAt(survey, TEXT.length).views[0]().parsed.unit;
  const at = (text: string): string[] =>
    visibleNames(unit, FILE, TEXT.indexOf(text)).map(({ text: name }) => name);
  assertEquals(at("sum += y"), ["first", "second", "Y", "sum", "i", "y"]);
  assertEquals(at("int rest"), ["first", "second", "Y", "sum"]);
  assertEquals(at("a * 2"), ["first", "X", "a"]);
});

Deno.test("surveyFile() has the parameters of pragmas while there is no kernel yet", () => {
  const text = "#pragma tri variants TYPE in {half, float}\nstatic int f(TYPE x) { return 0; }\n";
  const file = { name: "b.tc", text };
  const view = surveyFile(file, { targets: ["sm_80"] }).kernels[0].views[0]();
  const entry = entryAt(view.facts, file, text.indexOf("x)"));
  assertEquals(entry?.kind === "variable" ? spellType(entry.variable.type) : undefined, "half");
});
