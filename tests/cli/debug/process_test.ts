/** `tri debug` as an editor runs it. */
import { assert, assertEquals } from "../../support/assert.ts";
import { bodyOf, converse, failuresOf, SCALE, type Told } from "./support.ts";

const textsOf = (all: readonly Told[], command: string): string[] =>
  bodyOf(all, command).map((body) => JSON.stringify(body));

Deno.test("tri debug stops at a breakpoint, shows values, goes on and back", async () => {
  const line = 1 + SCALE.split("\n").findIndex((text) => text.includes("(Y + r) ="));
  const all = await converse(["scale.tc", "--size", "N=70"], [
    ["initialize", { adapterID: "triton-c" }],
    ["launch", {}],
    ["setBreakpoints", {
      source: { path: "scale.tc" },
      breakpoints: [{ line, condition: "program_x == 1" }],
    }],
    ["configurationDone", {}],
    ["threads", {}],
    ["stackTrace", { threadId: 1 }],
    ["scopes", { frameId: 1 }],
    ["variables", { variablesReference: 4 }],
    ["variables", { variablesReference: 5 }],
    ["variables", { variablesReference: 6 }],
    ["variables", { variablesReference: 1_010_004, start: 2, count: 2 }],
    ["evaluate", { expression: "X[3]", frameId: 1 }],
    ["evaluate", { expression: "program_x + 1", frameId: 1 }],
    ["evaluate", { expression: "x[3] + N", frameId: 1 }],
    ["evaluate", { expression: "nothing", frameId: 1 }],
    ["setDataBreakpoints", { breakpoints: [{ dataId: "Y[69]" }] }],
    ["continue", { threadId: 1 }],
    ["evaluate", { expression: "Y[69]", frameId: 1 }],
    ["stepBack", { threadId: 1 }],
    ["reverseContinue", { threadId: 1 }],
    ["setBreakpoints", { source: { path: "scale.tc" }, breakpoints: [] }],
    ["setDataBreakpoints", { breakpoints: [] }],
    ["continue", { threadId: 1 }],
    ["disconnect", {}],
  ]);
  const events = all.flatMap(({ event, body }) =>
    event === undefined ? [] : [`${event} ${String(body?.["reason"] ?? "")}`.trim()]
  );
  assertEquals(events.slice(0, 3), [
    "initialized",
    "stopped breakpoint",
    "stopped data breakpoint",
  ]);
  assertEquals(events.at(-1), "terminated");
  assertEquals(failuresOf(all), ["evaluate"]);
  const [frames = ""] = textsOf(all, "stackTrace");
  assert(frames.includes(`"line":${line}`) && frames.includes("scale.tc"), frames);
  const [variables = "", position = "", parameters = "", elements] = textsOf(all, "variables");
  // Element i of x in program 1 is that of X at 32 + i, which is (32 + i) % 17.
  assert(variables.includes('"name":"x","value":"{15, 16, 0, 1, 2, 3, 4, 5, …} '), variables);
  assert(variables.includes('"type":"float[32]","variablesReference":1010004'), variables);
  const element = (index: number, value: number): unknown => ({
    ...{ name: `[${index}]`, value: `${value}`, type: "in registers", variablesReference: 0 },
  });
  assertEquals(JSON.parse(elements ?? ""), { variables: [element(2, 0), element(3, 1)] });
  assert(position.includes('"name":"program_x","value":"1"'), position);
  assert(parameters.includes('"name":"N","value":"70"'), parameters);
  const results = textsOf(all, "evaluate").slice(0, 3);
  assertEquals(
    results,
    ["3", "2", "71"].map((result) => JSON.stringify({ result, variablesReference: 0 })),
  );
  // 69 % 17 is 1.
  assertEquals(
    textsOf(all, "evaluate").at(-1),
    JSON.stringify({ result: "2", variablesReference: 0 }),
  );
});

Deno.test("tri debug answers a launch of what cannot be compiled with the reason", async () => {
  const all = await converse(["scale.tc", "--size", "Q=3"], [["launch", {}], ["disconnect", {}]]);
  const [launch] = all.filter(({ command }) => command === "launch");
  assertEquals(launch?.success, false);
});
