/** The page in Firefox: the same answers as in Deno, every view, and a kernel of the guide in its page. */
import { buildSite } from "../../playground/build.ts";
import { GALLERY } from "../../playground/gallery/entries.ts";
import { respond } from "../../playground/serve.ts";
import { answer, type Question } from "../../playground/session/session.ts";
import { VIEWS } from "../../playground/state/state.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { NOT_TRIED, sampled, triesLong } from "../support/sampled.ts";
import { findFirefox, type FirefoxPage, openFirefox } from "./firefox.ts";
import { openEntry } from "./gallery.ts";
import { READY } from "./served.ts";

const firefox = findFirefox();
/** The page is the same in Chromium, which every run tries. */
const triesFirefox = triesLong("Firefox");
const why = firefox === undefined
  ? " [skipped: no Firefox]"
  : triesFirefox
  ? ""
  : ` [skipped: ${NOT_TRIED}]`;

/** Answers as text in which numbers keep their bits, but those of NaN: Firefox has one NaN. */
const SPELL = `(value) => JSON.stringify(value, (key, each) =>
  key === "milliseconds" ? 0
  : ArrayBuffer.isView(each)
  ? Array.from(each, (number) => Object.is(number, -0) ? "-0" : String(number))
  : each)`;

async function until(page: FirefoxPage, condition: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await page.evaluate(condition).catch(() => "") === "true") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never true: ${condition}`);
}

Deno.test({
  name: `Firefox shows every view and runs the gallery as Deno does${why}`,
  ignore: why !== "",
  fn: async () => {
    const site = await buildSite();
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ url }) => respond(site, url),
    );
    const base = `http://127.0.0.1:${server.addr.port}/`;
    const page = await openFirefox(must(firefox, "Firefox"));
    try {
      await page.goto(`${base}?entry=transpose`);
      await until(page, READY);
      for (const view of Object.keys(VIEWS)) {
        await page.evaluate(`document.querySelector("[data-view=${view}]").click()`);
        await until(page, "document.querySelector('#view .panel').textContent.length > 40");
      }
      const spell: (value: unknown) => string = (0, eval)(SPELL);
      for (const entry of sampled(GALLERY, 2)) {
        const { program, call } = openEntry(entry);
        const question: Question = { id: 0, name: "run", args: [program, call] };
        const there = await page.evaluate(`new Promise((resolve) => {
          const worker = globalThis.asked ??= new Worker("worker.js", { type: "module" });
          worker.onmessage = ({ data }) => resolve((${SPELL})(data));
          worker.postMessage(${JSON.stringify(question)});
        })`);
        assertEquals(there, spell(await answer(question)), entry.name);
      }
      await page.goto(`${base}docs/guide/transpose.html`);
      await page.evaluate("document.querySelector('iframe').scrollIntoView()");
      const inside = "document.querySelector('iframe').contentDocument";
      await until(page, `${inside}?.querySelector("#view .launch") !== null`);
      const said = await page.evaluate(`${inside}.querySelector("#view .launch").textContent`);
      assert(said.startsWith("transpose_naive") && said.endsWith("nothing found"), said);
    } finally {
      await page.close();
      await server.shutdown();
    }
  },
  // Sockets of the browser end with it.
  sanitizeOps: false,
  sanitizeResources: false,
});
