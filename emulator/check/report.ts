/** What is done about a fault that a check has found: thrown, listed as a warning, or dropped. */
import { accessOf } from "../access/state.ts";
import { Fault } from "../fault.ts";
import type { Machine } from "../machine.ts";
import { withOrigin } from "../schedule/fault_origin.ts";
import { checkOf } from "./levels.ts";

/** Warnings that one thread of the host keeps of a launch. */
const MOST_WARNINGS = 100;

/** What makes two warnings the same one: the kind and the instruction. */
export function warningKey({ kind, site }: Pick<Fault, "kind" | "site">): string {
  return `${kind} ${site?.kernel} ${site?.file}:${site?.line} ${site?.text}`;
}

/** Throws a fault, or notes it as a warning, as the launch's levels say. */
export function report(machine: Machine, fault: Fault): void {
  const { launch, warnings } = accessOf(machine);
  const check = checkOf(fault.kind);
  const level = check === undefined ? "error" : launch.levels[check];
  if (level === "error") throw fault;
  if (level === "off" || warnings.size >= MOST_WARNINGS) return;
  const key = warningKey(fault);
  if (warnings.has(key)) return;
  const found = withOrigin(fault, machine, fault.site?.kernel ?? "");
  if (found instanceof Fault) warnings.set(key, found);
}
