/** Which program of the grid is looked at. */
import { h } from "./dom.ts";
import type { Host } from "./view.ts";

/** A number for each axis that has more than one program. */
export function programChoice(
  app: Host,
  grid: readonly number[],
  chosen: () => void,
): HTMLElement {
  const axes = grid.flatMap((extent, axis) => extent > 1 ? [{ extent, axis }] : []);
  return h(
    "span",
    { class: "choice" },
    h("span", {}, `Program of ${grid.join(" × ")}`),
    ...axes.map(({ extent, axis }) => {
      const input = h("input", {
        type: "number",
        min: 0,
        max: extent - 1,
        value: app.state.program[axis] ?? 0,
        "aria-label": `program along axis ${axis}`,
        change: () => {
          const [x, y, z] = app.state.program.map((at, each) =>
            each === axis ? Number(input.value) : at
          );
          app.choose({ program: [x ?? 0, y ?? 0, z ?? 0] }, "view");
          chosen();
        },
      });
      return input;
    }),
  );
}
