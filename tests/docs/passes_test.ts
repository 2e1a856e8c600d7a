/** The table of passes in ARCHITECTURE.md is the list in the code. */
import { STEPS } from "../../compiler/driver/passes/passes.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { blessed } from "../support/bless.ts";

const PAGE = new URL("../../ARCHITECTURE.md", import.meta.url);
const MARK = "from driver/passes/passes.ts -->\n\n";
const TITLES = ["pass", "phase", "what it does", "after", "because"];

/** As `deno fmt` writes it. */
function tableOfPasses(): string {
  const rows = STEPS.map((
    { name, phase, pass: { doc }, needs, because = "" },
  ) => [`\`${name}\``, phase, doc, needs.map((need) => `\`${need}\``).join(", "), because]);
  const widths = TITLES.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[], fill: string): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |\n`;
  return [TITLES, TITLES.map(() => "-"), ...rows].map((cells, index) =>
    line(cells, index === 1 ? "-" : " ")
  ).join("");
}

Deno.test("ARCHITECTURE.md has the table of STEPS", () => {
  const page = Deno.readTextFileSync(PAGE);
  const at = page.indexOf(MARK) + MARK.length;
  assert(at >= MARK.length, "there is no mark for the table");
  const table = /^(\|.*\n)*/.exec(page.slice(at))?.[0] ?? "";
  const wanted = tableOfPasses();
  const after = table === "" ? `\n${page.slice(at)}` : page.slice(at + table.length);
  if (blessed(PAGE, page.slice(0, at) + wanted + after)) return;
  assertEquals(table, wanted, "run `deno task bless ARCHITECTURE.md`");
});
