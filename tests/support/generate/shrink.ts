/** Smaller programs that may show the same: statements left out, expressions replaced by what they contain. */
import type { GeneratedProgram, Node, Stmt } from "./tree.ts";
import { renderProgram, spellTile } from "./tree.ts";

/** Candidates, the boldest first. */
export function* shrinkProgram(program: GeneratedProgram): Generator<GeneratedProgram> {
  const { body, helpers, grid, targets, numWarps, buffers, scalars } = program;
  if (targets.length > 1) {
    for (const target of targets) yield { ...program, targets: [target] };
  }
  if (program.specialize) yield { ...program, specialize: false };
  yield* shrinkLines(program);
  for (const smaller of shrinkStmts(body)) yield { ...program, body: smaller };
  for (const smaller of shrinkStmts(helpers)) yield { ...program, helpers: smaller };
  for (const axis of [0, 1, 2] as const) {
    const [x, y, z] = grid.with(axis, 1);
    if (grid[axis] > 1) yield { ...program, grid: [x ?? 1, y ?? 1, z ?? 1] };
  }
  if (numWarps > 1) yield { ...program, numWarps: numWarps / 2 };
  if (program.numCtas > 1) yield { ...program, numCtas: program.numCtas / 2 };
  if (program.numStages > 0) yield { ...program, numStages: 0 };
  if (program.wild) yield { ...program, wild: false };
  const text = renderProgram({ ...program, buffers: [], scalars: [] });
  const uses = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);
  const usedBuffers = buffers.filter(({ name }) => uses(name));
  const usedScalars = scalars.filter(({ name }) => uses(name));
  if (usedBuffers.length < buffers.length || usedScalars.length < scalars.length) {
    yield { ...program, buffers: usedBuffers, scalars: usedScalars };
  }
  if (buffers.some(({ attributes, qualifier }) => attributes !== "" || qualifier !== undefined)) {
    const plain = buffers.map(({ qualifier: _, ...rest }) => ({ ...rest, attributes: "" }));
    yield { ...program, buffers: plain };
  }
  if (scalars.some(({ attributes }) => attributes !== "")) {
    yield { ...program, scalars: scalars.map((one) => ({ ...one, attributes: "" })) };
  }
}

/** Without one of the lines around the kernel. */
function* shrinkLines(program: GeneratedProgram): Generator<GeneratedProgram> {
  for (const key of ["neighbours", "pragmas", "head"] as const) {
    for (const at of program[key].keys()) {
      yield { ...program, [key]: program[key].toSpliced(at, 1) };
    }
  }
}

function* shrinkStmts(stmts: readonly Stmt[]): Generator<readonly Stmt[]> {
  for (let size = stmts.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= stmts.length; at += size) yield stmts.toSpliced(at, size);
  }
  for (const [at, stmt] of stmts.entries()) {
    for (const part of stmt.parts) {
      if (isBlock(part)) yield stmts.toSpliced(at, 1, ...part);
    }
    for (const smaller of shrinkStmt(stmt)) yield stmts.with(at, smaller);
  }
}

function isBlock(part: Stmt["parts"][number]): part is readonly Stmt[] {
  return Array.isArray(part);
}

function* shrinkStmt(stmt: Stmt): Generator<Stmt> {
  for (const [at, part] of stmt.parts.entries()) {
    if (typeof part === "string") continue;
    const smaller = isBlock(part) ? shrinkStmts(part) : shrinkNode(part);
    for (const one of smaller) yield { parts: stmt.parts.with(at, one) };
  }
}

function* shrinkNode(node: Node): Generator<Node> {
  const kids = node.parts.filter((part) => typeof part !== "string");
  if (kids.length > 0) {
    yield { ...node, parts: [`(${spellTile(node.type, node.shape)})1`] };
    yield { ...node, parts: [`(${spellTile(node.type, node.shape)})0`] };
  }
  for (const kid of descendants(node)) {
    if (kid.type === node.type && kid.shape.join() === node.shape.join()) yield kid;
  }
  for (const kid of kids) {
    const cast = `(${spellTile(node.type, node.shape)})`;
    const same = kid.type === node.type && kid.shape.join() === node.shape.join();
    if (
      !same && kid.shape.join() === node.shape.join() &&
      !node.parts[0]?.toString().startsWith(`(${cast}`)
    ) {
      yield { ...node, parts: [`(${cast}`, kid, ")"] };
    }
  }
  for (const [at, part] of node.parts.entries()) {
    if (typeof part === "string") continue;
    for (const smaller of shrinkNode(part)) yield { ...node, parts: node.parts.with(at, smaller) };
  }
}

function* descendants(node: Node): Generator<Node> {
  for (const part of node.parts) {
    if (typeof part === "string") continue;
    yield part;
    yield* descendants(part);
  }
}
