/** The debug adapter: what an editor asks before the launch, and the launch. */
import { Failure } from "../failure.ts";
import type { Channel } from "./channel.ts";
import type { Start } from "./launch.ts";
import { walkThrough } from "./session.ts";

/** What editors may ask. */
const CAPABILITIES = {
  supportsConfigurationDoneRequest: true,
  supportsConditionalBreakpoints: true,
  supportsStepBack: true,
  supportsSteppingGranularity: true,
  supportsDataBreakpoints: true,
  supportsEvaluateForHovers: true,
  supportsTerminateRequest: true,
  exceptionBreakpointFilters: [
    { filter: "mistakes", label: "Mistakes that the emulator finds", default: true },
  ],
};

/** Ends a launch that is not walked through any more. */
class SessionEnd extends Error {
  override readonly name = "SessionEnd";
}

/** Serves one session; `prepare` compiles what is launched. */
export async function serveDebugger(
  channel: Channel,
  prepare: () => Promise<Start>,
): Promise<void> {
  for (let request = channel.read(); request !== undefined; request = channel.read()) {
    const { command, arguments: args, seq: request_seq } = request;
    const reply = { type: "response", request_seq, command } as const;
    if (command === "disconnect" || command === "terminate") {
      return channel.write({ ...reply, success: true });
    }
    if (command === "initialize") {
      channel.write({ ...reply, success: true, body: CAPABILITIES });
    } else if (command !== "launch") {
      channel.write({ ...reply, success: false, message: `${command} comes after launch` });
    } else {
      let start: Start;
      try {
        start = await prepare();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const { message, remedy } = error;
        const text = remedy === undefined ? message : `${message}\n${remedy}`;
        channel.write({ ...reply, success: false, message: text });
        continue;
      }
      channel.write({ ...reply, success: true });
      return launch(channel, start, args["stopOnEntry"] === true);
    }
  }
}

function launch(channel: Channel, start: Start, stopOnEntry: boolean): void {
  const print = (output: string): void =>
    channel.write({ type: "event", event: "output", body: { category: "stdout", output } });
  try {
    start((launch, called) => {
      walkThrough(channel, launch, called, stopOnEntry);
      // What is left of the launch need not run.
      throw new SessionEnd("the session has ended");
    }, print);
  } catch (error) {
    if (!(error instanceof SessionEnd)) throw error;
  }
}
