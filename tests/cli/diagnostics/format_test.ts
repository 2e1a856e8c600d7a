import { CODES } from "../../../compiler/support/codes.ts";
import type { Diagnostic } from "../../../compiler/support/diagnostic.ts";
import { githubCommand } from "../../../cli/diagnostics/github.ts";
import { sarifLog } from "../../../cli/diagnostics/sarif.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { REAL_MAIN, type TriResult, Workspace } from "../support/tri_process.ts";

const FILE = { name: "k/a b,c:d%.tc", text: "int x;\nx @ y;\n" };
const COMMAND_LINE = { name: "<-D TM>", text: "x 1" };
const AT: Diagnostic = {
  code: "E5120",
  severity: "error",
  message: "no `@`\r\nof 100%: these, those",
  span: { file: FILE, start: 7, end: 12 },
  notes: [
    { message: "x is here", span: { file: FILE, start: 4, end: 5 } },
    { message: "think" },
  ],
  hint: "use *",
  fix: { span: { file: FILE, start: 9, end: 10 }, replacement: "*" },
};
/** Text from the command line that was used in a file, and text that was used nowhere. */
const USED: Diagnostic = {
  code: "W1021",
  severity: "warning",
  message: "used",
  span: {
    file: COMMAND_LINE,
    start: 0,
    end: 1,
    expansion: { macro: "TM", use: { file: FILE, start: 0, end: 12 } },
  },
  notes: [],
};
const NOWHERE: Diagnostic = {
  ...USED,
  message: "unused",
  span: { file: COMMAND_LINE, start: 0, end: 1 },
};

const inRepository = (name: string): string => `sub/${name}`;

Deno.test("githubCommand escapes what ends a property or a command", () => {
  assertEquals(
    githubCommand(AT, inRepository),
    "::error file=sub/k/a b%2Cc%3Ad%25.tc,line=2,endLine=2,col=1,endColumn=6,title=E5120::" +
      "no `@`%0D%0Aof 100%25: these, those%0Ahelp: use *%0Anote: x is here%0Anote: think",
  );
});

Deno.test("githubCommand points to the use of text from the command line, or to no file", () => {
  assertEquals(
    githubCommand(USED, inRepository),
    "::warning file=sub/k/a b%2Cc%3Ad%25.tc,line=1,endLine=2,title=W1021::used",
  );
  assertEquals(githubCommand(NOWHERE, inRepository), "::warning title=W1021::unused");
});

Deno.test("sarifLog has locations, related locations, rules and fixes", () => {
  const [run, more] = sarifLog([AT, USED, NOWHERE], inRepository).runs;
  assertEquals(more, undefined);
  const [at, used, nowhere] = run?.results ?? [];
  const artifactLocation = { uri: "sub/k/a%20b%2Cc%3Ad%25.tc", uriBaseId: "%SRCROOT%" } as const;
  const region = { startLine: 2, startColumn: 1, endLine: 2, endColumn: 6 };
  assertEquals(at?.locations, [{ physicalLocation: { artifactLocation, region } }]);
  assertEquals(at?.relatedLocations?.map(({ message }) => message?.text), ["x is here"]);
  assertEquals(at?.message.text, `${AT.message}\nuse *\nthink`);
  assertEquals(at?.fixes?.[0]?.artifactChanges, [{
    artifactLocation,
    replacements: [{
      deletedRegion: { startLine: 2, startColumn: 3, endLine: 2, endColumn: 4 },
      insertedContent: { text: "*" },
    }],
  }]);
  assertEquals(used?.locations[0]?.physicalLocation.artifactLocation, artifactLocation);
  assertEquals(nowhere?.locations, []);
  assertEquals(
    run?.tool.driver.rules.map(({ id, shortDescription }) => [id, shortDescription.text]),
    [["E5120", CODES.E5120], ["W1021", CODES.W1021]],
  );
  for (const { ruleId, ruleIndex } of run?.results ?? []) {
    assertEquals(run?.tool.driver.rules[ruleIndex]?.id, ruleId);
  }
});

/** What SARIF 2.1.0 demands of the objects that tri writes: their required properties, by section. */
Deno.test("tri check --format sarif prints what the standard requires", async () => {
  using workspace = new Workspace({
    "k/bad.tc": "__global__ void f(int *X) {\n  *(X + missing) = 0;\n}\n",
    "deno.json": "{}",
  });
  const { code, stdout, stderr } = await workspace.tri(["check", "k", "--format", "sarif"], {
    main: REAL_MAIN,
  });
  assertEquals([code, stderr], [1, "1 error\n"]);
  const log = JSON.parse(stdout);
  assertEquals(log.version, "2.1.0", "3.13.2");
  assertStringIncludes(log.$schema, "sarif-2.1.0", "3.13.3");
  assert(Array.isArray(log.runs), "3.13.4");
  const [run] = log.runs;
  assertEquals(run.tool.driver.name, "tri", "3.14.6, 3.18.2, 3.19.8");
  assertEquals(run.results.length, 1, "3.14.23");
  const [result] = run.results;
  assertEquals(typeof result.message.text, "string", "3.27.11");
  assert(["none", "note", "warning", "error"].includes(result.level), "3.27.10");
  assertEquals(run.tool.driver.rules[result.ruleIndex].id, result.ruleId, "3.27.6");
  const { artifactLocation, region } = result.locations[0].physicalLocation;
  assertEquals(artifactLocation.uri, "k/bad.tc", "3.4.3");
  assertEquals(region, { startLine: 2, startColumn: 9, endLine: 2, endColumn: 16 }, "3.30");
});

