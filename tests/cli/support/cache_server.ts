/** A server of Bazel's HTTP cache protocol in this process, which keeps values in memory and fails as a test demands. */

/** What it does wrong; undefined: nothing. */
export type Fault =
  | { readonly kind: "status"; readonly status: number; readonly methods: readonly string[] }
  /** Content has one bit changed. */
  | { readonly kind: "poisoned" }
  /** The connection ends in the middle of content. */
  | { readonly kind: "half" }
  /** It answers after the test is over. */
  | { readonly kind: "slow" }
  /** Content goes on and on. */
  | { readonly kind: "endless" };

export interface CacheServerOptions {
  /** The value of `authorization` that it wants. */
  readonly authorization?: string;
}

/** Ends with the test. */
export class CacheServer implements AsyncDisposable {
  readonly values = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly requests: string[] = [];
  readonly encodings: string[] = [];
  fault: Fault | undefined;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #over = Promise.withResolvers<void>();

  constructor(private readonly options: CacheServerOptions = {}) {
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/team`;
  }

  /** The paths of one kind of value. */
  paths(store: "cas" | "ac"): string[] {
    return [...this.values.keys()].filter((path) => path.startsWith(`/team/${store}/`)).sort();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    this.requests.push(`${request.method} ${pathname}`);
    const body = request.method === "PUT" ? await request.bytes() : undefined;
    const { authorization } = this.options;
    if (authorization !== undefined && request.headers.get("authorization") !== authorization) {
      return new Response("who are you?", { status: 401 });
    }
    const { fault } = this;
    if (fault?.kind === "slow") await this.#over.promise;
    if (fault?.kind === "status" && fault.methods.includes(request.method)) {
      return new Response("no", { status: fault.status });
    }
    if (body !== undefined) {
      this.encodings.push(request.headers.get("content-encoding") ?? "identity");
      this.values.set(pathname, body);
      return new Response(null, { status: 201 });
    }
    const value = this.values.get(pathname);
    if (value === undefined) return new Response("none", { status: 404 });
    const isContent = pathname.startsWith("/team/cas/");
    if (request.method === "HEAD") return new Response(null);
    if (isContent && fault?.kind === "half") return halfOf(value);
    return new Response(isContent ? faulty(value, fault) : value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.resolve();
    await this.#server.shutdown();
  }
}

/** The server closes the connection when the body ends before the length that it announced. */
function halfOf(value: Uint8Array<ArrayBuffer>): Response {
  const half = new ReadableStream({
    start(controller): void {
      controller.enqueue(value.subarray(0, value.length >> 1));
      controller.close();
    },
  });
  return new Response(half, { headers: { "content-length": `${value.length}` } });
}

function faulty(
  value: Uint8Array<ArrayBuffer>,
  fault: Fault | undefined,
): BodyInit {
  if (fault?.kind === "poisoned") return value.map((byte, index) => index === 0 ? byte ^ 1 : byte);
  if (fault?.kind === "endless") {
    return new ReadableStream({ pull: (controller) => controller.enqueue(value) });
  }
  return value;
}
