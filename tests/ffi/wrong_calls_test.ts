/**
 * Calls of every public operation with arguments that a program may pass by mistake: each is refused by an error of the
 * run time or has the meaning that is documented, and afterwards right calls work. `TRI_CALLS=20000` tries more.
 * Extra arguments of methods are ignored, as JavaScript does; kernels refuse them.
 */
import { nameValue } from "../../ffi/arguments/brands.ts";
import * as runtime from "../../ffi/mod.ts";
import { TriError } from "../../ffi/mod.ts";
import { isList } from "../../ffi/arguments/numbers.ts";
import { assert, assertEquals } from "../support/assert.ts";
import fc from "../support/property.ts";
import { type Argument, type Operation, operationsOf } from "./wrong_calls/operations.ts";
import { CallersError, countValues, valueAt } from "./wrong_calls/values.ts";
import { World } from "./wrong_calls/world.ts";

const COUNT = Number(Deno.env.get("TRI_CALLS") ?? 1000);

/** What is wrong with a call. Numbers choose among what the operation has. */
interface Mistake {
  readonly operation: number;
  readonly argument: number;
  readonly value: number;
  readonly how: "replace" | "unknown name" | "one more" | "no object";
  /** What happened to the objects before. */
  readonly before: "nothing" | "disposed" | "in a capture";
}

const mistakes = fc.record({
  operation: fc.nat(1000),
  argument: fc.nat(1000),
  value: fc.nat(100_000),
  how: fc.oneof(
    { weight: 8, arbitrary: fc.constant("replace" as const) },
    fc.constantFrom("unknown name" as const, "one more", "no object"),
  ),
  before: fc.oneof(
    { weight: 8, arbitrary: fc.constant("nothing" as const) },
    fc.constantFrom("disposed" as const, "in a capture"),
  ),
});

/** The arguments of a wrong call, and whether it must be refused. */
interface WrongCall {
  readonly args: readonly unknown[];
  readonly mustFail: boolean;
}

function wrongCall(
  { positional = [], named, refusesMore = false }: Operation,
  { argument, how }: Mistake,
  value: unknown,
): WrongCall {
  const args = positional.map(({ right }) => right);
  const options = Object.fromEntries(
    Object.entries(named ?? {}).filter(([, { right }]) => right !== undefined)
      .map(([name, { right }]) => [name, right]),
  );
  const all = named === undefined ? args : [...args, options];
  if (how === "one more") return { args: [...all, value], mustFail: refusesMore };
  if (named !== undefined && how === "unknown name") {
    return { args: [...args, { ...options, strem: value }], mustFail: true };
  }
  if (named !== undefined && how === "no object") {
    return { args: [...args, value], mustFail: isNoObject(value) };
  }
  const given = [...positional, ...Object.values(named ?? {})];
  if (given.length === 0) return { args: [value], mustFail: false };
  const index = argument % given.length;
  const mustFail = !mayBeRight(given[index], value);
  if (index < args.length) return { args: all.with(index, value), mustFail };
  const name = Object.keys(named ?? {})[index - args.length] ?? "";
  return { args: [...args, { ...options, [name]: value }], mustFail };
}

/** A value that cannot be looked at is right nowhere, unless anything is. */
function mayBeRight(argument: Argument | undefined, value: unknown): boolean {
  try {
    return argument?.allows(value) !== false;
  } catch {
    return false;
  }
}

/** Options may be absent and of any plain object. */
function isNoObject(value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== "object" || value === null) return true;
  return isList(value) || ArrayBuffer.isView(value);
}

/** What JavaScript says of a Proxy that was revoked and is read, and of a class that is called as a function. */
const CALLERS = ["proxy that has been revoked", "cannot be invoked without 'new'"] as const;

/** The value threw where it was read or called: by its own code, or because of what it is. */
function isCallers(error: unknown): boolean {
  return error instanceof CallersError ||
    error instanceof TypeError && CALLERS.some((text) => error.message.includes(text));
}

/** Runs the call and throws unless it ends as it must. */
async function judge(call: () => unknown, mustFail: boolean): Promise<void> {
  try {
    const result: unknown = await call();
    giveBack(result);
  } catch (error) {
    if (isCallers(error)) return;
    assert(error instanceof TriError, `${error instanceof Error ? error.stack : error}`);
    assert(error.message.length > 20, error.message);
    return;
  }
  assert(!mustFail, "the call was not refused");
}

/** Disposes what can be, so that a long run does not fill the device. */
function giveBack(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const dispose: unknown = Reflect.get(value, Symbol.dispose);
  if (typeof dispose === "function") Reflect.apply(dispose, value, []);
  else if ("result" in value) giveBack(value.result);
}

async function tryMistake(world: World, mistake: Mistake): Promise<void> {
  const objects = world.objects();
  const operations = operationsOf(world, objects);
  const operation = operations[mistake.operation % operations.length];
  assert(operation !== undefined);
  const value = valueAt(mistake.value % countValues(objects), objects, world.foreign);
  const { args, mustFail } = wrongCall(operation, mistake, value);
  const call = (): unknown => operation.run(...args);
  try {
    if (mistake.before === "disposed") Object.values(objects).forEach(giveBack);
    if (mistake.before === "in a capture") {
      let inside: Promise<void> | undefined;
      await judge(() => {
        const graph = objects.stream.capture(() => {
          inside = judge(call, mustFail);
        });
        graph[Symbol.dispose]();
      }, false);
      await inside;
    } else await judge(call, mustFail);
    world.clear();
    await world.check();
  } catch (cause) {
    const what = `${operation.name}, ${mistake.how} ${mistake.argument} by ${nameValue(value)}, ` +
      `${mistake.before} before`;
    throw new Error(`${what}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

Deno.test("every public operation refuses wrong calls by its own errors, and right calls then work", async () => {
  using world = new World();
  await fc.assert(
    fc.asyncProperty(mistakes, (mistake) => tryMistake(world, mistake)),
    { numRuns: COUNT },
  );
});

/** Those of the run time itself, which documentation leaves out. */
const INTERNAL: ReadonlySet<string> = new Set([
  "Device.constructor",
  // It ends the device that all calls share.
  "Device.dispose",
  "Device.take",
  "Device.giveBack",
  "Device.forgetForeign",
  "Device.view",
  "ConstantBuffer.attach",
  "Stream.recording",
  "PinnedArray.queue",
]);

Deno.test("operationsOf() has every method, accessor and function that the run time exports", () => {
  using world = new World();
  const names = new Set(operationsOf(world, world.objects()).map(({ name }) => name));
  const missing = Object.entries(runtime).flatMap(([name, exported]): string[] => {
    if (typeof exported !== "function") return [];
    const prototype: unknown = Reflect.get(exported, "prototype");
    // Errors are made by the run time.
    if (typeof prototype !== "object" || prototype === null) return names.has(name) ? [] : [name];
    if (prototype instanceof Error) return [];
    if (/^[a-z]/.test(name)) return names.has(name) ? [] : [name];
    const members = [
      ...Object.getOwnPropertyNames(prototype),
      ...Object.getOwnPropertyNames(exported).filter((each) =>
        typeof Reflect.get(exported, each) === "function"
      ),
    ].filter((each) => each !== "prototype");
    return members.map((member) => `${name}.${member}`).filter((each) =>
      !names.has(each) && !INTERNAL.has(each)
    );
  });
  assertEquals(missing, []);
});
