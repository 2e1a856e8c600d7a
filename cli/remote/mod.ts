/** The remote cache of one build: what the command asks of it. Loaded only where a cache is stated. */
import { readFileSync } from "node:fs";
import type { Built, Progress } from "../build/build.ts";
import type { Judged } from "../build/report.ts";
import type { Inventory } from "../build/inventory.ts";
import { joinPath } from "../files/paths.ts";
import type { Staging } from "../files/staging.ts";
import type { BuildCache } from "./build_cache.ts";
import { FolderCache } from "./folder_cache.ts";
import { HttpCache } from "./http_cache.ts";
import type { RemoteSettings } from "./settings.ts";
import { isFolderUrl } from "./url.ts";
import { fetchSources, parcelOf, storeParcels } from "./sources.ts";

/** A remote cache for as long as a build runs. */
export class RemoteCache {
  readonly #cache: BuildCache;

  constructor(settings: RemoteSettings, say: (line: string) => void) {
    this.#cache = isFolderUrl(settings.url)
      ? new FolderCache(settings, say)
      : new HttpCache(settings, say);
  }

  /** Those of the sources that the cache has. */
  async fetch(
    plan: Inventory["plan"],
    stale: readonly Judged[],
    staging: Staging,
    progress: Progress,
  ): Promise<readonly Built[]> {
    return await fetchSources(this.#cache, plan, stale, staging, (done, total, what) => {
      progress("fetch", done, total, what);
    });
  }

  /** Stores what was built, if it may; how many sources it has now that it did not have. */
  async store(
    plan: Inventory["plan"],
    judged: readonly Judged[],
    built: readonly Built[],
    progress: Progress,
  ): Promise<number> {
    if (!this.#cache.writable) return 0;
    const parcels = built.flatMap((one) => {
      const from = judged.find(({ source }) => source === one.source);
      const parcel = from && parcelOf(
        plan,
        from,
        one,
        (path) => new Uint8Array(readFileSync(joinPath(plan.out, path))),
      );
      return parcel ?? [];
    });
    const stored = await storeParcels(this.#cache, parcels, (done, total, what) => {
      progress("store", done, total, what);
    });
    this.#cache.end();
    return stored;
  }
}
