import { htmlPage } from "../../cli/doc/html.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { REAL_MAIN, Workspace } from "./support/tri_process.ts";

const KERNEL = `#pragma tri variants TYPE in {float, half}
#pragma tri config B=256
#pragma tri grid(cdiv(N, B))
#pragma tri tensor X : in TYPE[N]
#pragma tri tensor Y : out TYPE[N]
#pragma tri require(factor != 0, "factor must not be 0")

// Multiplies by a number. A second sentence with a < b.
//
// \`\`\`ts
// scale(x, { factor: 2 });
// \`\`\`
__global__ void scale(TYPE *X, TYPE *Y __noalias, int factor, int N __multipleof(4)) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  *?(r < N) (Y + r) = (TYPE)factor * *?(r < N) (X + r);
}
`;
const OPEN = "// Has no contract.\n__global__ void open(float *X, long n) { *X = n; }\n";

const PAGE = `# Kernels

- [open](#open): Has no contract.
- [scale](#scale): Multiplies by a number.

## open

Has no contract.

\`open\` of \`k/open.tc\`.
`;

const SCALE = `## scale

Multiplies by a number. A second sentence with a < b.

\`\`\`ts
scale(x, { factor: 2 });
\`\`\`

\`scale\` of \`k/scale.tc\`.

\`\`\`ts
scale(x: Tensor<D, 1>, { factor: number, out? }): Tensor<D, 1>
\`\`\`

| parameter | type | shape | strides | notes |
| --- | --- | --- | --- | --- |
| \`X\` | float32, float16 | \`[N]\` | \`[1]\` | read |
| \`Y\` | float32, float16 | \`[N]\` | \`[1]\` | written; overlaps no other |
| \`factor\` | int32 |  |  |  |
| \`N\` | int32 |  |  | follows from the tensors; a multiple of 4 |

Conditions:

- \`factor must not be 0\`

Variants:

| variant | \`X\` | \`Y\` |
| --- | --- | --- |
| \`float32\` | float32 | float32 |
| \`float16\` | float16 | float16 |

Grid: \`cdiv(N, B)\`.
`;

const MAIN = { main: REAL_MAIN };

Deno.test("tri doc prints comments, calls, parameters, conditions, variants and grids", async () => {
  using workspace = new Workspace({ "k/scale.tc": KERNEL, "k/open.tc": OPEN });
  const { code, stdout, stderr } = await workspace.tri(["doc", "k"], MAIN);
  assertEquals([code, stderr], [0, ""]);
  assert(stdout.startsWith(PAGE), stdout);
  assertEquals(stdout.slice(stdout.indexOf("## scale")), SCALE);
});

Deno.test("tri doc --out writes the page as Markdown and HTML", async () => {
  using workspace = new Workspace({
    "k/scale.tc": KERNEL,
    "k/wrong.tc": "__global__ void w() { 1 }\n",
  });
  const { code, stdout, stderr } = await workspace.tri(["doc", "k", "--out", "site"], MAIN);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, "error[E5003]");
  assertStringIncludes(stderr, "written: site/kernels.html\n");
  assertStringIncludes(workspace.read("site/kernels.md"), SCALE);
  const html = workspace.read("site/kernels.html");
  assertStringIncludes(html, '<h2 id="scale">scale</h2>');
  assertStringIncludes(html, '<a href="#scale">scale</a>');
  assertStringIncludes(html, "a &lt; b");
});

Deno.test("htmlPage() shows tags of a comment as text", () => {
  const html = htmlPage("a & b", "x <script>alert(1)</script>\n\n<b>\nbold\n</b>\n");
  assert(!html.includes("<script>") && !html.includes("<b>"), html);
  assertStringIncludes(html, "<title>a &amp; b</title>");
});
