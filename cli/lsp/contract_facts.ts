/** What the contract of a kernel says about one of its parameters. */
import { printExpr } from "../../compiler/contract/expr.ts";
import type { ContractExpr, KernelContract } from "../../compiler/contract/types.ts";
import { SCALARS } from "../../compiler/support/scalar.ts";
import type { Analysis, Spot } from "./analysis.ts";

/** A list in Markdown; empty for names that are no parameter, and while the text has errors from the beginning. */
export function parameterFacts(
  { compiled }: Analysis,
  { kernel: { plan } }: Spot,
  name: string,
): string {
  const contract = compiled.find((kernel) => kernel.name === plan?.kernel)?.instances[0]?.contract;
  const param = contract?.params.find((candidate) => candidate.name === name);
  if (contract === undefined || param === undefined) return "";
  const facts = param.kind === "pointer" ? pointerFacts(param, contract) : [
    ...(param.multipleof === undefined ? [] : [`a multiple of ${param.multipleof}`]),
    ...definedBy(name, contract),
  ];
  const required = contract.requires
    .filter(({ condition }) => mentions(condition, name))
    .map(({ text }) => `required: \`${text}\``);
  return [...facts, ...required].map((fact) => `- ${fact}`).join("\n");
}

function pointerFacts(
  { name, type, access, align, noalias }: Extract<
    KernelContract["params"][number],
    { kind: "pointer" }
  >,
  { tensors }: KernelContract,
): string[] {
  const list = (exprs: readonly ContractExpr[]): string => exprs.map(printExpr).join(", ");
  const tensor = tensors.find(({ param }) => param === name);
  const shape = tensor === undefined ? [] : [
    `tensor (${tensor.origin}): \`${SCALARS[type].spelling}[${list(tensor.extents)}]\` ` +
    `strides \`[${list(tensor.strides)}]\`${tensor.optional === true ? ", optional" : ""}`,
  ];
  return [
    `access: ${access}${noalias ? ", noalias" : ""}, aligned to ${align} bytes`,
    ...shape,
  ];
}

/** Of which tensor's extents and strides it is the value. */
function definedBy(name: string, { tensors }: KernelContract): string[] {
  const isIt = (expr: ContractExpr): boolean => expr.op === "param" && expr.name === name;
  return tensors.flatMap(({ param, extents, strides }) => [
    ...extents.flatMap((expr, axis) => isIt(expr) ? [`extent ${axis} of ${param}`] : []),
    ...strides.flatMap((expr, axis) => isIt(expr) ? [`stride ${axis} of ${param}`] : []),
  ]);
}

function mentions(expr: ContractExpr, name: string): boolean {
  if (expr.op === "param") return expr.name === name;
  return "args" in expr && expr.args.some((arg) => mentions(arg, name));
}
