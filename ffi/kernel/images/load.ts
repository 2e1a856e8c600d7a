/** Instances ready to be launched on a device: loaded at first use, and checked against what the wrapper says. */
import type { Device } from "../../device.ts";
import type { ParameterInfo, PreparedLaunch } from "../../driver.ts";
import { ImageError } from "../../errors.ts";
import type { KernelFunction } from "../../module.ts";
import type { ModuleVariable } from "../../variable.ts";
import type { ConstantBuffers } from "./constants.ts";
import type { CallArguments } from "../call/call_arguments.ts";
import type { BlockFacts, FormFacts, KernelFacts, Persistence } from "../facts/facts.ts";
import {
  type Form,
  type FormLauncher,
  type Launcher,
  noFormError,
  takeForm,
} from "../forms/forms.ts";
import { type LoadedImage, loadImage } from "./image.ts";
import type { ArgumentLayout, InstanceModel } from "../facts/model.ts";
import { parseEntryParameters } from "./ptx_entry.ts";
import { POINTER_BYTES, SCALARS } from "../call/scalars.ts";
import { Queues } from "../forms/queues.ts";
import { type Encode, MapSlot, MapTable } from "../forms/tensor_maps.ts";
import { TENSOR_MAP_BYTES } from "../../tensor_map.ts";
import { TURN_NUMBERS } from "../forms/turns.ts";
import type { FormChoice } from "../types.ts";

/** Size of each number after the tensor maps by which a block finds its programs. */
const NUMBER_BYTES = 4;

/** An entry or a form of an image, checked against what the wrapper says. */
interface LoadedCode<Name extends string> {
  readonly fn: KernelFunction;
  readonly block: BlockFacts;
  /** Of a program. */
  readonly blocks: number;
  readonly parameterBytes: number;
  readonly maps: readonly { readonly table: MapTable<Name>; readonly offset: number }[];
  /** Of code whose blocks do several programs in turn. */
  readonly turns: Omit<NonNullable<Launcher["turns"]>, "atOnce" | "queues"> | undefined;
  /** It waits for what is before it in its stream. */
  readonly startsEarly: boolean;
}

/** The code of an instance with argument blocks that have one user. */
export interface InstanceLauncher<Name extends string> {
  /** The code for the launch in hand; a form's tensor maps are then in its argument block. */
  take(call: CallArguments<Name>, choice: FormChoice | undefined): Launcher;
}

/** A kernel's image on one device. */
export class LoadedKernel<Name extends string> {
  readonly #facts: KernelFacts<Name>;
  readonly #image: LoadedImage;
  /** By name in the image. */
  readonly #codes = new Map<string, LoadedCode<Name>>();
  readonly #launchers: InstanceLauncher<Name>[] = [];
  readonly #queues = new Queues();
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

  /** What the image was made for. */
  get target(): string {
    return this.#image.target;
  }

  /** The instance's launcher that all calls share. */
  launcher(instance: InstanceModel<Name>): InstanceLauncher<Name> {
    return this.#launchers[instance.index] ??= this.newLauncher(instance);
  }

  /** A launcher of the instance that has no other user. */
  newLauncher(instance: InstanceModel<Name>): InstanceLauncher<Name> {
    const { symbol } = instance.facts;
    const { target } = this.#image;
    const code = instance.facts.targets?.[target] ?? instance.facts;
    let plain: Launcher | undefined;
    const { maxSharedBytes, multiprocessors } = this.#image.module.device.info;
    const forms = (code.forms ?? []).flatMap((facts): Form<Name>[] => {
      // The device may be a later one than the form was made for, with less shared memory.
      if (facts.sharedBytes > maxSharedBytes) return [];
      let launcher: FormLauncher<Name> | undefined;
      return [{
        facts,
        multiprocessors,
        launcher: () => launcher ??= this.#newForm(instance, facts),
      }];
    });
    return {
      take: (call, choice) => {
        const form = choice === "plain" ? undefined : takeForm(call, forms);
        if (form !== undefined) return form;
        if (choice === "fast") throw noFormError(call, symbol, target, forms);
        return plain ??= this.#newLauncher(this.#load(instance, { ...code, symbol, maps: [] }));
      },
    };
  }

