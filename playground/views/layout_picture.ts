/** A layout as a picture: each element of the tile, coloured by the lane, the warp or the register that holds it. */
import { elementAt, indexBits, type LinearLayout } from "../../compiler/linear/linear.ts";
import { colourOfName } from "./colours.ts";
import type { Picture } from "./picture.ts";
import { gridOf, indicesOf, NO_ELEMENT } from "./tensor_picture.ts";

/** What colours mean. */
export type Holder = "lane" | "warp" | "register";

/** Who holds an element: the first holder, and how many there are. */
export interface Place {
  readonly register: number;
  readonly lane: number;
  readonly warp: number;
  readonly copies: number;
}

/** The holders of each element, by its row-major index. */
export function placesOf(layout: LinearLayout): readonly Place[] {
  const places = new Array<Place | undefined>(2 ** indexBits(layout.shape)).fill(undefined);
  const [registers, lanes, warps] = [layout.register, layout.lane, layout.warp].map((bases) =>
    2 ** bases.length
  );
  for (let warp = 0; warp < (warps ?? 1); warp++) {
    for (let lane = 0; lane < (lanes ?? 1); lane++) {
      for (let register = 0; register < (registers ?? 1); register++) {
        const element = elementAt(layout, register, lane, warp);
        const known = places[element];
        places[element] = known === undefined
          ? { register, lane, warp, copies: 1 }
          : { ...known, copies: known.copies + 1 };
      }
    }
  }
  return places.flatMap((place) => place === undefined ? [] : [place]);
}

/** The picture of a layout. */
export function layoutPicture(name: string, layout: LinearLayout, by: Holder): Picture {
  const places = placesOf(layout);
  const { shape } = layout;
  const grid = gridOf(shape);
  const count = by === "lane" ? 32 : 2 ** layout[by].length;
  return {
    title: name,
    ...grid,
    cell: (column, row) => {
      const index = row * grid.columns + column;
      if (index >= places.length) return NO_ELEMENT;
      const { register = 0, lane = 0, warp = 0, copies = 1 } = places[index] ?? {};
      const number = { register, lane, warp }[by];
      const more = copies === 1 ? "" : `, and ${copies - 1} copies`;
      return {
        colour: colourOfName(number, count),
        text: `${number}`,
        says:
          `element ${indicesOf(index, shape).join(", ")}: register ${register} of lane ${lane}, ` +
          `warp ${warp}${more}`,
      };
    },
  };
}
