/** The service as a function from requests to responses, for every server that speaks Fetch. */
import type { Search } from "./search.ts";

/** `POST /find` with a JSON list of numbers answers `{"entry": …, "score": …}`. */
export async function handle(search: Search, request: Request): Promise<Response> {
  if (new URL(request.url).pathname !== "/find") {
    return problem(404, "POST a list of numbers to /find");
  }
  if (request.method !== "POST") return problem(405, "POST a list of numbers to /find");
  const query = await readQuery(request);
  if (query === undefined || query.length !== search.dimensions) {
    return problem(400, `the body must be a JSON list of ${search.dimensions} finite numbers`);
  }
  return Response.json(await search.find(query));
}

async function readQuery(request: Request): Promise<Float32Array | undefined> {
  try {
    const body: unknown = await request.json();
    const isVector = Array.isArray(body) &&
      body.every((x) => typeof x === "number" && Number.isFinite(Math.fround(x)));
    return isVector ? Float32Array.from(body) : undefined;
  } catch {
    return undefined;
  }
}

const problem = (status: number, message: string): Response =>
  Response.json({ error: message }, { status });
