/**
 * The arguments of the call in hand. A kernel has one object for them and fills it anew for each call, so that checking
 * a launch makes no garbage. Code of the caller can run in between (getters of options, `print` of the emulator); a
 * call of the same kernel from there is refused.
 */
import { nameValue } from "../../arguments/brands.ts";
import { ArgumentError, DisposedError, LaunchError } from "../../errors.ts";
import { isTensor, type Tensor } from "../../tensors/tensor.ts";
import { EXACT_LIMIT } from "../arithmetic.ts";
import type { Condition } from "../facts/facts.ts";
import type { DimensionSource, InstanceModel, KernelModel, VariantModel } from "../facts/model.ts";
import { SCALARS, type ScalarValue } from "./scalars.ts";

/** The launch grid in expressions. */
export const GRID_NAMES = ["gridX", "gridY", "gridZ"] as const;
export type GridName = (typeof GRID_NAMES)[number];

/** Arguments by position in the parameter list. */
export class CallArguments<Name extends string> {
  readonly model: KernelModel<Name>;
  /** What pointers point to; null: the null pointer. Undefined for scalars, and where nothing was given. */
  readonly tensors: (Tensor | null | undefined)[];
  readonly scalars: (ScalarValue | undefined)[];
  /** Which extent or stride defined a parameter. */
  readonly definitions: (DimensionSource | undefined)[];
  /** Results that the call made itself. */
  readonly allocated: Tensor[] = [];
  /** What expressions read. */
  readonly values: Record<Name | GridName, number>;
  /** What messages call each parameter. */
  labels: readonly string[];
  #constants: InstanceModel<Name>["constants"] | undefined;
  #isInUse = false;

  constructor(model: KernelModel<Name>) {
    this.model = model;
    this.labels = model.params.map(({ name }) => name);
    this.tensors = model.params.map(() => undefined);
    this.scalars = model.params.map(() => undefined);
    this.definitions = model.params.map(() => undefined);
    const names = [...model.names, ...GRID_NAMES];
    this.values = Object.fromEntries(names.map((name) => [name, 0])) as Record<
      Name | GridName,
      number
    >;
  }

  /** To be called before the arguments of a call are set; `clear` ends it. */
  enter(): void {
    if (this.#isInUse) {
      throw new LaunchError(`Cannot call ${this.model.name} while a call of it is under way`, {
        hint: "do not call it from a getter of its arguments, or from `print` of the emulator",
      });
    }
    this.#isInUse = true;
  }

  /** Forgets the last call, whose tensors must not be kept alive. */
  clear(): void {
    this.#isInUse = false;
    const { tensors, scalars, definitions, allocated } = this;
    allocated.length = 0;
    for (let position = 0; position < tensors.length; position++) {
      tensors[position] = undefined;
      scalars[position] = undefined;
      definitions[position] = undefined;
    }
  }

  /** The error for a parameter of this call. */
  error(position: number, expected: string, actual: string, hint?: string): ArgumentError {
    const argument = `${this.labels[position]} of ${this.model.name}`;
    return new ArgumentError({ argument, expected, actual }, hint === undefined ? {} : { hint });
  }

  /** Takes a pointer argument; null where the kernel can do without it. */
  setTensor(position: number, value: unknown, isOptional: boolean): void {
    if (isTensor(value)) {
      if (value.disposed) {
        throw new DisposedError(
          `Argument ${this.labels[position]} of ${this.model.name} (${value})`,
        );
      }
      this.tensors[position] = value;
    } else if (isOptional && (value === undefined || value === null)) {
      this.tensors[position] = null;
    } else {
      throw this.error(
        position,
        isOptional ? "a tensor or null" : "a tensor",
        nameValue(value),
      );
    }
  }

  /** Every scalar has come from the caller or from a tensor. */
  checkComplete(variant: VariantModel<Name>): void {
    for (const position of this.model.scalars) {
      if (this.scalars[position] === undefined) this.setScalar(position, undefined, variant);
    }
  }

  /** Takes a scalar argument; `variant` says of what type. */
  setScalar(position: number, value: unknown, variant: VariantModel<Name>): void {
    const row = SCALARS[variant.dtypes[position] ?? "int32"];
    if (!row.accepts(value)) throw this.error(position, row.takes, nameValue(value));
    this.scalars[position] = value;
    const param = this.model.params[position];
    if (param?.kind !== "scalar") return;
    const number = Number(value);
    if (typeof value === "bigint" && param.opaque !== true && Math.abs(number) > EXACT_LIMIT) {
      throw this.error(
        position,
        "a value within ±2^52, up to which sizes are computed exactly",
        `${value}`,
      );
    }
    this.values[param.name] = number;
    if (param.multipleof !== undefined && number % param.multipleof !== 0) {
      throw this.error(
        position,
        `a multiple of ${param.multipleof}`,
        `${value}`,
        "the kernel declares it __multipleof",
      );
    }
  }

  /** Lets expressions read the instance's constants. */
  setConstants(instance: InstanceModel<Name>): void {
    const { constants } = instance;
    if (constants === this.#constants) return;
    this.#constants = constants;
    for (const { name, value } of constants) this.values[name] = value;
  }

  /** Lets expressions read addresses. */
  setAddresses(): void {
    const { model: { pointers }, tensors, values } = this;
    for (const { position, name } of pointers) {
      const tensor = tensors[position];
      values[name] = tensor === null || tensor === undefined ? 0 : Number(tensor.address);
    }
  }

  /** For messages: the numbers that an expression's text mentions, such as "M = 2, TM = 64". */
  explain(text: string): string {
    return this.#list(new Set(text.match(/[A-Za-z_]\w*/g)));
  }

  /** The numbers that a condition reads; its text may be a sentence, whose words may be names as well. */
  explainCondition({ holds }: Condition<Name>): string {
    const read = new Set<string>();
    holds(
      new Proxy(this.values, {
        get(values, name, receiver): unknown {
          if (typeof name === "string") read.add(name);
          return Reflect.get(values, name, receiver);
        },
      }),
    );
    return this.#list(read);
  }

  #list(wanted: ReadonlySet<string>): string {
    return [...this.model.names, ...GRID_NAMES].filter((name) => wanted.has(name))
      .map((name) => `${name} = ${this.values[name]}`).join(", ");
  }
}
