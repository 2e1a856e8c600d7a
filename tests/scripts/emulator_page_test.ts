import { PAGE, withGenerated } from "../../scripts/emulator_page.ts";
import { assert } from "../support/assert.ts";

Deno.test("withGenerated() changes nothing in docs/emulator.md: it is up to date", () => {
  const page = Deno.readTextFileSync(PAGE);
  assert(withGenerated(page) === page, "run scripts/emulator_page.ts");
});
