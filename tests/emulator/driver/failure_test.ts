import { emulatorError } from "../../../emulator/driver/failure.ts";
import { Fault, type FaultKind } from "../../../emulator/fault.ts";
import { assertEquals } from "../../support/assert.ts";

const codeOf = (kind: FaultKind, detail = ""): string | undefined =>
  emulatorError(new Fault(kind, detail), "k").code;

Deno.test("emulatorError() has the code of the language for a finding", () => {
  assertEquals(codeOf("out of bounds"), "R8001");
  assertEquals(codeOf("misaligned"), "R8002");
  assertEquals(codeOf("failed assertion", "k.tc:4: k: assertion `assume(n > 7)` failed"), "R8003");
  assertEquals(codeOf("failed assertion", "k.tc:4: k: assertion `n == 4` failed"), "R8008");
  assertEquals(codeOf("instruction budget"), "R8006");
  assertEquals(codeOf("unsupported instruction"), undefined);
});
