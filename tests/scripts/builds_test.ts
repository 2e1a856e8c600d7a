import { targetFor } from "../../scripts/builds.ts";
import { TARGETS } from "../../compiler/targets.ts";
import { chooseImages } from "../../ffi/kernel/images/image.ts";
import { Device } from "../../ffi/mod.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("targetFor() is the target whose image a device takes", () => {
  using device = Device.open({ device: "emulator" });
  const images = Object.keys(TARGETS).map((target) => ({
    target,
    kind: "ptx" as const,
    url: () => new URL(`file:///${target}.ptx`),
  }));
  for (const sm of [60, 70, 80, 87, 89, 90, 100, 103, 120]) {
    const [first] = chooseImages(images, { ...device.info, sm }, ["ptx"]);
    assertEquals(targetFor(sm), first?.target, `sm_${sm}`);
  }
});
