/**
 * Checks PTX against the instruction table and its own declarations: what ptxas would refuse, said in our words. Runs
 * in tests after each lowering.
 */
import type { Since } from "./form.ts";
import type { Instruction, Item, Operand, PtxCode, PtxModule, Register } from "./func.ts";
import { type BoundOperand, matchInstruction } from "./match.ts";
import { forEachRegister } from "./operand.ts";
import { printInstruction } from "./print.ts";
import { specialRegister } from "./special.ts";
import { holds } from "./types.ts";

interface Context {
  readonly version: number;
  readonly sm: number;
  readonly suffix: string;
  readonly registers: ReadonlyMap<string, Register>;
  readonly labels: ReadonlySet<string>;
  /** Variables and parameters. */
  readonly symbols: ReadonlySet<string>;
}

/** Why something is not there yet, or not any more; undefined if it is. */
function sinceProblem(since: Since, at: Context): string | undefined {
  if (since.ptx > at.version) {
    return `needs PTX ${since.ptx / 10}, the module has ${at.version / 10}`;
  }
  const { sm, suffix = "", lastSm = Infinity } = since;
  if (sm > at.sm || lastSm < at.sm || (suffix !== "" && suffix !== at.suffix)) {
    return `needs sm_${sm}${suffix}${
      lastSm === Infinity ? " or later" : ""
    }, the module has sm_${at.sm}${at.suffix}`;
  }
  return undefined;
}

type OperandKind = BoundOperand["kind"];

function symbolProblems(name: string, kind: OperandKind, at: Context): string[] {
  const isLabel = kind === "label";
  if (isLabel ? at.labels.has(name) : at.symbols.has(name)) return [];
  return [`${isLabel ? "label" : "symbol"} ${name} is not declared`];
}

/** Problems with the names that an operand mentions. */
function nameProblems(operand: Operand, kind: OperandKind, at: Context): string[] {
  switch (operand.kind) {
    case "symbol":
      return symbolProblems(operand.name, kind, at);
    case "special": {
      const special = specialRegister(operand.name);
      if (special === undefined) {
        return [`%${operand.name} is not declared, and no special register`];
      }
      const problem = special.since === undefined ? undefined : sinceProblem(special.since, at);
      return problem === undefined ? [] : [`%${operand.name} ${problem}`];
    }
    case "address":
      return [operand.base, operand.sampler, operand.coordinates].flatMap((part) =>
        part === undefined ? [] : nameProblems(part, kind, at)
      );
    case "list":
    case "vector":
      return operand.elements.flatMap((element) => nameProblems(element, kind, at));
    case "pair":
      return [operand.first, operand.second].flatMap((part) => nameProblems(part, kind, at));
    case "negated":
      return nameProblems(operand.operand, kind, at);
    default:
      return [];
  }
}

/** Problems with the registers of an instruction: undeclared, or declared as another type. */
function registerProblems(instruction: Instruction, at: Context): string[] {
  const problems: string[] = [];
  const visit = ({ name, type }: Register): void => {
    const declared = at.registers.get(name);
    if (declared === undefined) problems.push(`register %${name} is not declared`);
    else if (declared.type !== type) {
      problems.push(`register %${name} is declared as .${declared.type}, not .${type}`);
    }
  };
  instruction.operands.forEach((operand) => forEachRegister(operand, visit));
  const { guard } = instruction;
  if (guard !== undefined) {
    visit(guard.register);
    if (guard.register.type !== "pred") {
      problems.push(`the guard %${guard.register.name} is no predicate`);
    }
  }
  return problems;
}

/** `mov` takes a special register of its own size only. */
function specialProblems(instruction: Instruction): string[] {
  const [target, source] = instruction.operands;
  if (instruction.opcode !== "mov") return [];
  if (source?.kind !== "special" || target?.kind !== "register") return [];
  const { type, oldType = type } = specialRegister(source.name) ?? {};
  if (type === undefined || oldType === undefined) return [];
  if (holds(target.type, type, false) || holds(target.type, oldType, false)) return [];
  return [`%${source.name} is .${type}, but %${target.name} is .${target.type}`];
}

/** Bytes that `cp.async` copies: with `.cg`, past L1, only the most (PTX ISA 9.0, 9.7.9.25.3.1). */
const COPIED: readonly bigint[] = [4n, 8n, 16n];

