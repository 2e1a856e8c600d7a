/**
 * Instances of helpers with constant parameters (language.md, 4.4): one for each set of values that they are called
 * with. A call makes the instance; its body is checked when all definitions of the file are known.
 */
import type { Diagnostic, Note } from "../../support/diagnostic.ts";
import type { Span } from "../../support/source.ts";
import type { TypedHelper, Variable } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import type { HelperEntry, HelperInstance } from "../scope.ts";
import type { Value } from "../tree/nodes.ts";

/** Each is checked, and a helper that calls another with two sets of values doubles them at every level. */
const MAX_INSTANCES = 256;

/** The helper that a call runs; undefined after an error. */
export function calledHelper(
  cx: Context,
  callee: HelperEntry,
  values: readonly (Value | undefined)[],
  span: Span,
): TypedHelper | undefined {
  const helper = callee.constants.includes(true)
    ? instanceOf(cx, callee, values, span)
    : callee.helper;
  if (helper !== undefined) cx.calls.push({ caller: cx.fn?.helper, callee, helper, span });
  return helper;
}

function instanceOf(
  cx: Context,
  entry: HelperEntry,
  values: readonly (Value | undefined)[],
  call: Span,
): TypedHelper | undefined {
  const constants = values.flatMap((value) => value?.kind === "constant" ? [value.value] : [])
    .map(BigInt);
  const key = constants.join();
  const known = cx.instances.get(entry) ?? new Map<string, HelperInstance>();
  cx.instances.set(entry, known);
  const earlier = known.get(key);
  if (earlier !== undefined) return earlier.helper;
  const caller = cx.fn?.instance;
  // Recursion with other constants each time has no end, so no cycle of calls would show it.
  for (let at = caller; at !== undefined; at = at.caller) {
    if (at.entry !== entry) continue;
    reportRecursion(cx, entry.helper.name, call);
    return undefined;
  }
  if (known.size === MAX_INSTANCES) {
    const message =
      `\`${entry.helper.name}\` is called with more than ${MAX_INSTANCES} sets of constants`;
    cx.reporter.error("E4034", call, message, {
      hint: "remove the `const` of parameters that shape no tile",
      notes: [{ message: `\`${entry.helper.name}\` is declared here`, span: entry.span }],
    });
    return undefined;
  }
  const lists: { readonly params: Variable[]; readonly body: HelperInstance["body"] } = {
    params: [],
    body: [],
  };
  const helper: TypedHelper = { ...entry.helper, ...lists, constants };
  const instance: HelperInstance = { entry, helper, values, ...lists, call, caller };
  known.set(key, instance);
  cx.uncheckedInstances.push(instance);
  return helper;
}

/** With which constants an instance is checked. */
export function instanceNote({ entry, helper, call }: HelperInstance): Note {
  const names = entry.source?.head.params.filter(({ isConstant }) => isConstant) ?? [];
  const values = names.map(({ name }, at) => `${name?.text} = ${helper.constants?.[at]}`).join(
    ", ",
  );
  return { message: `\`${helper.name}\` is called here with ${values}`, span: call };
}

/** E4025. */
export function reportRecursion(cx: Context, name: string, span: Span): void {
  cx.reporter.error("E4025", span, `\`${name}\` calls itself`, {
    hint: "helpers are inlined into their callers; write a loop",
  });
}

/** Those at whose location the code was not seen before: instances of one helper have the same text. */
export function unseen<T extends Pick<Diagnostic, "code" | "span">>(
  found: readonly T[],
  seen: Set<string>,
): readonly T[] {
  const keys = found.map(({ code, span }) => [code, ...sites(span)].join());
  const kept = found.filter((_, at) => !seen.has(keys[at] ?? ""));
  for (const key of keys) seen.add(key);
  return kept;
}

/** A location, and the uses of the macros that its text is from. */
function sites({ file, start, end, expansion }: Span): readonly string[] {
  const own = `${file.name}:${start}:${end}`;
  return expansion === undefined ? [own] : [own, ...sites(expansion.use)];
}