  #newForm(
    instance: InstanceModel<Name>,
    facts: FormFacts<Name>,
  ): FormLauncher<Name> | undefined {
    const code = this.#load(instance, facts);
    if (code.maps.length < facts.maps.length) return undefined;
    if (facts.persistent !== undefined && code.turns === undefined) return undefined;
    const launcher = this.#newLauncher(code);
    const { argumentBlock } = launcher.prepared;
    const maps = code.maps.map(({ table, offset }) =>
      new MapSlot(table, argumentBlock.subarray(offset, offset + TENSOR_MAP_BYTES))
    );
    return { ...launcher, maps };
  }

  #newLauncher(code: LoadedCode<Name>): Launcher {
    const { fn, block, blocks, parameterBytes, maps, turns, startsEarly } = code;
    const prepared = byPrograms(
      blocks,
      fn.prepare({
        block: [block.threads, 1, 1],
        sharedBytes: block.sharedBytes,
        parameterBytes,
        ...startsEarly ? { startsEarly } : {},
        parameterNames: [
          ...this.#facts.params.map(({ name }) => name),
          ...maps.map(({ table }) => `tensor map of ${table.facts.param}`),
          ...turns?.numbersAt.map(() => "numbers of programs") ?? [],
        ],
      }),
    );
    const { buffer, byteOffset, byteLength } = prepared.argumentBlock;
    const view = new DataView(buffer, byteOffset, byteLength);
    if (turns === undefined) return { prepared, view };
    const { multiprocessors } = this.#image.module.device.info;
    const atOnce = prepared.clustersAtOnce ?? Math.max(1, Math.floor(multiprocessors / blocks));
    return { prepared, view, turns: { ...turns, atOnce, queues: this.#queues } };
  }

  #load(
    { layout }: InstanceModel<Name>,
    facts: Omit<FormFacts<Name>, "when">,
  ): LoadedCode<Name> {
    const { symbol, threads, sharedBytes, maps, persistent, startsLate = false } = facts;
    const known = this.#codes.get(symbol);
    if (known !== undefined) return known;
    const { module, ptx, startsEarly } = this.#image;
    const fn = module.function(symbol);
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
    if (actual !== undefined) this.#compareParameters(layout, facts, actual);
    // Assemblers align maps in the memory that a GPU has parameters in, where these do not begin at a multiple of 64:
    // on sm_90 a map after 48 bytes of parameters is there, and not 64 bytes from the first parameter. Only the driver
    // has that fact.
    const mapParameters = info.parameters?.slice(layout.offsets.length) ?? [];
    const code: LoadedCode<Name> = {
      fn,
      block: facts,
      blocks: info.clusterBlocks,
      parameterBytes: mapParameters.reduce(
        (end, { offset, bytes }) => Math.max(end, offset + bytes),
        layout.parameterBytes,
      ),
      maps: mapParameters.flatMap(({ offset }, index) => {
        const map = maps[index];
        if (map === undefined) return [];
        const encode: Encode = (description) => module.device.enter().encodeTensorMap(description);
        return [{ table: new MapTable(map, encode), offset }];
      }),
      startsEarly: startsEarly && !startsLate,
      turns: persistent && turnsAt(persistent, mapParameters.slice(maps.length)),
    };
    this.#codes.set(symbol, code);
    return code;
  }

  #compareParameters(
    layout: ArgumentLayout,
    { symbol, maps, persistent }: Omit<FormFacts<Name>, "when">,
    actual: readonly ParameterInfo[],
  ): void {
    const own = this.#facts.params.map((param, position) => ({
      offset: layout.offsets[position] ?? 0,
      bytes: param.kind === "pointer"
        ? POINTER_BYTES
        : SCALARS[layout.dtypes[position] ?? "int32"].bytes,
    }));
    // Wrappers do not determine where what follows is.
    const numbers = persistent === undefined ? 0 : TURN_NUMBERS[persistent];
    const more = [
      ...maps.map(() => TENSOR_MAP_BYTES),
      ...Array.from({ length: numbers }, () => NUMBER_BYTES),
    ];
    const expected = [
      ...own,
      ...more.map((bytes, index) => ({
        offset: actual[own.length + index]?.offset ?? layout.parameterBytes,
        bytes,
      })),
    ];
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

/** Where numbers of programs lie, by what the driver says of the parameters after the maps; undefined: it does not say. */
function turnsAt(
  persistent: Persistence,
  parameters: readonly ParameterInfo[],
): LoadedCode<never>["turns"] {
  const numbersAt = parameters.slice(0, TURN_NUMBERS[persistent]).map(({ offset }) => offset);
  return numbersAt.length < TURN_NUMBERS[persistent] ? undefined : { persistent, numbersAt };
}

/** A launch whose grid counts programs. */
function byPrograms(blocks: number, prepared: PreparedLaunch): PreparedLaunch {
  if (blocks === 1) return prepared;
  const { profile, clustersAtOnce } = prepared;
  return {
    argumentBlock: prepared.argumentBlock,
    ...clustersAtOnce === undefined ? {} : { clustersAtOnce },
    launch: (x, y, z, stream) => prepared.launch(x * blocks, y, z, stream),
    ...profile === undefined ? {} : {
      profile: (x, y, z, stream) => profile.call(prepared, x * blocks, y, z, stream),
    },
  };
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
