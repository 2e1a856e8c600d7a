import { parseEntryParameters } from "../../../../ffi/kernel/images/ptx_entry.ts";
import { assertEquals } from "../../../support/assert.ts";

Deno.test("parseEntryParameters() finds offsets and sizes at natural alignment", () => {
  const ptx = `
.visible .entry f(
	.param .u64 .ptr .global .align 16 f_param_0,
	.param .u8 f_param_1,
	.param .b16 f_param_2,
	.param .f32 f_param_3,
	.param .align 64 .b8 f_param_4[128],
	.param .s64 f_param_5
)
.reqntid 128, 1, 1
{`;
  assertEquals(parseEntryParameters(ptx, "f"), [
    { offset: 0, bytes: 8 },
    { offset: 8, bytes: 1 },
    { offset: 10, bytes: 2 },
    { offset: 12, bytes: 4 },
    { offset: 64, bytes: 128 },
    { offset: 192, bytes: 8 },
  ]);
});

Deno.test("parseEntryParameters() distinguishes entries by their whole name", () => {
  const ptx = ".entry f_2(.param .u32 a)\n{}\n.entry f(.param .u64 a)\n{}\n.entry $g\n{}";
  assertEquals(parseEntryParameters(ptx, "f"), [{ offset: 0, bytes: 8 }]);
  assertEquals(parseEntryParameters(ptx, "f_2"), [{ offset: 0, bytes: 4 }]);
  assertEquals(parseEntryParameters(ptx, "$g"), []);
  assertEquals(parseEntryParameters(ptx, "h"), undefined);
});