Deno.test("tri build --format sarif prints a log without results where all is well", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel x\n" });
  const args = ["build", "k", "--out", "out", "--no-cubin", "--format", "sarif"];
  for (const done of ["built 1 source", "nothing to do"]) {
    const { code, stdout, stderr } = await workspace.tri(args);
    assertEquals(code, 0);
    assertStringIncludes(stderr, done);
    assertEquals(JSON.parse(stdout).runs[0].results, []);
  }
});

Deno.test("tri check --format github names files from the top of the repository", async () => {
  using workspace = new Workspace({ "sub/deno.json": "{}", "sub/k/a.tc": "\nerror bad\n" });
  const args = ["check", "sub/k", "--format=github"];
  const command = "::error file=sub/k/a.tc,line=2,endLine=2,col=1,endColumn=6,title=E2001::bad\n";
  const here = await workspace.tri(args);
  assertEquals([here.code, here.stdout, here.stderr], [1, command, "1 error\n"]);
  const env = { GITHUB_WORKSPACE: `${workspace.path}/sub` };
  const { stdout } = await workspace.tri(args, { env });
  assertEquals(stdout, command.replace("sub/k", "k"));
});

Deno.test("tri takes --format json as --json, and no other beside --json", async () => {
  using workspace = new Workspace({ "a.tc": "error bad\n" });
  const short = await workspace.tri(["check", "--json"]);
  assertEquals(await workspace.tri(["check", "--format", "json"]), short);
  assertEquals(await workspace.tri(["check", "--json", "--format", "json"]), short);
  const both = await workspace.tri(["check", "--json", "--format", "sarif"]);
  assertEquals(both.code, 2);
  const wrong = await workspace.tri(["check", "--format", "sariv"]);
  assertEquals([wrong.code, wrong.stdout], [2, ""]);
  assertEquals(
    wrong.stderr,
    "error: --format sariv: not one of pretty, json, sarif, github\nDid you mean sarif?\n",
  );
});

/** Escape sequences of colours. */
Deno.test("tri gives GitHub's commands by itself on GitHub's runners", async () => {
  using workspace = new Workspace({ "a.tc": "error bad\n" });
  const check = async (...words: string[]): Promise<string> =>
    (await workspace.tri(["check", ...words], { env: { GITHUB_ACTIONS: "true" } })).stdout;
  assertStringIncludes(await check(), "::error file=a.tc,");
  assertEquals(await check("--format", "pretty"), "");
  assertStringIncludes(await check("--json"), '"schemaVersion": 1');
});

const COLOR = "\x1b[";

Deno.test("tri colours a pipe only with FORCE_COLOR or CLICOLOR_FORCE, and nothing with NO_COLOR", async () => {
  using workspace = new Workspace({ "a.tc": "error bad\n" });
  const isColored = ({ stderr }: TriResult): boolean => stderr.includes(COLOR);
  const here = async (env: Record<string, string>): Promise<boolean> =>
    isColored(await workspace.tri(["check"], { main: REAL_MAIN, env }));
  assertEquals(await here({}), false);
  assertEquals(await here({ CLICOLOR_FORCE: "0" }), false);
  assertEquals(await here({ FORCE_COLOR: "1" }), true);
  assertEquals(await here({ FORCE_COLOR: "0" }), false);
  // Deno reads NO_COLOR when it starts.
  const alone = async (env: Record<string, string>): Promise<boolean> =>
    isColored(await workspace.process(["check"], { main: REAL_MAIN, env }));
  assertEquals(await alone({ CLICOLOR_FORCE: "1" }), true);
  // As in Deno and Node themselves.
  assertEquals(await alone({ FORCE_COLOR: "3", NO_COLOR: "1" }), true);
  assertEquals(await alone({ CLICOLOR_FORCE: "1", NO_COLOR: "1" }), false);
});

/** `script` gives a program a terminal of its own. */
const SCRIPT = "/usr/bin/script";
const hasScript = Deno.build.os === "linux" && Deno.statSync("/usr/bin").isDirectory &&
  [...Deno.readDirSync("/usr/bin")].some(({ name }) => name === "script");

Deno.test({
  name:
    "tri shows progress and colours on a terminal, and neither there with NO_COLOR but progress",
  ignore: !hasScript,
  fn: async () => {
    using workspace = new Workspace({ "a.tc": "error bad\n" });
    workspace.writeProgram(
      "run.sh",
      `cd ${workspace.path} && ${Deno.execPath()} run -q -A --config ${
        new URL("../../../deno.json", import.meta.url).pathname
      } ${REAL_MAIN} check\n`,
    );
    const onTerminal = async (env: Record<string, string>): Promise<string> => {
      const { stdout } = await new Deno.Command(SCRIPT, {
        args: ["-qec", `${workspace.path}/run.sh`, "/dev/null"],
        env: { TERM: "xterm", NO_COLOR: "", ...env },
        stdin: "null",
      }).output();
      return new TextDecoder().decode(stdout);
    };
    const colored = await onTerminal({});
    assertStringIncludes(colored, "checking 1/1 a.tc");
    assertStringIncludes(colored, `${COLOR}1;31merror`);
    const plain = await onTerminal({ NO_COLOR: "1" });
    assertStringIncludes(plain, "checking 1/1 a.tc");
    assertStringIncludes(plain, "error[");
    assert(!plain.includes(`${COLOR}0m`), "the end of a colour");
    const dumb = await onTerminal({ TERM: "dumb" });
    assertStringIncludes(dumb, "error[");
    assert(!dumb.includes(COLOR) && !dumb.includes("checking"), dumb);
  },
});
