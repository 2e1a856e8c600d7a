/** Instances ready to be launched on a device: loaded at first use, and checked against what the wrapper says. */
import type { Device } from "../device.ts";
import type { ParameterInfo, PreparedLaunch } from "../driver.ts";
import { ImageError } from "../errors.ts";
import type { KernelFunction } from "../module.ts";
import type { ModuleVariable } from "../variable.ts";
import type { ConstantBuffers } from "./constants.ts";
import type { BlockFacts, KernelFacts } from "./facts.ts";
import { type LoadedImage, loadImage } from "./image.ts";
import type { InstanceModel } from "./model.ts";
import { parseEntryParameters } from "./ptx_entry.ts";
import { POINTER_BYTES, SCALARS } from "./scalars.ts";

/** An instance on a device with an argument block of its own. */
export interface Launcher {
  readonly prepared: PreparedLaunch;
  /** The argument block. */
  readonly view: DataView;
}

/** A kernel's image on one device. */
export class LoadedKernel<Name extends string> {
  readonly #facts: KernelFacts<Name>;
  readonly #image: LoadedImage;
  readonly #functions: KernelFunction[] = [];
  readonly #launchers: Launcher[] = [];
  /** The image's copies of constant buffers. */
  readonly constants: readonly ModuleVariable[];

  constructor(facts: KernelFacts<Name>, constants: ConstantBuffers, device: Device) {
    this.#facts = facts;
    this.#image = loadImage(facts, device);
    // An image lacks the buffers that only code for other targets uses.
    this.constants = Object.values(constants).flatMap((buffer) => {
      const copy = this.#image.module.variable(buffer.name);
      if (copy === undefined) return [];
      buffer.attach(copy);
      return [copy];
    });
  }

  /** The instance's launcher that all calls share. */
  launcher(instance: InstanceModel<Name>): Launcher {
    return this.#launchers[instance.index] ??= this.newLauncher(instance);
  }

  /** A launcher of the instance that has no other user. */
  newLauncher(instance: InstanceModel<Name>): Launcher {
    const fn = this.#functions[instance.index] ??= this.#load(instance);
    const block = this.#block(instance);
    const prepared = fn.prepare({
      block: [block.threads, 1, 1],
      sharedBytes: block.sharedBytes,
      parameterBytes: instance.layout.parameterBytes,
      parameterNames: this.#facts.params.map(({ name }) => name),
    });
    const { buffer, byteOffset, byteLength } = prepared.argumentBlock;
    return { prepared, view: new DataView(buffer, byteOffset, byteLength) };
  }

  #block({ facts }: InstanceModel<Name>): BlockFacts {
    return facts.targets?.[this.#image.target] ?? facts;
  }

  #load(instance: InstanceModel<Name>): KernelFunction {
    const { module, ptx } = this.#image;
    const { symbol } = instance.facts;
    const fn = module.function(symbol);
    const { threads, sharedBytes } = this.#block(instance);
    const { info } = fn;
    if (threads > info.maxThreadsPerBlock) {
      throw new ImageError(
        module.name,
        `${symbol} runs with at most ${info.maxThreadsPerBlock} threads, not ${threads}`,
        {
          hint: "build the kernel with fewer warps (`#pragma tri num_warps=…`)",
        },
      );
    }
    const shared = sharedBytes + info.staticSharedBytes;
    const { maxSharedBytes } = module.device.info;
    if (shared > maxSharedBytes) {
      throw new ImageError(
        module.name,
        `${symbol} needs ${shared} bytes of shared memory; the device has ${maxSharedBytes}`,
        {
          hint: "build the kernel with smaller tiles",
        },
      );
    }
    const actual = info.parameters ??
      (ptx === undefined ? undefined : parseEntryParameters(ptx, symbol));
    if (actual !== undefined) this.#compareParameters(instance, actual);
    return fn;
  }

  #compareParameters(
    { facts: { symbol }, layout }: InstanceModel<Name>,
    actual: readonly ParameterInfo[],
  ): void {
    const expected = this.#facts.params.map((param, position) => ({
      offset: layout.offsets[position] ?? 0,
      bytes: param.kind === "pointer"
        ? POINTER_BYTES
        : SCALARS[layout.dtypes[position] ?? "int32"].bytes,
    }));
    const listed = (parameters: readonly ParameterInfo[]): string =>
      parameters.map(({ offset, bytes }) => `${bytes} at ${offset}`).join(", ") || "none";
    if (listed(expected) === listed(actual)) return;
    throw new ImageError(
      this.#image.module.name,
      `${symbol} takes other parameters than its wrapper passes (bytes ${
        listed(actual)
      } instead of ${listed(expected)})`,
    );
  }
}

/** A kernel's images by device. */
export class LoadedKernels<Name extends string> {
  readonly #facts: KernelFacts<Name>;
  readonly #constants: ConstantBuffers;
  readonly #byDevice = new WeakMap<Device, LoadedKernel<Name>>();

  constructor(facts: KernelFacts<Name>, constants: ConstantBuffers) {
    this.#facts = facts;
    this.#constants = constants;
  }

  on(device: Device): LoadedKernel<Name> {
    const known = this.#byDevice.get(device);
    if (known !== undefined) return known;
    const loaded = new LoadedKernel(this.#facts, this.#constants, device);
    this.#byDevice.set(device, loaded);
    return loaded;
  }
}
