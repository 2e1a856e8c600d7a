import { groupBy } from "../../../compiler/support/group_by.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("groupBy() does what Map.groupBy does", () => {
  for (const words of [[], ["a"], ["ab", "c", "ad", "ce", "f"]]) {
    const first = (word: string): string => word.charAt(0);
    assertEquals([...groupBy(words, first)], [...Map.groupBy(words, first)]);
  }
});

const ROOT = new URL("../../../", import.meta.url);

function modulesIn(folder: URL): URL[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const url = new URL(isDirectory ? `${name}/` : name, folder);
    return isDirectory ? modulesIn(url) : name.endsWith(".ts") ? [url] : [];
  });
}

Deno.test("groupBy() is used in all that runs on Node 20, rather than Map.groupBy", () => {
  const using = ["compiler/", "codegen/", "ffi/", "bench/"].flatMap((folder) =>
    modulesIn(new URL(folder, ROOT)).filter((url) =>
      /\b(Map|Object)\.groupBy\(/.test(Deno.readTextFileSync(url))
    )
  );
  assertEquals(using.map(({ pathname }) => pathname), []);
});
