/** The documentation as pages beside the playground: links, live kernels, and what browsers and readers are told. */
import * as path from "node:path";
import { GUIDE } from "../../playground/gallery/guide.ts";
import { guideFiles } from "../../playground/guide/pages.ts";
import { run } from "../../playground/session/run.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { sampled } from "../support/sampled.ts";
import { openEntry } from "./gallery.ts";
import { browserTest, READY } from "./served.ts";

const files = guideFiles();
const pages = new Map(
  [...files].flatMap(([name, content]) => typeof content === "string" ? [[name, content]] : []),
);

/** Files of the page that pages link to. */
const OTHERS: ReadonlySet<string> = new Set(["icon.svg", "style.css", "guide.css", "guide.js"]);

/** The page that has a kernel of the guide live. */
const pageOf = (name: string): string | undefined =>
  [...pages].find(([, text]) => text.includes(`?embed&amp;entry=${name}"`))?.[0];

Deno.test("links of the pages lead to files of the site, and to headings that are there", () => {
  const dead: string[] = [];
  for (const [name, text] of pages) {
    for (const [, link = ""] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(link)) continue;
      const [file = "", anchor] = link.replace(/\?[^#]*/, "").split("#");
      const to = file === "" ? name : path.posix.join(path.posix.dirname(name), file);
      const isRoot = to === "." || to === "./";
      if (isRoot || OTHERS.has(to)) continue;
      const target = files.get(to);
      const isGood = target !== undefined &&
        (anchor === undefined || anchor === "" || String(target).includes(`id="${anchor}"`));
      if (!isGood) dead.push(`${name}: ${link}`);
    }
  }
  assertEquals(dead, []);
});

Deno.test("each kernel of the guide is live on a page, which has its picture in place", () => {
  for (const { name } of GUIDE) assert(pageOf(name)?.startsWith("docs/guide/"), name);
  for (const [name, content] of files) {
    if (typeof content !== "string") {
      assertEquals(content.slice(1, 4), new Uint8Array([80, 78, 71]), name);
    }
  }
  assert(
    must(pages.get("docs/guide/slow.html"), "page").includes('src="../playground/slow_sum.png"'),
  );
});

Deno.test("the pages take nothing from elsewhere, and name what readers hear", () => {
  for (const [name, text] of pages) {
    assert(/content="default-src 'none';[^"]*frame-src 'self'/.test(text), name);
    assert(!/(?:src|<link[^>]*href)="https?:/.test(text), `${name} loads from elsewhere`);
    assert(!/<img(?![^>]*alt="[^"])/.test(text), `${name} has a picture without words`);
    assert(!/<iframe(?![^>]*title="[^"])/.test(text), `${name} has a frame without a name`);
    assertEquals(text.match(/<main/g)?.length, 1, name);
    assert(/<title>[^<·]+ · tri<\/title>/.test(text), `${name} has no title`);
  }
});

/** Views that say which entry ran, and how. */
const TELLING = new Set(["result", "memory", "report", "faults"]);

browserTest(
  "a page of the guide runs its kernel, by keyboard and without a network",
  [1100, 800],
  async ({ page, base }) => {
    const telling = GUIDE.filter(({ chosen }) => TELLING.has(chosen.view ?? ""));
    for (const entry of sampled(telling, 1)) {
      const { program, call } = openEntry(entry);
      const ran = run(program, call);
      if (ran.kind !== "ran") continue;
      const address = base + must(pageOf(entry.name), "page");
      await page.goto(address);
      await page.press("Tab");
      assertEquals(await page.evaluate("document.activeElement.className"), "skip");
      await page.until(
        "navigator.serviceWorker.ready.then((each) => each.active?.state === 'activated')",
      );
      const others = page.requests.filter((url) => !url.startsWith(base) && url !== "about:blank");
      assertEquals(others, []);
      await page.send("Network.emulateNetworkConditions", {
        ...{ offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
      });
      await page.goto(address);
      const frame = `document.querySelector('iframe[src$="=${entry.name}"]')`;
      // Enter opens what is closed.
      await page.evaluate(
        `${frame}.closest("details").open = false, ${frame}.closest("details").querySelector("summary").focus()`,
      );
      await page.press("Enter");
      await page.evaluate(`${frame}.scrollIntoView()`);
      const inside = `${frame}.contentDocument`;
      await page.until(READY.replace("document", inside));
      await page.evaluate(
        `${inside}.querySelector("#view .panel").replaceChildren(), ${inside}.querySelector("#run").focus()`,
      );
      await page.press("Enter");
      await page.until(`${inside}.querySelector("#view .launch") !== null`);
      const said = String(await page.evaluate(`${inside}.querySelector("#view").textContent`));
      const { profile, findings } = ran;
      const count = findings.length === 0 ? "nothing found" : `${findings.length} mistake`;
      assert(
        said.includes(`${must(profile, "profile").warpInstructions} instructions of warps`),
        said,
      );
      assert(said.includes(count), said);
      assertEquals(page.console, []);
    }
  },
);
