/** Builds the page and serves it on this machine: `deno task playground`. */
import { buildSite, type Site, writeSite } from "./build.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
  tc: "text/plain; charset=utf-8",
  h: "text/plain; charset=utf-8",
};

/** Answers a request for a file of the page. */
export function respond(site: Site, url: string): Response {
  const { pathname } = new URL(url);
  const name = pathname.slice(1) + (pathname.endsWith("/") ? "index.html" : "");
  const content = site.get(name);
  if (content === undefined) return new Response("not found\n", { status: 404 });
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  return new Response(content, { headers: { "content-type": type, "cache-control": "no-cache" } });
}

if (import.meta.main) {
  const site = await buildSite();
  writeSite(site, `${import.meta.dirname}/dist`);
  const port = Number(Deno.args[0] ?? 8017);
  Deno.serve({ hostname: "127.0.0.1", port }, ({ url }) => respond(site, url));
}
