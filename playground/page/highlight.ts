/** Colours of words in the editor, by the compiler's own lists. */
import { RangeSetBuilder } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import type { Words } from "../session/words.ts";

const TOKEN =
  /(\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?)|(^[ \t]*#[ \t]*\w+(?:[ \t]+tri\b(?:[ \t]+\w+)?)?)|(\b\d[\w.]*)|([A-Za-z_]\w*)/gm;

type Class = "comment" | "string" | "directive" | "number" | "keyword" | "type" | "builtin";

const MARKS = new Map<Class, Decoration>();

function markOf(name: Class): Decoration {
  const known = MARKS.get(name) ?? Decoration.mark({ class: `tok-${name}` });
  MARKS.set(name, known);
  return known;
}

/** An extension that colours what is visible. */
export function highlighting(words: Words): ViewPlugin<{ decorations: DecorationSet }> {
  const classes = new Map<string, Class>([
    ...words.builtin.map((word) => [word, "builtin"] as const),
    ...words.keyword.map((word) => [word, "keyword"] as const),
    ...words.type.map((word) => [word, "type"] as const),
  ]);
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = build(view, classes);
      }
      update(update: ViewUpdate): void {
        if (update.docChanged || update.viewportChanged) {
          this.decorations = build(update.view, classes);
        }
      }
    },
    { decorations: ({ decorations }) => decorations },
  );
}

/** From the top of the text, so that comments over many lines are known; kernels are short. */
function build(view: EditorView, classes: ReadonlyMap<string, Class>): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const { to } = view.viewport;
  const text = view.state.sliceDoc(0, to);
  for (const match of text.matchAll(TOKEN)) {
    const [whole, comment, string, directive, number, word] = match;
    const name: Class | undefined = comment !== undefined
      ? "comment"
      : string !== undefined
      ? "string"
      : directive !== undefined
      ? "directive"
      : number !== undefined
      ? "number"
      : classes.get(word ?? "");
    if (name !== undefined) builder.add(match.index, match.index + whole.length, markOf(name));
  }
  return builder.finish();
}
