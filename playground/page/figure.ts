/** Draws a picture: a canvas that arrow keys walk on, a line that says the cell, and a table of the same cells. */
import { inkOn } from "../views/colours.ts";
import { cellSize, type Picture, pixelsOf, restOf, tableOf } from "../views/picture.ts";
import { h, table } from "./dom.ts";

/** How a figure behaves. */
export interface FigureOptions {
  /** The most pixels that it takes. */
  readonly width: number;
  readonly height: number;
  /** Receives the cell that is pointed at. */
  readonly onCell?: (column: number, row: number) => void;
}

/** Cells at least so large have their text in them. */
const TEXT_SIZE = 20;

/** The elements of a picture. */
export function figureOf(picture: Picture, options: FigureOptions): HTMLElement {
  const { columns, rows, title } = picture;
  const size = cellSize(picture, options.width, options.height);
  const height = size * (picture.tall ?? 1);
  const canvas = h("canvas", {
    width: columns * size,
    height: rows * height,
    tabindex: 0,
    role: "application",
    "aria-label": `${title}. Arrow keys move from cell to cell; a table of the cells follows.`,
  });
  const says = h("p", { class: "says", "aria-live": "polite" }, "\u00a0");
  let at: readonly [column: number, row: number] = [0, 0];
  const draw = (cursor: boolean): void => {
    const context = canvas.getContext("2d");
    if (context === null || columns === 0 || rows === 0) return;
    const image = new ImageData(pixelsOf(picture, size), columns * size, rows * height);
    context.putImageData(image, 0, 0);
    if (size >= TEXT_SIZE) drawTexts(context, picture, size);
    if (!cursor) return;
    const [column, row] = at;
    context.lineWidth = 2;
    context.strokeStyle = "#e6007a";
    context.strokeRect(column * size, row * height, Math.max(3, size - 1), Math.max(3, height - 1));
  };
  const point = (column: number, row: number): void => {
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    at = [column, row];
    says.textContent = picture.cell(column, row).says;
    draw(true);
    options.onCell?.(column, row);
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const scale = columns * size / box.width;
    point(
      Math.floor((event.clientX - box.left) * scale / size),
      Math.floor((event.clientY - box.top) * scale / height),
    );
  });
  canvas.addEventListener("focus", () => point(...at));
  canvas.addEventListener("blur", () => draw(false));
  canvas.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    point(at[0] + step[0], at[1] + step[1]);
  });
  draw(false);
  return h(
    "figure",
    {},
    h("figcaption", {}, title),
    h("div", { class: "scroll" }, canvas),
    says,
    detailsOf(picture),
  );
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function drawTexts(context: CanvasRenderingContext2D, picture: Picture, size: number): void {
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `${Math.min(13, Math.round(size / 2.4))}px ui-monospace, monospace`;
  for (let row = 0; row < picture.rows; row++) {
    for (let column = 0; column < picture.columns; column++) {
      const { colour, text } = picture.cell(column, row);
      if (text.length * size / 4 > size) continue;
      context.fillStyle = inkOn(colour);
      context.fillText(text, (column + 0.5) * size, (row + 0.5) * size);
    }
  }
}

/** The table is made when somebody opens it: it has up to two thousand cells. */
function detailsOf(picture: Picture): HTMLElement {
  const details = h("details", {}, h("summary", {}, "Table"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const { columns, rows } = tableOf(picture);
    const rest = restOf(picture);
    details.append(
      h("div", { class: "scroll" }, table(picture.title, columns, rows)),
      h("p", {}, rest),
    );
  });
  return details;
}
