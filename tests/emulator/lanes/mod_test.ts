import fc from "../../support/property.ts";
import type { Match } from "../../../compiler/ptx/match.ts";
import { isTypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import { carryOperation } from "../../../emulator/lanes/carry.ts";
import { CARRY_HANDLERS, LANE_OPCODES, laneOperation } from "../../../emulator/lanes/mod.ts";
import { scalarSources } from "../../../emulator/lanes/shape.ts";
import type { Bits, LaneOperation, Width } from "../../../emulator/machine.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { laneRowsOfTable, type Spelling, spellingsOf } from "../../support/emulator/ptx_forms.ts";
import { specialValues } from "../../support/emulator/ptx_operands.ts";
import { REFERENCES } from "./reference.ts";

/** Instructions that move or compare bits of any type; with floats, the others are not this folder's. */
const ANY_TYPE: ReadonlySet<string> = new Set(["set", "setp", "selp", "slct", "mov"]);

const isFloat = (name: string): boolean => isTypeName(name) && TYPES[name].class === "float";

function isOwn({ match }: Spelling): boolean {
  return ANY_TYPE.has(match.opcode) ||
    ![...match.modifiers, ...match.operands.map(({ type }) => type)].some(isFloat);
}

/** The spellings of this folder by opcode. */
const OWN: ReadonlyMap<string, readonly Spelling[]> = new Map(
  laneRowsOfTable()
    .map(([opcode, row]): [string, Spelling[]] => [
      opcode,
      row.forms.flatMap((form) => spellingsOf(opcode, form)).filter(isOwn),
    ])
    .filter(([, spellings]) => spellings.length > 0),
);

function operationOf(match: Match): LaneOperation | undefined {
  return Object.hasOwn(CARRY_HANDLERS, match.opcode) ? carryOperation(match) : laneOperation(match);
}

/** Bits as operations take them. */
const toBits = (value: bigint, width: Width): Bits => width <= 32 ? Number(value) : value;

/** Values for a source: special ones of its type below whatever is above it in its register, or any bits. */
function sourceArbitrary(match: Match, i: number, width: Width): fc.Arbitrary<bigint> {
  // The condition code comes last and is not written.
  const type = scalarSources(match)[i]?.type ?? "pred";
  const any = fc.bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n });
  const special = fc.tuple(fc.constantFrom(...specialValues(type)), any).map(([value, above]) =>
    value | ((above >> BigInt(TYPES[type].bits)) << BigInt(TYPES[type].bits))
  );
  return fc.oneof({ weight: 3, arbitrary: special }, { weight: 1, arbitrary: any });
}

function results(operation: LaneOperation, sources: readonly bigint[]): bigint[] {
  const [a = 0, b = 0, c = 0, d = 0] = sources.map((value, i) =>
    toBits(value, operation.sources[i] ?? 32)
  );
  return [operation, ...operation.more ?? []].map(({ result, evaluate }) => {
    const value = evaluate(a, b, c, d);
    assertEquals(typeof value, result <= 32 ? "number" : "bigint", "the kind of bits");
    return BigInt(value);
  });
}

function checkSpelling({ match, instruction }: Spelling): void {
  const operation = must(operationOf(match), `meaning of ${match.opcode} in emulator/lanes`);
  const reference = must(REFERENCES[match.opcode], `reference of ${match.opcode} in reference.ts`);
  const count = operation.sources.length;
  const sources = operation.sources.map((width, i) => sourceArbitrary(match, i, width));
  // Equal sources now and then: comparisons and differences are special there.
  const equal = fc.tuple(fc.tuple(...sources), fc.integer({ min: 0, max: 7 })).map((
    [values, pick],
  ) =>
    pick === 0 && count >= 2 && operation.sources[0] === operation.sources[1]
      ? [must(values[0], "a"), ...[must(values[0], "b"), ...values.slice(2)]]
      : values
  );
  fc.assert(
    fc.property(equal, (values) => {
      const found = results(operation, values);
      const wanted = reference(match, values).slice(0, found.length);
      const spelling = [instruction.opcode, ...instruction.modifiers].join(".");
      assertEquals(
        found,
        wanted,
        `${spelling}(${values.map((value) => `0x${value.toString(16)}`)})`,
      );
    }),
    { numRuns: 30 },
  );
}

for (const [opcode, spellings] of OWN) {
  Deno.test(`laneOperation() does what the ISA says of ${opcode}`, () => {
    spellings.forEach(checkSpelling);
  });
}

Deno.test("laneOperation() takes every form of the table that is not about floats", () => {
  const opcodes = [...LANE_OPCODES, ...Object.keys(CARRY_HANDLERS)];
  assertEquals([...OWN.keys()].filter((opcode) => !opcodes.includes(opcode)), []);
  assertEquals([...OWN.keys()].filter((opcode) => !Object.hasOwn(REFERENCES, opcode)), []);
  assertEquals(opcodes.filter((opcode) => !OWN.has(opcode)), []);
  for (const spellings of OWN.values()) {
    for (const { match, instruction } of spellings) {
      assert(
        operationOf(match) !== undefined,
        [instruction.opcode, ...instruction.modifiers].join("."),
      );
    }
  }
});
