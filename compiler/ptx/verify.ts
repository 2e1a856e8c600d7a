/**
 * Checks PTX against the instruction table and its own declarations: what ptxas would refuse, said in our words. Runs
 * in tests after each lowering.
 */
import type { Since } from "./form.ts";
import type { Instruction, Operand, PtxKernel, PtxModule, Register } from "./func.ts";
import { matchInstruction } from "./match.ts";
import { forEachRegister } from "./operand.ts";
import { printInstruction } from "./print.ts";
import { specialRegister } from "./special.ts";
import { holds } from "./types.ts";

interface Place {
  readonly version: number;
  readonly sm: number;
  readonly suffix: string;
  readonly registers: ReadonlyMap<string, Register>;
  readonly labels: ReadonlySet<string>;
  /** Variables and parameters. */
  readonly symbols: ReadonlySet<string>;
}

/** Why something is not there yet, or not any more; undefined if it is. */
function sinceProblem(since: Since, at: Place): string | undefined {
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

/** Problems with the names that an operand mentions. */
function nameProblems(operand: Operand, isLabel: boolean, at: Place): string[] {
  switch (operand.kind) {
    case "symbol": {
      const declared = isLabel ? at.labels : at.symbols;
      return declared.has(operand.name)
        ? []
        : [`${isLabel ? "label" : "symbol"} ${operand.name} is not declared`];
    }
    case "special": {
      const special = specialRegister(operand.name);
      if (special === undefined) return [`there is no special register %${operand.name}`];
      const problem = special.since === undefined ? undefined : sinceProblem(special.since, at);
      return problem === undefined ? [] : [`%${operand.name} ${problem}`];
    }
    case "address":
      return [operand.base, operand.coordinates].flatMap((part) =>
        part === undefined ? [] : nameProblems(part, false, at)
      );
    case "vector":
      return operand.elements.flatMap((element) => nameProblems(element, false, at));
    case "pair":
      return [operand.first, operand.second].flatMap((part) => nameProblems(part, false, at));
    case "negated":
      return nameProblems(operand.operand, false, at);
    default:
      return [];
  }
}

/** Problems with the registers of an instruction: undeclared, or declared as another type. */
function registerProblems(instruction: Instruction, at: Place): string[] {
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
  if (source?.kind !== "special" || target?.kind !== "register") return [];
  const type = specialRegister(source.name)?.type;
  if (type === undefined || holds(target.type, type, false)) return [];
  return [`%${source.name} is .${type}, but %${target.name} is .${target.type}`];
}

function instructionProblems(instruction: Instruction, at: Place): string[] {
  const problems = registerProblems(instruction, at);
  const match = matchInstruction(instruction);
  if (typeof match === "string") return [...problems, match];
  const since = sinceProblem(match.since, at);
  if (since !== undefined) problems.push(since);
  const isBranch = match.row.effect === "control";
  problems.push(...instruction.operands.flatMap((operand) => nameProblems(operand, isBranch, at)));
  return [...problems, ...specialProblems(instruction)];
}

const abridged = (text: string): string => text.length <= 120 ? text : `${text.slice(0, 117)}...`;

function duplicates(what: string, names: readonly string[]): string[] {
  return [...new Set(names.filter((name, i) => names.indexOf(name) < i))]
    .map((name) => `${what} ${name} is declared twice`);
}

function kernelProblems(kernel: PtxKernel, module: PtxModule): string[] {
  const [, sm = "0", suffix = ""] = /^sm_(\d+)([af]?)/.exec(module.target) ?? [];
  const labels = kernel.body.flatMap((item) =>
    item.kind === "label" || item.kind === "targets" ? [item.name] : []
  );
  const own = [...kernel.variables, ...kernel.params].map(({ name }) => name);
  const at: Place = {
    version: module.version,
    sm: Number(sm),
    suffix,
    registers: new Map(kernel.registers.map((register) => [register.name, register])),
    labels: new Set(labels),
    symbols: new Set([...own, ...module.variables.map(({ name }) => name)]),
  };
  const problems = [
    ...duplicates("register", kernel.registers.map(({ name }) => `%${name}`)),
    ...duplicates("label", labels),
    ...duplicates("symbol", own),
  ];
  for (const item of kernel.body) {
    if (item.kind === "instruction") {
      const found = instructionProblems(item, at);
      if (found.length > 0) {
        problems.push(`${abridged(printInstruction(item))} ${found.join("; ")}`);
      }
    } else if (item.kind === "targets") {
      problems.push(
        ...item.labels.filter((name) => !at.labels.has(name)).map((name) =>
          `label ${name} is not declared`
        ),
      );
    } else if (item.kind === "loc" && (item.file < 1 || item.file > module.files.length)) {
      problems.push(`.loc names file ${item.file} of ${module.files.length}`);
    }
  }
  return problems.map((problem) => `${kernel.name}: ${problem}`);
}

/** What is wrong with a module; empty for a good one. */
export function verifyPtx(module: PtxModule): string[] {
  const known = /^sm_\d+[af]?\b/.test(module.target) ? [] : [`unknown target ${module.target}`];
  const variables = duplicates("variable", module.variables.map(({ name }) => name));
  return [
    ...known,
    ...variables,
    ...module.kernels.flatMap((kernel) => kernelProblems(kernel, module)),
  ];
}
