/** Random constants of a given element type and shape. */
import { SCALARS } from "../../../compiler/support/scalar.ts";
import { isFloat, type ProgramContext } from "./scope.ts";
import { type Node, node, type Wanted } from "./tree.ts";

/** A constant, as a tile by a cast. */
export function literal(cx: ProgramContext, wanted: Wanted): Node {
  const { choices } = cx;
  const { type } = wanted;
  // In parentheses, as a subscript after it would belong to the number.
  const constant = (text: string): Node =>
    node(wanted, `((${cx.spellTile(type, wanted.shape)})${text})`);
  if (type === "bool") return constant(choices.pick(["true", "false"]));
  if (isFloat(type)) {
    if (choices.oneIn(8)) return constant(choices.pick(["INFINITY", "NAN", "(-0.0f)", "1.0e-30f"]));
    const quarters = choices.between(-16, 16);
    const suffix = choices.pick(["f", "f", "", "h", "bf", "l"]);
    return constant(`(${quarters / 4}${quarters % 4 === 0 ? ".0" : ""}${suffix})`);
  }
  const { bits, signed } = SCALARS[type];
  if (cx.constants.length > 0 && choices.oneIn(6)) return constant(choices.pick(cx.constants));
  if (!choices.oneIn(6)) return constant(`${choices.between(0, 12)}`);
  return constant(`(${choices.pick([0, -1, bits - 1, bits, signed ? -(bits / 8) : bits / 2])})`);
}
