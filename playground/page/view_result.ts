/** The tensors of the last launch as pictures and tables. */
import type { SeenTensor } from "../session/run.ts";
import { rangeOf, shortNumber, tensorPicture } from "../views/tensor_picture.ts";
import type { App } from "./app.ts";
import { fill, h } from "./dom.ts";
import { figureOf } from "./figure.ts";
import { launchLine, notRunText } from "./outcome.ts";
import type { View } from "./view.ts";

/** The view. */
export function resultView(app: App, parent: HTMLElement): View {
  const refresh = (): void => {
    const { outcome } = app.known;
    if (outcome?.kind !== "ran") return fill(parent, notRunText(app.known));
    fill(
      parent,
      launchLine(outcome),
      h("div", { class: "figures" }, ...outcome.tensors.flatMap(figuresOf)),
      outcome.printed === ""
        ? undefined
        : h("section", {}, h("h3", {}, "Printed"), h("pre", {}, outcome.printed)),
    );
  };
  return { refresh, line: () => {} };
}

function figuresOf({ name, dtype, shape, role, before, after }: SeenTensor): HTMLElement[] {
  const one = (values: Float64Array, title: string): HTMLElement => {
    const range = rangeOf(values);
    const spread = range === undefined
      ? "no finite value"
      : `${shortNumber(range.least)} … ${shortNumber(range.greatest)}`;
    const picture = tensorPicture({ name, shape, values });
    const text = `${title} ${name}: ${dtype}[${shape.join(", ")}], ${spread}`;
    return figureOf({ ...picture, title: text }, { width: 360, height: 300 });
  };
  return [
    ...before === undefined ? [] : [one(before, role === "inout" ? "before:" : "in:")],
    ...after === undefined ? [] : [one(after, role === "inout" ? "after:" : "out:")],
  ];
}
