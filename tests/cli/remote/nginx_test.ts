/**
 * The remote cache on a server that others wrote: nginx with its WebDAV module (Debian: `nginx-light`), started here with a
 * folder of its own. Skipped where there is none.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { BUILD, Shop } from "../support/shop.ts";
import { type TriResult, Workspace } from "../support/tri_process.ts";

const NGINX = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].find((path) => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
});

/** `cache` may be written, `mirror` is the same folder for reading, `locked` asks for a password. */
function configuration(folder: string, port: number): string {
  const dav = "dav_methods PUT; create_full_put_path on; client_max_body_size 64m;";
  return `daemon off; pid ${folder}/pid; error_log ${folder}/log; worker_processes 1;
${Deno.uid() === 0 ? "user root;" : ""}
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server {
    listen 127.0.0.1:${port};
    location /cache/ { alias ${folder}/data/; ${dav} }
    location /mirror/ { alias ${folder}/data/; }
    location /locked/ {
      alias ${folder}/data/; ${dav}
      auth_basic "cache"; auth_basic_user_file ${folder}/users;
    }
  }
}
`;
}

/** nginx for one test. */
class Nginx implements AsyncDisposable {
  readonly #folder = new Workspace({ users: "ci:{PLAIN}secret\n", "data/empty": "" });
  readonly #process: Deno.ChildProcess;
  readonly url: string;

  private constructor(program: string, port: number) {
    this.#folder.write("conf", configuration(this.#folder.path, port));
    this.url = `http://127.0.0.1:${port}`;
    this.#process = new Deno.Command(program, {
      args: ["-e", `${this.#folder.path}/log`, "-c", `${this.#folder.path}/conf`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
  }

  static async start(program: string): Promise<Nginx> {
    // Free a moment ago; another process may take it, and then nginx ends.
    const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    const { port } = listener.addr;
    listener.close();
    const nginx = new Nginx(program, port);
    for (let tries = 0; tries < 100; tries++) {
      try {
        await (await fetch(`${nginx.url}/mirror/empty`)).body?.cancel();
        return nginx;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    const log = nginx.#folder.read("log");
    await nginx[Symbol.asyncDispose]();
    throw new Error(`nginx did not start: ${log}`);
  }

  /** Where it keeps what was stored. */
  get data(): string {
    return `${this.#folder.path}/data`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.status;
    this.#folder[Symbol.dispose]();
  }
}

function testOnNginx(name: string, body: (nginx: Nginx) => Promise<void>): void {
  Deno.test({
    name: NGINX === undefined ? `${name} [skipped: there is no nginx]` : name,
    ignore: NGINX === undefined,
    fn: async () => {
      await using nginx = await Nginx.start(NGINX ?? "");
      await body(nginx);
    },
  });
}

const FILES = { "kernels/a.tc": "kernel foo\n", "kernels/sub/b.tc": "kernel bar\n" };

async function build(
  url: string,
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<TriResult & { readonly files: Map<string, string> }> {
  using shop = new Shop(FILES);
  const result = await shop.tri([...BUILD, "--remote-cache", url, ...more], {
    env: { ...shop.options.env, ...env },
  });
  return { ...result, files: shop.files("out") };
}

testOnNginx(
  "tri build --remote-cache works with nginx: two checkouts, cold and warm",
  async ({ url }) => {
    const cold = await build(`${url}/cache`, ["--remote-cache-write"]);
    assertEquals(cold.code, 0);
    assertStringIncludes(cold.stderr, "0 of 2 sources fetched, 2 stored");
    for (const [place, more] of [["cache/", ["--remote-cache-write"]], ["mirror", []]] as const) {
      const warm = await build(`${url}/${place}`, more);
      assertStringIncludes(warm.stderr, "2 of 2 sources fetched");
      assert(!warm.stderr.includes("note:"), warm.stderr);
      assertEquals(warm.files, cold.files);
    }
  },
);

testOnNginx(
  "tri build --remote-cache-write says that nginx without WebDAV is read-only",
  async ({ url }) => {
    const result = await build(`${url}/mirror`, ["--remote-cache-write"]);
    assertEquals(result.code, 0);
    assertStringIncludes(result.stderr, "note: ");
    assertMatch(result.stderr, /: 405 .*; nothing more is stored$/m);
  },
);

testOnNginx("tri build --remote-cache gives nginx the user and the password", async ({ url }) => {
  const env = { TRI_REMOTE_CACHE_USER: "ci", TRI_REMOTE_CACHE_PASSWORD: "secret" };
  const cold = await build(`${url}/locked`, ["--remote-cache-write"], env);
  assertStringIncludes(cold.stderr, "2 stored");
  assertStringIncludes((await build(`${url}/locked`, [], env)).stderr, "2 of 2");
  const unknown = await build(`${url}/locked`);
  assertEquals(unknown.code, 0);
  assertStringIncludes(unknown.stderr, "401 Unauthorized");
});

testOnNginx(
  "tri build --remote-cache reads frames of zstd that nginx stored as they are, and refuses rotten files",
  async ({ url, data }) => {
    const env = { TRI_REMOTE_CACHE_ZSTD: "1" };
    const cold = await build(`${url}/cache`, ["--remote-cache-write"], env);
    const warm = await build(`${url}/cache`);
    assertStringIncludes(warm.stderr, "2 of 2 sources fetched");
    assertEquals(warm.files, cold.files);
    for (const { name } of Deno.readDirSync(`${data}/cas`)) {
      Deno.writeTextFileSync(`${data}/cas/${name}`, "rot");
    }
    const rotten = await build(`${url}/cache`);
    assertEquals(rotten.code, 0);
    assertStringIncludes(rotten.stderr, "has another hash; compiling that source here");
    assertEquals(rotten.files, cold.files);
  },
);
