/** A document as requests use it: its text, the compiler's survey of it, and the token under the cursor. */
import type { CompiledKernel } from "../../compiler/options.ts";
import { lex, type PpToken } from "../../compiler/preprocess/lexer.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import type { Token } from "../../compiler/preprocess/token.ts";
import type { SourceFile, Span } from "../../compiler/support/source.ts";
import {
  kernelAt,
  type Survey,
  type SurveyedKernel,
  surveyFile,
  type View,
} from "../../compiler/driver/survey.ts";
import type { Prepared } from "./workspace.ts";

export interface Analysis {
  readonly prepared: Prepared;
  readonly survey: Survey;
  readonly tokens: readonly PpToken[];
  /** With contracts, as they were when the text last had no error. */
  readonly compiled: readonly CompiledKernel[];
}

export function analyse(prepared: Prepared, compiled: readonly CompiledKernel[]): Analysis {
  const { file, options } = prepared;
  const { tokens } = lex(file, new Reporter());
  return { prepared, survey: surveyFile(file, options), tokens, compiled };
}

/** A location in a document. */
export interface Spot {
  readonly file: SourceFile;
  readonly offset: number;
  /** The token there; a word also when the cursor is directly after it. */
  readonly token: PpToken | undefined;
  /** The tokens after `#` if the line is a directive. */
  readonly directive: readonly PpToken[] | undefined;
  readonly kernel: SurveyedKernel;
  /** The survey of that kernel's first instance whose `#if`s include the location. */
  readonly view: View;
}

/** The token at an offset. */
export function spotAt({ prepared: { file }, survey, tokens }: Analysis, offset: number): Spot {
  const kernel = kernelAt(survey, offset, file);
  const word = tokens.find(({ kind, span }) =>
    kind === "identifier" && span.start <= offset && offset <= span.end
  );
  const token = word ?? tokens.find(({ span }) => span.start <= offset && offset < span.end);
  const directive = directiveAt(tokens, file, offset);
  const reads = ({ parsed }: View): boolean =>
    directive !== undefined || token === undefined ||
    isRead(parsed.preprocessed.tokens, token.span);
  const reading = kernel.views.find((view) => reads(view())) ?? kernel.views[0];
  return { file, offset, token, directive, kernel, view: reading() };
}

/** Whether a piece of text reached the parser, as a token or as the macro that tokens came out of. */
function isRead(tokens: readonly Token[], { file, start, end }: Span): boolean {
  const covers = (span: Span): boolean =>
    span.file === file && span.start <= start && end <= span.end ||
    span.expansion !== undefined && covers(span.expansion.use);
  return tokens.some(({ span }) => covers(span));
}

/** The tokens after the `#` that begins the line of an offset, to its end. */
function directiveAt(
  tokens: readonly PpToken[],
  file: SourceFile,
  offset: number,
): readonly PpToken[] | undefined {
  const start = tokens.findLastIndex(({ lineStart, span }) => lineStart && span.start <= offset);
  if (start < 0 || tokens[start]?.text !== "#") return undefined;
  const after = tokens.slice(start + 1);
  const length = after.findIndex(({ lineStart }) => lineStart);
  const line = after.slice(0, length);
  const end = line.at(-1)?.span.end ?? offset;
  // A newline in between means that the directive is over; joined lines have theirs within it.
  return /[\r\n]/.test(file.text.slice(end, offset)) ? undefined : line;
}

/** Whether an offset lies in a comment or a string, where nothing is completed. */
export function isInProse({ text }: SourceFile, offset: number): boolean {
  const prose = /\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)|"(?:\\.|[^"\\\r\n])*"?|'(?:\\.|[^'\\\r\n])*'?/g;
  for (const { index, 0: match } of text.matchAll(prose)) {
    if (index >= offset) return false;
    const end = index + match.length;
    const isClosed = /(?:\*\/|["'])$/.test(match) && match.length > 1;
    if (offset < end || (offset === end && !isClosed)) return true;
  }
  return false;
}
