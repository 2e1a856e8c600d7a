/** Which requests the front end answers by the same work. */
import {
  type CheckedKernel,
  InstanceFront,
} from "../../../../compiler/driver/front/instance_front.ts";
import { readOptions } from "../../../../compiler/instances/kernel_options.ts";
import type { Define } from "../../../../compiler/options.ts";
import { ALL_TARGETS, type TargetName } from "../../../../compiler/targets.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

const frontOf = (text: string): InstanceFront =>
  new InstanceFront({ name: "t.tc", text }, { targets: [] });

function check(
  front: InstanceFront,
  target: TargetName,
  defines: readonly Define[] = [],
): CheckedKernel {
  const request = { defines, options: readOptions([]), arch: ALL_TARGETS[target] };
  const [site] = front.parse(request).kernels;
  return front.check(request, must(site, "a kernel"));
}

Deno.test("InstanceFront.check() checks a kernel once for targets that get the same tokens", () => {
  const front = frontOf(`__global__ void k(int *X) {
#if __TRI_ARCH__ >= 800
  *X = 1;
#else
  *X = 0;
#endif
}`);
  const [old, first, second] = [
    check(front, "sm_75"),
    check(front, "sm_80"),
    check(front, "sm_90a"),
  ];
  assert(first.kernel !== undefined);
  assert(second.kernel === first.kernel);
  assert(second.own === first.own);
  assert(old.kernel !== first.kernel);
});

Deno.test("InstanceFront.check() keeps the macros of each request, whatever its tokens", () => {
  const front = frontOf(`#if N > 0
__global__ void k(int *X) { *X = 0; }
#endif`);
  const withN = (value: string): CheckedKernel => check(front, "sm_80", [{ name: "N", value }]);
  const [one, two] = [withN("1"), withN("2")];
  assert(two.kernel === one.kernel);
  const valueOf = ({ parsed: { preprocessed } }: CheckedKernel): string | undefined =>
    preprocessed.macros.get("N")?.body[0]?.text;
  assertEquals([valueOf(one), valueOf(two)], ["1", "2"]);
});

Deno.test("InstanceFront.check() shares nothing where the preprocessor reports something", () => {
  const front = frontOf(`#if __TRI_ARCH__ < 800
#warning old
#endif
__global__ void k(int *X) { *X = 0; }`);
  const [old, recent] = [check(front, "sm_75"), check(front, "sm_80")];
  assertEquals(old.general.map(({ code }) => code), ["W1041"]);
  assertEquals(recent.general, []);
});
