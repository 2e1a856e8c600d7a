/** Kernel parameters: their PTX types and how they are read. */
import type { Operand } from "../ptx/func.ts";
import type { Value } from "../ir/func.ts";
import { type Element, isPointer } from "../ir/types.ts";
import { SCALARS } from "../support/scalar.ts";
import type { LowerContext } from "./context.ts";
import { memo } from "./values.ts";
import { bankOf } from "./element.ts";
import { int } from "./emitter.ts";

/** PTX type of a kernel parameter; the argument block packs them at natural alignment. */
export function paramType(element: Element): string {
  if (isPointer(element)) return "u64";
  if (element === "bool") return "u8";
  const { class: kind, bits, signed } = SCALARS[element];
  if (kind === "float") return bits >= 32 ? `f${bits}` : `b${bits}`;
  return `${signed ? "s" : "u"}${bits}`;
}

export function lowerParam(cx: LowerContext, param: Value, name: string): void {
  const element = param.type.element;
  cx.values.set(
    param,
    memo(cx, () => {
      const e = cx.emitter;
      const address: Operand = { kind: "address", base: { kind: "symbol", name }, offset: 0n };
      if (element === "bool") {
        const byte = e.pure("ld.param.u8", "b32", [address]);
        return e.pure("setp.ne.b32", "pred", [byte, int(0)]);
      }
      const bank = bankOf(element);
      const narrow = !isPointer(element) && SCALARS[element].class === "int"
        ? paramType(element)
        : bank;
      const loaded = e.pure(`ld.param.${narrow}`, bank, [address]);
      return isPointer(element) ? e.pure("cvta.to.global.u64", "b64", [loaded]) : loaded;
    }),
  );
}
