/** Tests with the site, a server of it and a browser. */
import { must } from "../../compiler/support/bug.ts";
import { buildSite, type Site } from "../../playground/build.ts";
import { respond } from "../../playground/serve.ts";
import { turnsOf } from "../support/sampled.ts";
import { type BrowserPage, Chromium, findChromium } from "./chromium.ts";

const program = findChromium();
/** Started by the first test; it ends with the last. */
let browser: Promise<Chromium> | undefined;
Deno.test.afterAll(async () => {
  await (await browser)?.end();
});

/** Of the tests in Chromium a run tries half. */
const leftOut = turnsOf(2);

/** Built once: all tests of a file look at the same files. */
let site: Promise<Site> | undefined;

/** The page of a playground is there. */
export const READY = "document.body?.dataset.ready === 'yes'";

/** What a test gets. */
export interface Opened {
  readonly page: BrowserPage;
  /** Ends with a slash. */
  readonly base: string;
}

/** A test with a page and a server of its own; skipped where there is no browser. */
export function browserTest(
  title: string,
  size: readonly [number, number],
  test: (opened: Opened) => Promise<void>,
): void {
  const why = program === undefined ? "no Chromium" : leftOut(title);
  Deno.test({
    name: why === undefined ? title : `${title} [skipped: ${why}]`,
    ignore: why !== undefined,
    fn: async () => {
      site ??= buildSite();
      const files = await site;
      const server = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        ({ url }) => respond(files, url),
      );
      browser ??= Chromium.start(must(program, "Chromium"));
      const page = await (await browser).open(...size);
      try {
        await test({ page, base: `http://127.0.0.1:${server.addr.port}/` });
      } finally {
        await page.close();
        await server.shutdown();
      }
    },
    // Sockets of the browser end with it.
    sanitizeOps: false,
    sanitizeResources: false,
  });
}
