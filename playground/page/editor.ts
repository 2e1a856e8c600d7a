/** The editor: text with diagnostics, fixes, hover and completion from the compiler, and the selected line. */
import {
  autocompletion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
  type Tooltip,
} from "@codemirror/view";
import type { Problem } from "../session/check.ts";
import type { Words } from "../session/words.ts";
import type { App } from "./app.ts";
import { h } from "./dom.ts";
import { highlighting } from "./highlight.ts";
import { renderMarkdown } from "./markdown.ts";

/** The editor as the rest of the page uses it. */
export interface Editor {
  setText(text: string): void;
  showProblems(problems: readonly Problem[]): void;
  /** Marks a line; 0 for none. */
  mark(line: number, isShown: boolean): void;
  focus(): void;
}

const markLine = StateEffect.define<number>();

const markedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (set, transaction) => {
    for (const effect of transaction.effects) {
      if (!effect.is(markLine)) continue;
      const { doc } = transaction.state;
      if (effect.value < 1 || effect.value > doc.lines) return Decoration.none;
      return Decoration.set([
        Decoration.line({ class: "linked" }).range(doc.line(effect.value).from),
      ]);
    }
    return set.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Makes the editor in an element. `onText` receives edits, `onLine` the line with the cursor. */
export function createEditor(
  parent: HTMLElement,
  app: App,
  words: Words,
  on: { readonly text: (text: string) => void; readonly line: (line: number) => void },
): Editor {
  let isOurs = false;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: app.text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        lintGutter(),
        highlighting(words),
        markedLine,
        hoverTooltip((_view, offset) => hover(app, offset)),
        autocompletion({ override: [(context) => complete(app, context)] }),
        keymap.of([
          ...completionKeymap,
          ...lintKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ "aria-label": "Kernel in Triton-C" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isOurs) on.text(update.state.doc.toString());
          if (update.selectionSet) {
            const { head } = update.state.selection.main;
            on.line(update.state.doc.lineAt(head).number);
          }
        }),
      ],
    }),
  });
  return {
    setText: (text) => {
      isOurs = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      isOurs = false;
    },
    showProblems: (problems) => {
      const { length } = view.state.doc;
      const shown = problems.map((problem): Diagnostic => diagnosticOf(problem, length));
      view.dispatch(setDiagnostics(view.state, shown));
    },
    mark: (line, isShown) => {
      const { doc } = view.state;
      const effects: StateEffect<unknown>[] = [markLine.of(line)];
      if (isShown && line >= 1 && line <= doc.lines) {
        effects.push(EditorView.scrollIntoView(doc.line(line).from, { y: "nearest" }));
      }
      view.dispatch({ effects });
    },
    focus: () => view.focus(),
  };
}

function diagnosticOf(problem: Problem, length: number): Diagnostic {
  const { code, severity, message, mend } = problem;
  const from = Math.min(problem.from, length);
  return {
    from,
    to: Math.min(Math.max(problem.to, from), length),
    severity,
    source: code,
    message: `${code}: ${message}`,
    ...(mend === undefined ? {} : {
      actions: [{
        name: mend.title,
        apply: (view) =>
          view.dispatch({ changes: { from: mend.from, to: mend.to, insert: mend.insert } }),
      }],
    }),
  };
}

async function hover(app: App, offset: number): Promise<Tooltip | null> {
  const hint = await app.client.ask("hint", app.program, offset).catch(() => undefined);
  if (hint === undefined) return null;
  return {
    pos: offset,
    above: true,
    create: () => ({ dom: h("div", { class: "hint" }, renderMarkdown(hint.markdown)) }),
  };
}

async function complete(app: App, context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (word === null && !context.explicit) return null;
  const found = await app.client.ask("candidates", app.program, context.pos).catch(() => []);
  return {
    from: word?.from ?? context.pos,
    validFor: /^\w*$/,
    options: found.map(({ label, detail, doc }) => ({
      label,
      detail,
      info: () => doc === "" ? null : renderMarkdown(doc),
    })),
  };
}
