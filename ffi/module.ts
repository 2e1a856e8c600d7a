/** Loaded kernel images, the kernels in them and their variables. */
import type { Device } from "./device.ts";
import type { FunctionInfo, LaunchShape, PreparedLaunch } from "./driver.ts";
import { expectBranded, registerBrand } from "./arguments/brands.ts";
import type { HostBytes } from "./dtype.ts";
import { ArgumentError, CudaError, DisposedError, ImageError } from "./errors.ts";
import { bytesOf } from "./tensors/host.ts";
import { checkLaunchShape } from "./arguments/launch_shape.ts";
import { describeValue } from "./arguments/values.ts";
import { ModuleVariable } from "./variable.ts";

/** Modules of whose kernels none waits for the grids before it, as far as their text says. */
const NEVER_WAITING = new WeakSet<KernelModule>();

/** A kernel image on a device. */
export class KernelModule {
  /** The device that it belongs to. */
  readonly device: Device;
  /** For messages: the image's file name. */
  readonly name: string;
  readonly #handle: bigint;
  readonly #functions = new Map<string, KernelFunction>();
  readonly #variables = new Map<string, ModuleVariable>();
  #disposed = false;

  static {
    registerBrand("module", (value) => #functions in value);
  }

  /** Use `device.loadModule()`. */
  constructor(device: Device, image: HostBytes, name: string) {
    expectBranded<Device>("device", device, "device of KernelModule");
    expectName("name of KernelModule", name);
    this.device = device;
    this.name = name;
    const bytes = bytesOf(image, "image");
    this.#handle = device.enter().loadModule(bytes, name);
    if (neverWaits(bytes)) NEVER_WAITING.add(this);
  }

  /** Whether it was disposed, by itself or with its device. */
  get disposed(): boolean {
    return this.#disposed || this.device.disposed;
  }

  /** The kernel with this entry name. Throws `ImageError` where the image has none. */
  function(name: string): KernelFunction {
    expectName("name of a kernel", name);
    if (this.disposed) throw new DisposedError(`Module ${this.name}`);
    const known = this.#functions.get(name);
    if (known !== undefined) return known;
    const found = new KernelFunction(this, name, this.#find(name));
    this.#functions.set(name, found);
    return found;
  }

  /** The variable with this name; undefined where the image has none. */
  variable(name: string): ModuleVariable | undefined {
    expectName("name of a variable", name);
    if (this.disposed) throw new DisposedError(`Module ${this.name}`);
    const known = this.#variables.get(name);
    if (known !== undefined) return known;
    const extent = this.device.enter().findVariable(this.#handle, name);
    if (extent === undefined) return undefined;
    const found = new ModuleVariable(this, name, extent);
    this.#variables.set(name, found);
    return found;
  }

  #find(name: string): bigint {
    try {
      return this.device.enter().getFunction(this.#handle, name);
    } catch (cause) {
      if (!(cause instanceof CudaError) || cause.cudaName !== "CUDA_ERROR_NOT_FOUND") throw cause;
      throw new ImageError(this.name, `it has no kernel ${name}`, { cause });
    }
  }

  /** Unloads the image; its kernels must not be launched any more. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (this.device.disposed) return;
    this.device.forget(this);
    this.device.enter().unloadModule(this.#handle);
  }
}

/** A kernel of a loaded image. */
export class KernelFunction {
  /** The image that it is in. */
  readonly module: KernelModule;
  /** Its entry name. */
  readonly name: string;
  readonly #handle: bigint;
  #info: FunctionInfo | undefined;

  /** Use `module.function()`. */
  constructor(module: KernelModule, name: string, handle: bigint) {
    expectBranded<KernelModule>("module", module, "module of KernelFunction");
    expectName("name of KernelFunction", name);
    if (typeof handle !== "bigint") {
      throw new ArgumentError({
        argument: "handle of KernelFunction",
        expected: "a handle of the driver",
        actual: describeValue(handle),
      });
    }
    this.module = module;
    this.name = name;
    this.#handle = handle;
  }

  /** What the driver reports of the kernel; asked once. */
  get info(): FunctionInfo {
    return this.#info ??= this.module.device.enter().functionInfo(this.#handle);
  }

  /**
   * Makes a launcher; its argument block is zeros until the caller fills it. Throws `ArgumentError` for sizes that no
   * launch has. The launcher is the driver's own, which checks nothing.
   */
  prepare(shape: LaunchShape): PreparedLaunch {
    checkLaunchShape(shape);
    if (this.module.disposed) throw new DisposedError(`Module ${this.module.name}`);
    if (shape.startsEarly === true && NEVER_WAITING.has(this.module)) {
      throw new ArgumentError({
        argument: "startsEarly",
        expected: "a kernel that waits for the grids before it",
        actual: `${this.name} of ${this.module.name}, whose text has no griddepcontrol.wait`,
      }, {
        hint:
          "run griddepcontrol.wait in each thread before it accesses memory of the device and " +
          "before it ends, or leave startsEarly out",
      });
    }
    return this.module.device.enter().prepareLaunch(this.#handle, shape, this.name);
  }
}

/** Whether it is PTX without `griddepcontrol.wait`; images of other kinds do not say. */
function neverWaits(image: HostBytes): boolean {
  const text = new TextDecoder("latin1").decode(image);
  return /^\s*\.version\b/m.test(text.slice(0, MOST_HEAD)) && !text.includes("griddepcontrol.wait");
}

/** Characters among which PTX says that it is PTX. */
const MOST_HEAD = 4096;

/** A NUL would end the name on its way to the driver, and another one would be found. */
function expectName(argument: string, name: unknown): void {
  if (typeof name === "string" && !name.includes("\0")) return;
  throw new ArgumentError({ argument, expected: "a name", actual: describeValue(name) });
}
