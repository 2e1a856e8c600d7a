/** Moves what kernels declare in global or constant memory to the module, where all variables in memory are. */
import type { Item, PtxKernel, PtxModule, PtxVariable } from "./func.ts";
import { Names } from "./names.ts";
import { mapRegisters } from "./operand.ts";

/** All names of a module. */
export function namesOf({ variables, functions, kernels, aliases = [] }: PtxModule): Names {
  return new Names(
    [variables, functions, kernels, aliases].flatMap((list) => list.map(({ name }) => name)),
  );
}

/** A variable whose initial values refer to others by their new names. */
export function withInitial(
  variable: PtxVariable,
  renamed: ReadonlyMap<string, string>,
): PtxVariable {
  const { initial } = variable;
  if (initial === undefined) return variable;
  return {
    ...variable,
    initial: initial.map((value) =>
      typeof value === "bigint"
        ? value
        : { ...value, symbol: renamed.get(value.symbol) ?? value.symbol }
    ),
  };
}

const isStatic = ({ space, extern }: PtxVariable): boolean =>
  (space === "global" || space === "const") && extern !== true;

function renameSymbols(item: Item, renamed: ReadonlyMap<string, string>): Item {
  if (item.kind !== "instruction") return item;
  const operands = item.operands.map((operand) =>
    mapRegisters(
      operand,
      (register) => register,
      (symbol) => ({ ...symbol, name: renamed.get(symbol.name) ?? symbol.name }),
    )
  );
  return { ...item, operands };
}

/** The module with such variables moved; modules and kernels without any stay the same objects. */
export function hoistVariables(module: PtxModule): PtxModule {
  if (!module.kernels.some(({ variables }) => variables.some(isStatic))) return module;
  const names = namesOf(module);
  const moved: PtxVariable[] = [];
  const kernels = module.kernels.map((kernel): PtxKernel => {
    const own = kernel.variables.filter(isStatic);
    if (own.length === 0) return kernel;
    const renamed = new Map(
      own.map(({ name }) => [name, names.fresh(`${kernel.name}_${name}`)] as const),
    );
    for (const variable of own) {
      const name = renamed.get(variable.name) ?? variable.name;
      moved.push({ ...withInitial(variable, renamed), name });
    }
    return {
      ...kernel,
      variables: kernel.variables.filter((variable) => !isStatic(variable)),
      body: kernel.body.map((item) => renameSymbols(item, renamed)),
    };
  });
  return { ...module, variables: [...module.variables, ...moved], kernels };
}
