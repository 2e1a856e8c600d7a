/** The page in headless Chromium: the same answers as in Deno, the keyboard alone, small screens, nothing sent. */
import { GALLERY } from "../../playground/gallery/entries.ts";
import { answer, type Question } from "../../playground/session/session.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { sampled } from "../support/sampled.ts";
import { openEntry } from "./gallery.ts";
import { browserTest, READY } from "./served.ts";

/** Modifiers of keys. */
const [CTRL, SHIFT] = [2, 8];

/** Answers as text in which typed arrays, NaN and -0 keep their bits. */
const SPELL = `(value) => JSON.stringify(value, (key, each) =>
  key === "milliseconds" ? 0
  : ArrayBuffer.isView(each) ? [...new Uint32Array(each.buffer, each.byteOffset, each.byteLength / 4)]
  : each)`;

browserTest(
  "gallery entries give the bits in Chromium that they give in Deno",
  [1280, 800],
  async ({ page, base }) => {
    await page.goto(base, READY);
    const spell: (value: unknown) => string = (0, eval)(SPELL);
    for (const entry of sampled(GALLERY, GALLERY.length / 10)) {
      const { program, call } = openEntry(entry);
      for (
        const [name, args] of [
          ["run", [program, call]],
          ["stages", [program, ["ast", "types", "ir", "layout", "plan", "ptx"], ""]],
          ["problems", [program, "all"]],
        ] as const
      ) {
        const question: Question = { id: 0, name, args };
        const here = await answer(question);
        const there = await page.evaluate(`new Promise((resolve) => {
        const worker = globalThis.asked ??= new Worker("worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve((${SPELL})(data));
        worker.postMessage(${JSON.stringify(question)});
      })`);
        assertEquals(there, spell(here), `${name} of ${entry.name}`);
      }
    }
  },
);

