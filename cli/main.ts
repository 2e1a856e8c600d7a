/**
 * `tri`: the command itself. Help and version need only tables; everything else is loaded after them, and on Deno when
 * it is used (`lazy-dynamic-imports` in deno.json).
 */
import { deno } from "./host/deno.ts";
import { isNotCapable } from "./host/errors.ts";
import { nodeProcess } from "./host/node_process.ts";
import { Terminal } from "./terminal.ts";
import { answerOf } from "./words/answer.ts";

const words = deno === undefined ? nodeProcess().argv.slice(2) : deno.args;
const answer = answerOf(words);
if (answer === undefined) await start();
else new Terminal().print(answer);

async function start(): Promise<void> {
  try {
    const { runToExit } = await import("./start.ts");
    await runToExit(words);
  } catch (error) {
    if (!isNotCapable(error)) throw error;
    // Deno's text names the module that may not be read and the flag that permits it.
    new Terminal().say(`error: ${error.message}`);
    nodeProcess().exit(3);
  }
}
