/**
 * The HTTP protocol of Bazel's remote caches: `GET`, `HEAD` and `PUT` of `/cas/<sha256>` for content and of `/ac/<sha256>` for what
 * an action made. A cache that fails must not fail a build: the first failure is one note, and no further request is made; a
 * server that refuses to store is still read.
 */
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { LimitedBytesTransformStream } from "@std/streams/limited-bytes-transform-stream";
import { toArrayBuffer } from "@std/streams/to-array-buffer";
import { sha256 } from "../files/hash.ts";
import { isGranted } from "../host/deno.ts";
import { codeOf, isNotCapable, reasonOf } from "../host/errors.ts";
import type { BuildCache } from "./build_cache.ts";
import type { RemoteSettings } from "./settings.ts";

/** The two kinds of values. */
type Store = "cas" | "ac";

/** A slower cache does not pay: a request may take this long for its bytes, besides the time-out. */
const LEAST_BYTES_PER_SECOND = 1e6;
/** A value of `/ac` is a list of files. */
const MOST_ACTION_BYTES = 4 << 20;
/** The first bytes of a zstd frame (RFC 8878, section 3.1.1). */
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** Below this a frame saves nothing. */
const LEAST_COMPRESSED_BYTES = 256;

/** Node has zstd from version 22.15 on. */
const HAS_ZSTD = "zstdCompress" in zlib;

/** A server said something else than what was hoped for. */
class Refused extends Error {}

/** One cache, for one build. */
export class HttpCache implements BuildCache {
  #reads = true;
  #writes: boolean;
  #noted = false;
  /** Content that the server has wrong. */
  readonly #poisoned = new Set<string>();

  constructor(
    readonly settings: RemoteSettings,
    private readonly say: (line: string) => void,
  ) {
    this.#writes = settings.write;
  }

  get writable(): boolean {
    return this.#writes;
  }

  async action(key: string): Promise<Uint8Array | undefined> {
    return await this.#get("ac", key, MOST_ACTION_BYTES);
  }

  async content(hash: string, bytes: number): Promise<Uint8Array | undefined> {
    const found = await this.#get("cas", hash, bytes);
    if (found === undefined) return undefined;
    const plain = await withHash(found, hash, bytes);
    if (plain === undefined) {
      this.#poisoned.add(hash);
      this.note(
        `what it has as ${hash.slice(0, 12)}… has another hash; compiling that source here`,
      );
    }
    return plain;
  }

  async putContent(hash: string, content: Uint8Array<ArrayBuffer>): Promise<boolean> {
    if (!this.#poisoned.has(hash) && await this.#has(hash)) return true;
    if (!HAS_ZSTD || !this.settings.zstd || content.length < LEAST_COMPRESSED_BYTES) {
      return await this.#put("cas", hash, content, {});
    }
    const compressed = new Uint8Array(await promisify(zlib.zstdCompress)(content));
    return await this.#put("cas", hash, compressed, { "content-encoding": "zstd" });
  }

  async putAction(key: string, value: Uint8Array<ArrayBuffer>): Promise<boolean> {
    return await this.#put("ac", key, value, {});
  }

  /** The server's to limit. */
  end(): void {}

  note(message: string): void {
    if (this.#noted) return;
    this.#noted = true;
    this.say(`note: remote cache ${this.settings.url}: ${message}`);
  }

  async #get(store: Store, key: string, bytes: number): Promise<Uint8Array | undefined> {
    if (!this.#reads) return undefined;
    try {
      return await this.#request(store, key, bytes, { method: "GET" }, async (response) => {
        if (response.status === 404) {
          await response.body?.cancel();
          return undefined;
        }
        if (response.status !== 200) throw await refusal(response);
        // Compressed content may be a little longer than what it holds.
        return await readAtMost(response, bytes + 1024);
      });
    } catch (error) {
      this.#reads = false;
      this.#writes = false;
      this.note(`${this.#describe(error)}; building without it`);
      return undefined;
    }
  }

