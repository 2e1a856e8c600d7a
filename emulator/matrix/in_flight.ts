/**
 * Registers that products of warp groups work on: the sums, and the left operand where it lies in registers. Until
 * the warp has waited for the group of a product, no other instruction may touch its sums, and none may write its
 * operand. Kept only while accesses are checked.
 * Source: PTX ISA 9.0, 9.7.15.7.1 "wgmma.mma_async", "Accessing the registers … before wgmma.wait_group … is undefined".
 */
import type { Operand, Register } from "../../compiler/ptx/func.ts";
import { forEachRegister } from "../../compiler/ptx/operand.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import { report } from "../check/report.ts";
import { abridged, Fault, type Site } from "../fault.ts";
import type { Machine, WarpState } from "../machine.ts";
import { progressOf } from "./warp_group.ts";

/** What a product in flight does with a register. */
interface Flight {
  /** All sums of a product, which the next one may add to. */
  readonly sums: readonly string[] | undefined;
  readonly group: number;
  readonly site: Site;
}

const flights = new WeakMap<WarpState, Map<string, Flight>>();

function flightsOf(warp: WarpState): Map<string, Flight> {
  const known = flights.get(warp) ?? new Map<string, Flight>();
  flights.set(warp, known);
  return known;
}

/** Names of the registers of an operand. */
export function registerNames(operand: Operand): readonly string[] {
  const names: string[] = [];
  forEachRegister(operand, ({ name }: Register) => names.push(name));
  return names;
}

/** The registers that products of a kernel work on while they are in flight. */
export function productRegisters(matches: Iterable<Match | string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const match of matches) {
    if (typeof match === "string" || match.opcode !== "wgmma.mma_async") continue;
    for (const { name, operand } of match.operands) {
      if (name !== "d" && (name !== "a" || operand.kind !== "vector")) continue;
      for (const register of registerNames(operand)) names.add(register);
    }
  }
  return names;
}

function fail(machine: Machine, name: string, { sums, site: product }: Flight, site: Site): void {
  const role = sums === undefined ? "an operand" : "a sum";
  const detail =
    `%${name} is ${role} of \`${abridged(product.text)}\`, which may still be under way: ` +
    "a wgmma.wait_group that covers it must come first";
  report(machine, new Fault("register in flight", detail, undefined, site));
}

/** Reports an instruction that is no product and reads or writes registers of products in flight. */
export function checkRegisters(
  machine: Machine,
  read: readonly string[],
  written: readonly string[],
  site: Site,
): void {
  const known = flights.get(machine.warp);
  if (known === undefined || known.size === 0) return;
  for (const name of read) {
    const flight = known.get(name);
    if (flight?.sums !== undefined) return fail(machine, name, flight, site);
  }
  for (const name of written) {
    const flight = known.get(name);
    if (flight !== undefined) return fail(machine, name, flight, site);
  }
}

/** A product of the running warp begins: it may add to the very sums of one in flight, and read operands of others. */
export function beginFlight(
  machine: Machine,
  sums: readonly string[],
  operand: readonly string[],
  site: Site,
): void {
  const known = flightsOf(machine.warp);
  const { committed: group } = progressOf(machine.warp);
  for (const name of operand) {
    const flight = known.get(name);
    if (flight?.sums !== undefined) fail(machine, name, flight, site);
  }
  for (const name of sums) {
    const flight = known.get(name);
    if (flight === undefined) continue;
    const isSame = flight.sums?.length === sums.length &&
      flight.sums.every((other, i) => other === sums[i]);
    if (!isSame) fail(machine, name, flight, site);
  }
  for (const name of operand) known.set(name, { sums: undefined, group, site });
  for (const name of sums) known.set(name, { sums, group, site });
}

/** The running warp has waited for all groups but the last `pending` ones. */
export function endFlights(machine: Machine, pending: number): void {
  const known = flights.get(machine.warp);
  if (known === undefined) return;
  const last = progressOf(machine.warp).committed - pending;
  for (const [name, { group }] of known) if (group < last) known.delete(name);
}