browserTest("the page shows every view of an entry, and asks nobody but its own origin", [
  1280,
  800,
], async ({ page, base }) => {
  await page.goto(`${base}?entry=transpose`, READY);
  const views = await page.evaluate(
    "[...document.querySelectorAll('#tabs button')].map((tab) => tab.dataset.view)",
  );
  assert(Array.isArray(views) && views.length >= 7);
  for (const view of views) {
    await page.evaluate(`document.querySelector("[data-view=${view}]").click()`);
    await page.until("document.querySelector('#view .panel').textContent.length > 40");
    assertEquals(
      await page.evaluate(
        `document.querySelector("[data-view=${view}]").getAttribute("aria-selected")`,
      ),
      "true",
    );
  }
  // No picture is blank, and its table has its cells.
  await page.evaluate("document.querySelector('[data-view=result]').click()");
  await page.until("document.querySelectorAll('#view canvas').length === 2");
  const colours = await page.evaluate(`(() => {
    const canvas = document.querySelector("#view canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);
  assert(Number(colours) > 16, `${colours} colours`);
  await page.evaluate("document.querySelector('#view summary').click()");
  await page.until("document.querySelectorAll('#view figure:first-child tbody tr').length > 10");
  assert(page.requests.length > 5);
  const others = page.requests.filter((url) => !url.startsWith(base) && !url.startsWith("about:"));
  assertEquals(others, []);
  assertEquals(page.console, []);
});

browserTest("typing shows a problem, its fix mends it, and a link brings the text back", [
  1280,
  800,
], async ({ page, base }) => {
  await page.goto(`${base}?entry=vector_add`, READY);
  const replace = `(async () => {
    const view = document.querySelector(".cm-content").cmTile?.view ?? document.querySelector(".cm-content").cmView.view;
    const text = view.state.doc.toString();
    const at = text.indexOf("get_program_id");
    view.dispatch({ changes: { from: at, to: at + 14, insert: "get_program_idd" } });
  })()`;
  await page.evaluate(replace);
  await page.until("document.querySelector('#problems .error') !== null");
  const said = await page.evaluate("document.querySelector('#problems .error').textContent");
  assert(String(said).includes("get_program_idd"));
  await page.until("location.hash.length > 100");
  const address = String(await page.evaluate("location.href"));
  await page.goto(address, READY);
  await page.until("document.querySelector('#problems .error') !== null");
  assert(
    String(await page.evaluate("document.querySelector('.cm-content').textContent")).includes(
      "get_program_idd",
    ),
  );
  // The list of problems opens by Ctrl+Shift+M, and its button mends.
  await page.evaluate("document.querySelector('.cm-content').focus()");
  await page.press("M", CTRL | SHIFT);
  await page.until("document.querySelector('.cm-diagnosticAction') !== null");
  await page.evaluate("document.querySelector('.cm-diagnosticAction').click()");
  await page.until("document.querySelector('#problems .error') === null");
  // Completion and hover are those of the language server.
  await page.evaluate("document.querySelector('.cm-content').focus()");
  await page.press(" ", CTRL);
  await page.until("document.querySelectorAll('.cm-tooltip-autocomplete li').length > 10");
  await page.press("Escape");
  const [x, y] = await page.evaluate(`(() => {
    const word = document.querySelector(".tok-builtin").getBoundingClientRect();
    return [word.x + 5, word.y + 5];
  })()`) as [number, number];
  await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  await page.until("document.querySelector('.cm-tooltip .hint')?.textContent.length > 40");
  // Tab indents; Escape, then Tab leaves the editor. What is open is closed by an Escape of its own.
  await page.press("Escape");
  await page.press("Escape");
  await page.press("Tab");
  assertEquals(await page.evaluate("document.activeElement.matches('.cm-content')"), false);
});

browserTest(
  "two runs are compared, the pinned one beside the other",
  [1280, 800],
  async ({ page, base }) => {
    await page.goto(`${base}?entry=transpose_naive&view=memory`, READY);
    const sectors =
      "[...document.querySelectorAll('#view tbody tr:first-child')][0].innerText.match(/\\d+/g)";
    await page.until("document.querySelector('#view table') !== null");
    const [first] = await page.evaluate(sectors) as string[];
    await page.evaluate("document.querySelector('#view .bar button').click()");
    await page.evaluate(`(() => {
    const gallery = document.querySelector("#toolbar select");
    gallery.value = "transpose";
    gallery.dispatchEvent(new Event("change"));
  })()`);
    await page.until("document.querySelector('[data-view=result]').ariaSelected === 'true'");
    await page.evaluate("document.querySelector('[data-view=memory]').click()");
    await page.until(
      "document.querySelector('#view').textContent.includes('Pinned: transpose_naive')",
    );
    await page.until(`${sectors}.length === 2`);
    const [own, pinned] = await page.evaluate(sectors) as string[];
    assertEquals(pinned, first);
    assert(Number(own) < Number(pinned));
  },
);

browserTest(
  "the keyboard alone walks on a picture, and each cell is said",
  [1280, 800],
  async ({ page, base }) => {
    await page.goto(`${base}?entry=transpose`, READY);
    await page.until("document.querySelector('#view canvas') !== null");
    await page.evaluate("document.querySelector('#view canvas').focus()");
    await page.press("ArrowRight");
    await page.press("ArrowDown");
    const said = await page.evaluate("document.querySelector('#view .says').textContent");
    assert(String(said).startsWith("X[1, 1] = "), String(said));
    const nameless = await page.evaluate(
      `[...document.querySelectorAll("button, select, input, canvas")]
    .filter((each) => !each.textContent && !each.closest("label") && !each.ariaLabel).length`,
    );
    assertEquals(nameless, 0);
  },
);

browserTest(
  "a phone shows one column, without sideways scrolling",
  [360, 640],
  async ({ page, base }) => {
    await page.goto(`${base}?entry=transpose`, READY);
    for (const column of ["code", "pictures", "launch"]) {
      await page.evaluate(`document.querySelector("[data-column=${column}]:not(body)").click()`);
      const [wide, seen] = await page.evaluate(`[
      document.documentElement.scrollWidth,
      [...document.querySelectorAll("main > section")].filter((each) => each.offsetWidth > 0).length,
    ]`) as [number, number];
      assert(wide <= 360, `${column}: ${wide}`);
      assertEquals(seen, 1);
    }
  },
);

browserTest(
  "the page works without a network after the first visit",
  [1280, 800],
  async ({ page, base }) => {
    await page.goto(base, READY);
    await page.until(
      "navigator.serviceWorker.ready.then((each) => each.active?.state === 'activated')",
    );
    await page.send("Network.emulateNetworkConditions", {
      offline: true,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await page.goto(`${base}?entry=race`, READY);
    await page.until("document.querySelector('.finding') !== null");
  },
);

browserTest(
  "an embed shows one view, runs, and leads to the whole page with what was changed",
  [420, 640],
  async ({ page, base }) => {
    await page.goto(`${base}?embed&entry=transpose_naive&view=memory`, READY);
    await page.until("document.querySelector('#view table') !== null");
    const hidden = await page.evaluate(
      `["header", "#tabs", "#launch", "#columns"].filter((each) => document.querySelector(each).offsetHeight > 0)`,
    );
    assertEquals(hidden, []);
    assert(Number(await page.evaluate("document.documentElement.scrollWidth")) <= 420);
    await page.evaluate("document.querySelector('#run').click()");
    await page.until("document.querySelector('#run').textContent.startsWith('Run')");
    await page.until("document.querySelector('#embed a').href.includes('#1')");
    const link = String(await page.evaluate("document.querySelector('#embed a').href"));
    assert(!link.includes("embed"));
    await page.goto(link, READY);
    const view = "document.querySelector('#tabs [aria-selected=true]').dataset.view";
    assertEquals(await page.evaluate(view), "memory");
    const first = String(await page.evaluate("document.querySelector('.cm-content').textContent"));
    assert(first.includes("a row of X at a time"));
  },
);

browserTest(
  "a puzzle is judged with hidden inputs, and its solution solves it",
  [1280, 800],
  async ({ page, base }) => {
    await page.goto(`${base}?entry=puzzle_row_maximum`, READY);
    await page.evaluate("document.querySelector('#judge').click()");
    await page.until("document.querySelector('#puzzle .unsolved') !== null");
    const solution = await page.evaluate(
      "fetch('playground/puzzles/kernels/row_maximum.solution.tc').then((each) => each.text())",
    );
    await page.evaluate(`(() => {
      const content = document.querySelector(".cm-content");
      const view = content.cmTile?.view ?? content.cmView.view;
      const { length } = view.state.doc;
      view.dispatch({ changes: { from: 0, to: length, insert: ${JSON.stringify(solution)} } });
    })()`);
    await page.evaluate("document.querySelector('#judge').click()");
    await page.until("document.querySelector('#puzzle .solved') !== null");
    assertEquals(page.console, []);
  },
);

browserTest(
  "the view of values shows tiles by name, with a table of their elements",
  [1280, 800],
  async ({ page, base }) => {
    await page.goto(`${base}?entry=transpose&view=values`, READY);
    await page.until("document.querySelectorAll('#view figure').length >= 5");
    const titles = await page.evaluate(
      "[...document.querySelectorAll('#view figcaption')].map((each) => each.textContent)",
    );
    assert(
      Array.isArray(titles) && titles.includes("x: float[32, 32], held in a register"),
      String(titles),
    );
  },
);
