/** The page as files: what it weighs, what it must not contain, and that its policy lets nothing out. */
import { buildSite } from "../../playground/build.ts";
import { respond } from "../../playground/serve.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** What is loaded before the first launch: all but the emulator. */
const FIRST_LOAD_BYTES = 500_000;

const site = await buildSite();

/** A file that is text. */
const textOf = (name: string): string => {
  const content = site.get(name) ?? "";
  return typeof content === "string" ? content : "";
};

async function gzipBytes(text: string): Promise<number> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}

/** A script and the parts that it imports without being asked. */
function staticParts(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = textOf(name);
  for (const [, part = ""] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
    staticParts(part, found);
  }
  return found;
}

Deno.test("the first load is at most 500 kB, compressed", async () => {
  const names = new Set([
    "index.html",
    "style.css",
    ...staticParts("page.js"),
    ...staticParts("worker.js"),
  ]);
  const sizes = await Promise.all([...names].map((name) => gzipBytes(textOf(name))));
  const total = sizes.reduce((a, b) => a + b, 0);
  assert(total <= FIRST_LOAD_BYTES, `${total} bytes`);
});

Deno.test("the scripts use nothing of Deno or Node, and no text as code", () => {
  for (const name of site.keys()) {
    if (!name.endsWith(".js")) continue;
    const text = textOf(name);
    // The run time asks for Node's modules by name where there is a `process`; it imports none.
    const words = [
      /(?:from|import)\s*\(?\s*["']node:/,
      /(?<!")\bDeno\.\w/,
      /\beval\(/,
      /\bnew Function\b/,
    ];
    for (const word of words) assert(!word.test(text), `${name} has ${word}`);
  }
});

Deno.test("the page's policy allows nothing but its own origin", () => {
  const [, policy = ""] = /Content-Security-Policy"\s+content="([^"]+)"/.exec(
    textOf("index.html"),
  ) ?? [];
  const parts = Object.fromEntries(
    policy.split(";").map((part) => {
      const [name = "", ...sources] = part.trim().split(" ");
      return [name, sources.join(" ")];
    }),
  );
  assertEquals(parts["default-src"], "'none'");
  assertEquals(parts["script-src"], "'self' 'wasm-unsafe-eval'");
  assertEquals(parts["connect-src"], "'self'");
  assertEquals(parts["worker-src"], "'self'");
});

Deno.test("files.json names every file, and respond() serves each", async () => {
  const { files, build } = JSON.parse(textOf("files.json"));
  assertEquals(
    new Set(files),
    new Set(["./", ...[...site.keys()].filter((name) => name !== "files.json")]),
  );
  assert(/^[0-9a-f]{16}$/.test(build));
  for (const name of files) {
    const response = respond(site, `http://127.0.0.1/${name.replace("./", "")}`);
    assertEquals(response.status, 200, name);
    assert((await response.text()).length > 0, name);
  }
  assertEquals(respond(site, "http://127.0.0.1/nothing").status, 404);
});
