import { permissionRemedy } from "../../../cli/host/permission_remedy.ts";
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";

const WRITE = (path: string): string =>
  `Requires write access to "${path}", run again with the --allow-write flag`;

Deno.test("permissionRemedy() gives the one command that may write into the folder of --out", () => {
  const words = ["/bin/deno", `${Deno.cwd()}/cli/main.ts`, "build", "my kernels", "--out=a b"];
  const [, command] = permissionRemedy(WRITE("/tmp/x"), words).split("\n");
  assertEquals(
    command,
    "  deno run --allow-read --allow-env --allow-run '--allow-write=a b' cli/main.ts build 'my kernels' '--out=a b'",
  );
  const plain = permissionRemedy(WRITE("/tmp/x"), ["deno", "/opt/tri.ts", "fmt", "it's.tc"]);
  assertStringIncludes(plain, "--allow-write=/tmp/x /opt/tri.ts fmt 'it'\\''s.tc'\n");
  assertStringIncludes(plain, 'permission set "tri"');
  const spaced = permissionRemedy(WRITE("/tmp/x"), ["deno", "/opt/tri.ts", "build", "--out", "o"]);
  assertStringIncludes(spaced, "--allow-write=o ");
});

Deno.test("permissionRemedy() names the flag of other accesses", () => {
  const message = 'Requires run access to "ptxas", run again with the --allow-run flag';
  assertEquals(
    permissionRemedy(message, ["deno", "main.ts"]),
    'Grant it: add it to the permission set "tri" in deno.json, or run deno with --allow-run.',
  );
});
