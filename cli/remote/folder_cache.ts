/**
 * A cache in a folder of this machine, for checkouts and branches that are built in turn: `cas/<sha256>` and `ac/<sha256>`, as
 * servers have them. A value of `ac` begins with its own hash, so everything that is read is verified; what is damaged is
 * removed and is a miss. The time of a file is that of its last use: those used least recently are removed first.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sumOf } from "@std/collections/sum-of";
import { sha256 } from "../files/hash.ts";
import { joinPath } from "../files/paths.ts";
import { TemporaryFile } from "../files/temporary_file.ts";
import { isMissing, reasonOf } from "../host/errors.ts";
import type { BuildCache } from "./build_cache.ts";
import type { RemoteSettings } from "./settings.ts";

const STORES = ["cas", "ac"] as const;
type Store = typeof STORES[number];

/** Files with such names are being written. */
const PREFIX = ".tri-storing-";
/** Hexadecimal digits of SHA-256 before the value of an action. */
const HASH_LENGTH = 64;

/** A file of the cache. */
export interface CacheEntry {
  readonly path: string;
  readonly store: Store;
  /** The name: for `cas` the hash of the content. */
  readonly key: string;
  readonly bytes: number;
  /** When it was last used, in milliseconds. */
  readonly used: number;
}

/** One cache, for one build. */
export class FolderCache implements BuildCache {
  readonly #folder: string;
  #works = true;
  #noted = false;

  constructor(
    readonly settings: RemoteSettings,
    private readonly say: (line: string) => void,
  ) {
    this.#folder = folderOfCache(settings);
  }

  get writable(): boolean {
    return this.#works && this.settings.write;
  }

  action(key: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#read("ac", key));
  }

  content(hash: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#read("cas", hash));
  }

  putContent(hash: string, content: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const isThere = this.#read("cas", hash) !== undefined;
    return Promise.resolve(isThere || this.#write("cas", hash, content));
  }

  putAction(key: string, value: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const file = new Uint8Array(HASH_LENGTH + value.length);
    file.set(new TextEncoder().encode(sha256(value)));
    file.set(value, HASH_LENGTH);
    return Promise.resolve(this.#write("ac", key, file));
  }

  note(message: string): void {
    if (this.#noted) return;
    this.#noted = true;
    this.say(`note: cache ${this.#folder}: ${message}`);
  }

  /** Removes what was used least recently, if there is more than the limit. */
  end(): void {
    if (!this.writable) return;
    this.#attempt(() => trimCache(this.#folder, this.settings.limitBytes));
  }

  #read(store: Store, key: string): Uint8Array | undefined {
    if (!this.#works) return undefined;
    return this.#attempt(() => {
      const path = joinPath(this.#folder, store, key);
      const file = readIfThere(path);
      if (file === undefined) return undefined;
      const value = verified(store, key, file);
      if (value === undefined) {
        this.note(`${store}/${key.slice(0, 12)}… was damaged; compiling that source again`);
        if (this.settings.write) removeIfThere(path);
        return undefined;
      }
      if (this.settings.write) utimesSync(path, new Date(), new Date());
      return value;
    });
  }

  #write(store: Store, key: string, content: Uint8Array): boolean {
    if (!this.writable) return false;
    return this.#attempt(() => {
      const folder = joinPath(this.#folder, store);
      mkdirSync(folder, { recursive: true });
      using file = new TemporaryFile(folder, PREFIX, content);
      file.moveTo(joinPath(folder, key));
      return true;
    }) ?? false;
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#works = false;
      const reason = reasonOf(error) ?? (error instanceof Error ? error.message : String(error));
      this.note(`${reason}; building without it`);
      return undefined;
    }
  }
}

/** The folder of a cache whose URL is that of a folder. */
export function folderOfCache({ url }: Pick<RemoteSettings, "url">): string {
  return fileURLToPath(url);
}

/** What is in a cache, the least recently used first. */
export function cacheEntries(folder: string): CacheEntry[] {
  return STORES.flatMap((store) =>
    namesIn(joinPath(folder, store)).flatMap((key): CacheEntry[] => {
      const path = joinPath(folder, store, key);
      const facts = statSync(path, { throwIfNoEntry: false });
      if (facts === undefined || !/^[0-9a-f]{64}$/.test(key)) return [];
      return [{ path, store, key, bytes: facts.size, used: facts.mtimeMs }];
    })
  ).sort((a, b) => a.used - b.used || (a.path < b.path ? -1 : 1));
}

/** Whether the content of an entry is what was stored. */
export function isIntact({ path, store, key }: CacheEntry): boolean {
  const file = readIfThere(path);
  return file === undefined || verified(store, key, file) !== undefined;
}

/** Removes the least recently used until at most `limitBytes` are left; what it removed. */
export function trimCache(folder: string, limitBytes: number): readonly CacheEntry[] {
  const entries = cacheEntries(folder);
  let bytes = sumOf(entries, (entry) => entry.bytes);
  const removed = entries.filter((entry) => {
    if (bytes <= limitBytes) return false;
    bytes -= entry.bytes;
    return true;
  });
  for (const { path } of removed) removeIfThere(path);
  return removed;
}

function verified(store: Store, key: string, file: Uint8Array): Uint8Array | undefined {
  if (store === "cas") return sha256(file) === key ? file : undefined;
  const value = file.subarray(HASH_LENGTH);
  const stated = new TextDecoder().decode(file.subarray(0, HASH_LENGTH));
  return sha256(value) === stated ? value : undefined;
}

function readIfThere(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Another build may have removed it. */
function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