  async #has(hash: string): Promise<boolean> {
    if (!this.#writes) return false;
    try {
      return await this.#request("cas", hash, 0, { method: "HEAD" }, async (response) => {
        await response.body?.cancel();
        // Other answers, also refusals, are what the PUT will say.
        return response.status === 200;
      });
    } catch (error) {
      return this.#notStored(error);
    }
  }

  async #put(
    store: Store,
    key: string,
    body: Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    if (!this.#writes) return false;
    try {
      return await this.#request(
        store,
        key,
        body.length,
        {
          method: "PUT",
          body,
          headers: { "content-type": "application/octet-stream", ...headers },
        },
        async (response) => {
          if (!response.ok) throw await refusal(response);
          await response.body?.cancel();
          return true;
        },
      );
    } catch (error) {
      return this.#notStored(error);
    }
  }

  #notStored(error: unknown): false {
    this.#writes = false;
    this.note(`${this.#describe(error)}; nothing more is stored`);
    return false;
  }

  async #request<T>(
    store: Store,
    key: string,
    bytes: number,
    init: RequestInit,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { url, authorization, timeoutSeconds } = this.settings;
    const { host } = new URL(url);
    if (!isGranted({ name: "net", host })) {
      throw new Refused(
        `tri may not reach ${host}: add it to "net" of the permission set "tri" in deno.json, or run deno with --allow-net=${host}`,
      );
    }
    const controller = new AbortController();
    const seconds = timeoutSeconds + bytes / LEAST_BYTES_PER_SECOND;
    const timer = setTimeout(
      () => controller.abort(new Refused(`no answer in ${timeoutSeconds} s`)),
      seconds * 1000,
    );
    try {
      const response = await fetch(`${url}/${store}/${key}`, {
        ...init,
        headers: {
          "accept-encoding": HAS_ZSTD ? "zstd, identity" : "identity",
          ...(authorization === undefined ? {} : { authorization }),
          ...init.headers,
        },
        signal: controller.signal,
      });
      return await read(response);
    } catch (error) {
      // What fetch throws then differs between runtimes.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #describe(error: unknown): string {
    if (error instanceof Refused) return error.message;
    if (isNotCapable(error)) return error.message;
    if (!(error instanceof Error)) return String(error);
    const { cause } = error;
    // Node and Bun have the reason as its cause or its code, Deno at the end of the message.
    const reason = reasonOf(cause) ?? reasonOf(error);
    if (reason !== undefined) return reason;
    const code = codeOf(cause);
    if (code !== undefined) return code;
    const text = cause instanceof Error ? cause.message : error.message;
    return text.replace(/ \(os error \d+\)/, "").split(": ").at(-1) ?? text;
  }
}

async function refusal(response: Response): Promise<Refused> {
  await response.body?.cancel();
  const hint = response.status === 401
    ? " (TRI_REMOTE_CACHE_TOKEN, or TRI_REMOTE_CACHE_USER and TRI_REMOTE_CACHE_PASSWORD)"
    : "";
  return new Refused(`${response.status} ${response.statusText}`.trim() + hint);
}

/** Too much is not what was asked for, which the hash of what is left will show. */
async function readAtMost({ body }: Response, most: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const limited = body.pipeThrough(new LimitedBytesTransformStream(most));
  return new Uint8Array(await toArrayBuffer(limited));
}

/** Servers that know nothing of zstd give back the frame that was stored; others may have decompressed it. */
async function withHash(
  found: Uint8Array,
  hash: string,
  bytes: number,
): Promise<Uint8Array | undefined> {
  if (found.length === bytes && sha256(found) === hash) return found;
  if (!HAS_ZSTD || !ZSTD_MAGIC.every((byte, index) => found[index] === byte)) return undefined;
  try {
    const plain = await promisify(zlib.zstdDecompress)(found, {
      maxOutputLength: Math.max(bytes, 1),
    });
    return sha256(plain) === hash ? plain : undefined;
  } catch {
    return undefined;
  }
}
