/**
 * From an open document to what the compiler takes: its project, the options of deno.json and of the command
 * line, and its includes, of which those that are open too are read from the editor.
 */
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CompileOptions, IncludeResolver } from "../../compiler/options.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import type { TargetName } from "../../compiler/targets.ts";
import { compileOptionsFor } from "../project/compile_options.ts";
import { includeFinder } from "../project/include.ts";
import type { Invocation } from "../command.ts";
import { absolutePath, isInside, joinPath, relativePath } from "../files/paths.ts";
import { buildsOf, openProject, settingsOf } from "../project/project.ts";

/** A document as the compiler sees it. */
export interface Prepared {
  readonly file: SourceFile;
  readonly options: CompileOptions;
  /** What is wrong with deno.json. */
  readonly mistakes: readonly Diagnostic[];
  /** Where a file that the compiler speaks of can be opened; undefined for texts such as `<-D TM>`. */
  readonly uriOf: (file: SourceFile) => string | undefined;
}

/** The text of a document that the editor holds; undefined when it is not open. */
export type OpenText = (uri: string) => string | undefined;

export type Workspace = (uri: string, text: string, openText: OpenText) => Prepared;

/** The workspace under the options of a command line, which throw a usage failure here if they are wrong. */
export function workspaceFor(invocation: Invocation, targets: readonly TargetName[]): Workspace {
  compileOptionsFor(invocation, [], targets);
  return (uri, text, openText) => {
    const path = pathOf(uri);
    const project = openProject(path);
    const { root, reporter } = project;
    const file: SourceFile = { name: relativePath(root, path), text };
    const [source] = buildsOf(project, { file, path, stem: file.name });
    const finder = includeFinder(root, invocation.list("include"));
    return {
      file,
      options: {
        ...compileOptionsFor(invocation, settingsOf(project, source), targets),
        include: preferOpen(finder.resolve, root, openText),
      },
      mistakes: reporter.diagnostics,
      uriOf: (other) => other === file ? uri : uriIn(root, other.name),
    };
  };
}

/** Documents without a file, such as untitled ones, are taken for files of the working folder. */
function pathOf(uri: string): string {
  return uri.startsWith("file:")
    ? absolutePath(fileURLToPath(uri))
    : absolutePath(uri.replace(/^[^:]*:\/*/, ""));
}

function uriIn(root: string, name: string): string | undefined {
  if (name.startsWith("<")) return undefined;
  const path = joinPath(root, name);
  return isInside(root, path) ? pathToFileURL(path).href : undefined;
}

/** Each file keeps one identity, as spans compare it. */
function preferOpen(resolve: IncludeResolver, root: string, openText: OpenText): IncludeResolver {
  const edited = new Map<SourceFile, SourceFile>();
  return (name, kind, from) => {
    const found = resolve(name, kind, from);
    if (found === undefined || found === "outside" || "refused" in found) return found;
    const known = edited.get(found);
    if (known !== undefined) return known;
    const uri = uriIn(root, found.name);
    const text = uri === undefined ? undefined : openText(uri);
    const file = text === undefined ? found : { name: found.name, text };
    edited.set(found, file);
    return file;
  };
}
