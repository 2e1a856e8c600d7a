/** Random constants of a given element type and shape. */
import { SCALARS } from "../../../compiler/support/scalar.ts";
import { isFloat, type Workshop } from "./scope.ts";
import { type Node, node, type Wanted } from "./tree.ts";

/** A constant, as a tile by a cast. */
export function literal(shop: Workshop, wanted: Wanted): Node {
  const { dice } = shop;
  const { type } = wanted;
  // In parentheses, as a subscript after it would belong to the number.
  const constant = (text: string): Node =>
    node(wanted, `((${shop.spellTile(type, wanted.shape)})${text})`);
  if (type === "bool") return constant(dice.pick(["true", "false"]));
  if (isFloat(type)) {
    if (dice.oneIn(8)) return constant(dice.pick(["INFINITY", "NAN", "(-0.0f)", "1.0e-30f"]));
    const quarters = dice.between(-16, 16);
    const suffix = dice.pick(["f", "f", "", "h", "bf", "l"]);
    return constant(`(${quarters / 4}${quarters % 4 === 0 ? ".0" : ""}${suffix})`);
  }
  const { bits, signed } = SCALARS[type];
  if (shop.constants.length > 0 && dice.oneIn(6)) return constant(dice.pick(shop.constants));
  if (!dice.oneIn(6)) return constant(`${dice.between(0, 12)}`);
  return constant(`(${dice.pick([0, -1, bits - 1, bits, signed ? -(bits / 8) : bits / 2])})`);
}
