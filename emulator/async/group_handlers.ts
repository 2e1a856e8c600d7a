/** What ends groups and waits for them, which is the same for both kinds. */
import { accessOf } from "../access/state.ts";
import type { Handler } from "../machine.ts";
import { commitGroup, groupsOf, type GroupStore, waitGroups } from "./groups.ts";
import { eachLane, operandOf } from "./reach.ts";

export function commitHandler(store: GroupStore): Handler {
  return (_match, { machine }) => (_w, mask) => {
    if (!machine.checks) return;
    const groups = groupsOf(store, machine.warp);
    const { now } = accessOf(machine).order;
    eachLane(mask, (lane) => commitGroup(groups, lane, now));
  };
}

export function waitHandler(store: GroupStore): Handler {
  return (match, context) => {
    const { machine } = context;
    const most = Number(context.literal(operandOf(match, "n")));
    return (_w, mask) => {
      if (!machine.checks) return;
      const groups = groupsOf(store, machine.warp);
      eachLane(mask, (lane) => waitGroups(machine, groups, lane, most));
    };
  };
}
