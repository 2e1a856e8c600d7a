/** Serves on port 8000 with `node:http`, which Deno and Bun have too. */
import { createServer, type Server } from "node:http";
import { Device } from "@tri/tri/ffi";
import { handle } from "./handler.ts";
import { DIMENSIONS, sampleVectors } from "./index.ts";
import { Search } from "./search.ts";

/** A server of the search; it does not listen yet. */
export function nodeServer(search: Search): Server {
  return createServer(async (incoming, outgoing) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = "GET", url = "/" } = incoming;
    const body = method === "POST" ? { body: await new Blob(chunks as BlobPart[]).text() } : {};
    const request = new Request(new URL(url, "http://localhost"), { method, ...body });
    const response = await handle(search, request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  });
}

if (import.meta.main) {
  nodeServer(new Search(Device.open(), sampleVectors(), DIMENSIONS)).listen(8000);
}
