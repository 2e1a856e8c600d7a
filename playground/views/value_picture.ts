/** A variable of the source at a step, as a heat map; elements that are not known look apart and say why. */
import type { SeenValue } from "../../cli/report/look.ts";
import { type Colour, NOTHING } from "./colours.ts";
import type { Picture } from "./picture.ts";
import { tensorPicture } from "./tensor_picture.ts";

/** What is said of an element by its kind. */
const KINDS: readonly {
  readonly says: string;
  readonly colour?: Colour;
  readonly text?: string;
}[] = [
  { says: "held in a register" },
  { says: "computed" },
  { says: "not set yet", colour: [226, 229, 233], text: "·" },
  { says: "gone", colour: [150, 156, 163], text: "×" },
];

/** How many elements are known how: `768 computed, 256 held in a register`. */
function kindsText(kinds: Uint8Array): string {
  const counts = KINDS.map(({ says }, kind) => ({
    says,
    count: kinds.filter((each) => each === kind).length,
  }));
  const found = counts.filter(({ count }) => count > 0);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.says;
  return found.map(({ says, count }) => `${count} ${says}`).join(", ");
}

/** A number, or why it is not known, and how it is. */
export function numberText({ values, kinds, type }: SeenValue): string {
  const kind = KINDS[kinds[0] ?? 3];
  if (kind?.text !== undefined) return kind.says;
  const value = values[0] ?? NaN;
  const text = type.endsWith("*") ? `0x${value.toString(16)}` : String(value);
  return `${text} (${kind?.says ?? ""})`;
}

/** The picture. */
export function valuePicture({ name, type, shape, values, kinds }: SeenValue): Picture {
  const whole = shape.length === 0 ? [1] : shape;
  const picture = tensorPicture({ name, shape: whole, values });
  return {
    ...picture,
    title: `${name}: ${type}, ${kindsText(kinds)}`,
    cell: (column, row) => {
      const cell = picture.cell(column, row);
      const index = row * picture.columns + column;
      if (index >= kinds.length) return cell;
      const kind = KINDS[kinds[index] ?? 0];
      return {
        colour: kind?.colour ?? cell.colour ?? NOTHING,
        text: kind?.text ?? cell.text,
        says: kind?.text === undefined
          ? `${cell.says}, ${kind?.says ?? ""}`
          : `${name}: ${kind.says}`,
      };
    },
  };
}