function copyProblems({ opcode, modifiers, operands }: Instruction): string[] {
  const [, , size] = operands;
  if (opcode !== "cp.async" || size?.kind !== "integer") return [];
  const sizes = modifiers.includes("cg") ? COPIED.slice(-1) : COPIED;
  return sizes.includes(size.value) ? [] : [`copies ${sizes.join(", ")} bytes, not ${size.value}`];
}

function instructionProblems(instruction: Instruction, at: Context): string[] {
  const problems = registerProblems(instruction, at);
  const match = matchInstruction(instruction);
  if (typeof match === "string") return [...problems, match];
  const since = sinceProblem(match.since, at);
  if (since !== undefined) problems.push(since);
  for (const { operand, kind } of match.operands) problems.push(...nameProblems(operand, kind, at));
  return [...problems, ...specialProblems(instruction), ...copyProblems(instruction)];
}

const abridged = (text: string): string => text.length <= 120 ? text : `${text.slice(0, 117)}...`;

function duplicates(what: string, names: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names) (seen.has(name) ? twice : seen).add(name);
  return [...twice].map((name) => `${what} ${name} is declared twice`);
}

/** What a kernel or function declares, and its items. */
interface Code extends PtxCode {
  readonly name: string;
  readonly symbols: readonly string[];
  readonly formals: readonly Register[];
}

/** Problems with the labels that an item lists, and with its source location. */
function itemProblems(item: Item, at: Context, module: PtxModule): string[] {
  switch (item.kind) {
    case "instruction": {
      const found = instructionProblems(item, at);
      return found.length === 0 ? [] : [`${abridged(printInstruction(item))} ${found.join("; ")}`];
    }
    case "targets":
      return item.labels.flatMap((name) => symbolProblems(name, "label", at));
    case "functions":
      return item.functions.flatMap((name) => symbolProblems(name, "any", at));
    case "loc":
      return item.file < 1 || item.file > module.files.length
        ? [`.loc names file ${item.file} of ${module.files.length}`]
        : [];
    default:
      return [];
  }
}

function codeProblems(code: Code, module: PtxModule): string[] {
  const [, sm = "0", suffix = ""] = TARGET.exec(module.target) ?? [];
  const labels = code.body.flatMap((item) => "name" in item ? [item.name] : []);
  const own = [...code.variables.map(({ name }) => name), ...code.symbols];
  const registers = [...code.formals, ...code.registers];
  const globals = [module.variables, module.functions, module.kernels, module.aliases ?? []];
  const at: Context = {
    version: module.version,
    sm: Number(sm),
    suffix,
    registers: new Map(registers.map((register) => [register.name, register])),
    labels: new Set(labels),
    symbols: new Set([...own, ...globals.flatMap((list) => list.map(({ name }) => name))]),
  };
  const problems = [
    ...duplicates("register", registers.map(({ name }) => `%${name}`)),
    ...duplicates("label", labels),
    ...duplicates("symbol", own),
    ...code.body.flatMap((item) => itemProblems(item, at, module)),
  ];
  return problems.map((problem) => `${code.name}: ${problem}`);
}

/** Kernels and functions with bodies. */
function codeOf({ functions, kernels }: PtxModule): Code[] {
  const defined = functions.flatMap(({ name, returns, params, code }): Code[] => {
    const formals = [...returns, ...params];
    return code === undefined ? [] : [{
      name,
      symbols: formals.flatMap((formal) => formal.kind === "param" ? [formal.name] : []),
      formals: formals.filter((formal) => formal.kind === "register"),
      ...code,
    }];
  });
  const entries = kernels.map(({ name, params, registers, variables, body }): Code => ({
    name,
    symbols: params.map((param) => param.name),
    formals: [],
    registers,
    variables,
    body,
  }));
  return [...defined, ...entries];
}

/** `sm_90a`; `compute_90a` is the same. */
const TARGET = /^(?:sm|compute)_(\d+)([af]?)\b/;

/** What is wrong with a module; empty for a good one. */
export function verifyPtx(module: PtxModule): string[] {
  const known = TARGET.test(module.target) ? [] : [`unknown target ${module.target}`];
  const variables = duplicates("variable", module.variables.map(({ name }) => name));
  return [...known, ...variables, ...codeOf(module).flatMap((code) => codeProblems(code, module))];
}
