/** Compile-time parameters that nothing depends on: usually misspelt. */
import type { PragmaItem, PragmaText } from "../pragma/pragma.ts";
import type { Define } from "../options.ts";
import type { Reporter } from "../support/diagnostic.ts";
import { nearest } from "../support/spelling.ts";
import type { KernelPlan, Parameter } from "./instances.ts";

/** `-D`s that neither the text nor a pragma mentions (W1023). */
export function reportUnusedDefines(
  defines: readonly Define[],
  used: ReadonlySet<string>,
  items: readonly PragmaItem[],
  reporter: Reporter,
): void {
  const mentioned = namesInTexts(
    items.flatMap((item) => [...contractTexts(item), ...filterTexts(item)]),
  );
  for (const { name, value } of defines) {
    if (value === null || used.has(name) || mentioned.has(name)) continue;
    const near = nearest(name, used);
    const file = { name: `<-D ${name}>`, text: value };
    reporter.warn(
      "W1023",
      { file, start: 0, end: value.length },
      `nothing in the file depends on \`${name}\``,
      {
        ...(near === undefined ? {} : { hint: `did you mean \`${near}\`?` }),
      },
    );
  }
}

/** Parameters of pragmas that neither the kernels nor their contracts mention (W9011): each once. */
export function reportUnusedParameters(
  plans: readonly KernelPlan[],
  used: ReadonlySet<string>,
  reporter: Reporter,
): void {
  const kernels = new Map<Parameter, string[]>();
  for (const plan of plans) {
    const mentioned = namesInTexts(plan.items.flatMap(({ item }) => contractTexts(item)));
    for (const parameter of plan.parameters) {
      if (used.has(parameter.name) || mentioned.has(parameter.name)) continue;
      // Kernels that one definition makes share its pragmas.
      const known = [...kernels.keys()].find(({ span }) => span === parameter.span) ?? parameter;
      kernels.set(known, [...kernels.get(known) ?? [], `\`${plan.kernel}\``]);
    }
  }
  for (const [{ name, span }, of] of kernels) {
    const near = nearest(name, used);
    reporter.warn("W9011", span, `the parameter \`${name}\` is never used by ${of.join(", ")}`, {
      hint: near === undefined
        ? "remove it; it only multiplies the instances"
        : `did you mean \`${near}\`?`,
    });
  }
}

function filterTexts(item: PragmaItem): readonly PragmaText[] {
  return item.kind === "configs" && item.condition !== undefined ? [item.condition] : [];
}

function contractTexts(item: PragmaItem): readonly PragmaText[] {
  switch (item.kind) {
    case "grid":
      return item.extents;
    case "tensor":
      return item.tensors.flatMap(({ extents, strides = [], type }) => [
        ...extents,
        ...strides,
        ...type === undefined ? [] : [type],
      ]);
    case "require":
      return [item.condition];
    case "specialize":
      return item.mode === "off" ? [] : item.mode.flatMap(({ condition }) => condition ?? []);
    default:
      return [];
  }
}

function namesInTexts(texts: readonly PragmaText[]): ReadonlySet<string> {
  return new Set(texts.flatMap(({ text }) => text.match(/[A-Za-z_]\w*/g) ?? []));
}
