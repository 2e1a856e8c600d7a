/**
 * Keeps the page for offline use: the service worker. A build has a number; its files are fetched once and kept until
 * a build with another number is there.
 */

/** What of the service worker's global object is used. */
interface Scope {
  readonly caches: CacheStorage;
  addEventListener(type: "install" | "activate", handler: (event: Waiting) => void): void;
  addEventListener(type: "fetch", handler: (event: Fetching) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
}

interface Waiting {
  waitUntil(done: Promise<unknown>): void;
}

interface Fetching {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** What `build.ts` writes: the build's number and its files. */
interface Manifest {
  readonly build: string;
  readonly files: readonly string[];
}

// The type of the global object is that of a page.
const scope = globalThis as unknown as Scope;
const PREFIX = "tri-playground-";

async function install(): Promise<void> {
  const manifest: Manifest = await (await fetch("files.json", { cache: "no-cache" })).json();
  const cache = await scope.caches.open(PREFIX + manifest.build);
  await cache.addAll(manifest.files.map((file) => new Request(file, { cache: "no-cache" })));
  const names = await scope.caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== PREFIX + manifest.build);
  await Promise.all(old.map((name) => scope.caches.delete(name)));
  await scope.skipWaiting();
}

/** The newest from the server; without a network what is kept. */
async function respond(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await scope.caches.match(request, { ignoreSearch: true });
    if (kept !== undefined) return kept;
    throw error;
  }
}

scope.addEventListener("install", (event) => event.waitUntil(install()));
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener("fetch", (event) => {
  const { request } = event;
  const isOwn = new URL(request.url).origin === globalThis.location.origin;
  if (request.method === "GET" && isOwn) event.respondWith(respond(request));
});
