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
import { type Names, namesOf, type TokenClass, tokensOf } from "./tokens.ts";

const MARKS = new Map<TokenClass, Decoration>();

function markOf(name: TokenClass): Decoration {
  const known = MARKS.get(name) ?? Decoration.mark({ class: `tok-${name}` });
  MARKS.set(name, known);
  return known;
}

/** An extension that colours what is visible. */
export function highlighting(words: Words): ViewPlugin<{ decorations: DecorationSet }> {
  const names = namesOf(words);
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = build(view, names);
      }
      update(update: ViewUpdate): void {
        if (update.docChanged || update.viewportChanged) {
          this.decorations = build(update.view, names);
        }
      }
    },
    { decorations: ({ decorations }) => decorations },
  );
}

/** From the top of the text, so that comments over many lines are known; kernels are short. */
function build(view: EditorView, names: Names): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const text = view.state.sliceDoc(0, view.viewport.to);
  for (const { from, to, name } of tokensOf(text, names)) builder.add(from, to, markOf(name));
  return builder.finish();
}
