/** What is done about a fault that a check has found: thrown, listed as a warning, or dropped. */
import { accessOf } from "../access/state.ts";
import { mayContinue } from "../debug/observer.ts";
import { Fault, type FaultFacts } from "../fault.ts";
import type { Machine } from "../machine.ts";
import { withOrigin } from "../schedule/fault_origin.ts";
import { checkOf } from "./levels.ts";

/** Warnings that one thread of the host keeps of a launch. */
const MOST_WARNINGS = 100;

/** What makes two warnings the same one: the kind and the instruction. */
export function warningKey({ kind, site }: Pick<FaultFacts, "kind" | "site">): string {
  return `${kind} ${site?.kernel} ${site?.file}:${site?.line} ${site?.text}`;
}

/** Throws a fault, or notes it as a warning, as the launch's levels say; an observer may want to go on. */
export function report(machine: Machine, fault: Fault): void {
  const { launch, warnings } = accessOf(machine);
  const check = checkOf(fault.kind);
  const level = check === undefined ? "error" : launch.levels[check];
  if (level === "off") return;
  const found = withOrigin(fault, machine, fault.site?.kernel ?? "");
  if (!(found instanceof Fault) || mayContinue(machine, found)) return;
  if (level === "error") throw found;
  const key = warningKey(fault);
  if (warnings.size < MOST_WARNINGS && !warnings.has(key)) warnings.set(key, found);
}
