import fc from "../../support/property.ts";
import { JsonError, type JsonNode, parseJsonc } from "../../../cli/project/jsonc.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";

function plain(node: JsonNode): unknown {
  switch (node.kind) {
    case "object":
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plain(value)]));
    case "array":
      return node.items.map(plain);
    case "null":
      return null;
    default:
      return node.value;
  }
}

function parse(text: string): JsonNode {
  return parseJsonc({ name: "deno.json", text });
}

Deno.test("parseJsonc() reads what JSON.parse() reads", () => {
  fc.assert(fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
    const printed = JSON.stringify(JSON.parse(text), null, indent);
    // Keys such as __proto__ cannot be compared through plain objects.
    fc.pre(!printed.includes("__proto__"));
    assertEquals(plain(parse(printed)), JSON.parse(printed));
  }));
});

Deno.test("parseJsonc() skips comments, trailing commas and a byte order mark", () => {
  const text = '\uFEFF// one\n{ /* two */ "a": [1, 2,], // three\n "b//": null, }\n';
  assertEquals(plain(parse(text)), { a: [1, 2], "b//": null });
});

Deno.test("parseJsonc() gives every value its span", () => {
  const root = parse('{"key": [true]}');
  if (root.kind !== "object") throw new Error(root.kind);
  const [member] = root.members;
  assertEquals([member?.keySpan.start, member?.keySpan.end], [1, 6]);
  assertEquals([member?.value.span.start, member?.value.span.end], [8, 14]);
});

Deno.test("parseJsonc() says where a text stops being JSON", () => {
  for (
    const [text, at] of [
      ["{", 1],
      ["[1 2]", 3],
      ['{"a" 1}', 5],
      ["nul", 0],
      ["1 1", 2],
      [
        '"a\n"',
        0,
      ],
      ['"\\x"', 0],
      ["", 0],
      ["{a: 1}", 1],
      ["01", 1],
    ] as const
  ) {
    const error = assertThrows(() => parse(text), JsonError);
    assertEquals(error.span.start, at, text);
  }
});
