/** Layouts: which register of which lane and warp holds each element, and how elements move between two layouts. */
import type { Tile } from "../../cli/report/tiles.ts";
import { type Holder, layoutPicture } from "../views/layout_picture.ts";
import { choice, fill, h } from "./dom.ts";
import { figureOf } from "./figure.ts";
import type { Host, View } from "./view.ts";

const HOLDERS: readonly (readonly [Holder, string])[] = [
  ["lane", "lane"],
  ["warp", "warp"],
  ["register", "register"],
];

/** The view. */
export function layoutsView(app: Host, parent: HTMLElement): View {
  let tiles: readonly Tile[] = [];
  let by: Holder = "lane";
  const draw = (): void => {
    const shown = tiles.filter(isWorthShowing);
    if (shown.length === 0) {
      fill(parent, h("p", { class: "quiet" }, "The kernel has no tiles."));
      return;
    }
    const wanted = shown.find((tile) => nameOf(tile) === app.state.tile) ??
      shown.find(({ how }) => how?.startsWith("through")) ??
      shown.find(({ op }) => op === "dot") ?? shown.find(({ op }) => op === "load") ?? shown[0];
    if (wanted === undefined) return;
    const chain = chainOf(wanted, tiles);
    fill(
      parent,
      h(
        "div",
        { class: "bar" },
        choice(
          "Tile",
          shown.map((tile) => [nameOf(tile), labelOf(tile)]),
          nameOf(wanted),
          (tile) => {
            app.choose({ tile }, "view");
            draw();
          },
        ),
        choice("Colour by", HOLDERS, by, (value) => {
          by = HOLDERS.find(([name]) => name === value)?.[0] ?? "lane";
          draw();
        }),
      ),
      h(
        "div",
        { class: "figures chain" },
        ...chain.flatMap((tile, index) => [
          index === 0 ? undefined : h(
            "div",
            { class: "arrow" },
            h("strong", {}, `${tile.op} →`),
            h("span", {}, tile.how ?? ""),
          ),
          tileFigure(tile, by),
        ]),
      ),
    );
    if (wanted.line > 0) app.select(wanted.line);
  };
  const refresh = async (): Promise<void> => {
    tiles = await app.tiles().catch(() => tiles);
    draw();
  };
  return { refresh: () => void refresh(), line: () => {} };
}

/** Pointers, masks and indices are left out unless the source names them. */
function isWorthShowing({ name, op, how }: Tile): boolean {
  return name !== op || how?.startsWith("through") === true || op === "load" || op === "dot" ||
    op === "permute" || op === "reduce";
}

const nameOf = ({ id, name }: Tile): string => `${name}#${id}`;

function labelOf({ name, op, type, line }: Tile): string {
  const what = name === op ? op : `${name} (${op})`;
  return `line ${line}: ${what}, ${type}`;
}

/** The tile and what it was made from by moving or renaming elements. */
function chainOf(tile: Tile, tiles: readonly Tile[]): readonly Tile[] {
  const from = tile.from === undefined ? undefined : tiles[tile.from];
  return from === undefined ? [tile] : [...chainOf(from, tiles), tile].slice(-3);
}

function tileFigure(tile: Tile, by: Holder): HTMLElement {
  const picture = layoutPicture(`${tile.name}: ${tile.type}`, tile.layout, by);
  const figure = figureOf(picture, { width: 300, height: 300 });
  figure.append(h("p", { class: "spelled" }, h("code", {}, tile.spelled)));
  return figure;
}
