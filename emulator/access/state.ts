/** What memory instructions share in one thread of the host: the launch, the order of events, shadows, scratch. */
import { GlobalShadow } from "../check/global_shadow.ts";
import { type AccessLaunch, NO_LAUNCH } from "../check/launch.ts";
import { meet, newOrder, type Order, startOrder } from "../check/order.ts";
import { LocalShadows } from "../check/local_shadow.ts";
import { SharedShadows } from "../check/shared_shadow.ts";
import { newSiteLog, type SiteLog } from "../check/site_log.ts";
import { CounterLog } from "../count/log.ts";
import type { Fault } from "../fault.ts";
import type { Machine } from "../machine.ts";
import { newShadowState, type ShadowState, startShadows } from "../shadow/state.ts";
import { newReach, type Reach } from "./reach.ts";

export interface Access {
  readonly machine: Machine;
  readonly reach: Reach;
  readonly order: Order;
  readonly sites: SiteLog;
  readonly global: GlobalShadow;
  readonly shared: SharedShadows;
  readonly local: LocalShadows;
  /** Undefined values in registers. */
  readonly shadows: ShadowState;
  readonly counters: CounterLog;
  /** Lanes of the access that was checked last that read bytes which hold nothing. */
  unwritten: number;
  launch: AccessLaunch;
  /** Faults of the launch that end it not, by what they are. */
  readonly warnings: Map<string, Fault>;
}

const known = new WeakMap<Machine, Access>();

/** The memory instructions' state of a machine. */
export function accessOf(machine: Machine): Access {
  let access = known.get(machine);
  if (access === undefined) {
    access = {
      machine,
      reach: newReach(machine),
      order: newOrder(),
      sites: newSiteLog(),
      global: new GlobalShadow(),
      shared: new SharedShadows(),
      local: new LocalShadows(),
      shadows: newShadowState(),
      counters: new CounterLog(),
      unwritten: 0,
      launch: NO_LAUNCH,
      warnings: new Map(),
    };
    known.set(machine, access);
  }
  return access;
}

/** Ticks are 32 bits in shadows; a launch begins with at least half of them. */
const MANY_TICKS = 2 ** 31;

/** To be called before the first block of a launch runs; blocks of other launches must have ended. */
export function beginLaunch(machine: Machine, launch: AccessLaunch): void {
  const access = accessOf(machine);
  access.launch = launch;
  access.warnings.clear();
  const { order, global, shared } = access;
  if (order.now > MANY_TICKS) {
    order.now = 0;
    global.clear();
    shared.clear();
  }
  startShadows(access.shadows);
  startOrder(order);
  const races = launch.levels.races !== "off" || launch.levels.readOnly !== "off";
  global.setGranule(races ? launch.granules.global : 0);
  shared.setGranule(races ? launch.granules.shared : 0);
  access.counters.start();
}

/** Lanes of the warp that runs have met at a barrier of theirs: what they did before is ordered with what follows. */
export function meetLanes(machine: Machine, lanes: number, live: number): void {
  const { warp } = machine;
  if (lanes === live || !machine.checks) warp.phase++;
  else meet(accessOf(machine).order, machine, lanes);
}
