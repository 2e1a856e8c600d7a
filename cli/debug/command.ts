/** `tri debug`: a debug adapter on stdin and stdout, until its editor disconnects. */
import { EXIT } from "../failure.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { serveDebugger } from "./adapter.ts";
import { channelOver, standardBytes } from "./channel.ts";
import { prepareLaunch } from "./launch.ts";

/** The body of the command. */
export async function runDebug(invocation: Invocation, context: CommandContext): Promise<number> {
  await serveDebugger(channelOver(standardBytes()), () => prepareLaunch(invocation, context));
  return EXIT.ok;
}
