/**
 * Instructions that the emulator does not support: what, the section that describes it, and the alternative. Instructions that are not here are named by their opcode.
 */
import { MOST_ITEMS, MOST_MODULE_ITEMS } from "../compiler/ptx/inline/call.ts";
import { Fault } from "./fault.ts";
import type { Surroundings } from "./machine.ts";

/** What is refused: a clause, and what to do instead. */
export interface Refusal {
  readonly what: string;
  readonly hint: string;
}

const GUIDE = "CUDA C++ Programming Guide";

const ALLOCATION: Refusal = {
  what: `allocation of memory by a kernel is not emulated (${GUIDE}, "Dynamic Global Memory ` +
    'Allocation and Operations")',
  hint: "allocate before the launch, with device.zeros() or device.empty(), and pass the memory",
};
const LAUNCH: Refusal = {
  what: `launches by a kernel are not emulated (${GUIDE}, "CUDA Dynamic Parallelism")`,
  hint: "end the kernel there, and launch the next one from the host",
};

/** Functions of CUDA's device run time, by the beginnings of their names. */
const FUNCTIONS: readonly (readonly [name: RegExp, refusal: Refusal])[] = [
  [/^(?:malloc|free|_Znwm|_Znam|_ZdlPv|_ZdaPv|__nv_aligned_device_malloc)/, ALLOCATION],
  [
    /^(?:cudaLaunchDevice|cudaGetParameterBuffer|cudaDevice|cudaStream|cudaEvent|cudaGraph|__?cudaCDP|cudaMem)/,
    LAUNCH,
  ],
];

/** The refusal of a call by name. */
export function refuseCall(name: string, section: string, surroundings?: Surroundings): Fault {
  const at = `(PTX ISA 9.0, section ${section})`;
  const known = FUNCTIONS.find(([pattern]) => pattern.test(name))?.[1];
  if (known !== undefined) return refused(`${name}: ${known.what}`, known.hint);
  switch (surroundings?.callee(name)) {
    case "recursive":
      return refused(
        `${name} calls itself, perhaps through other functions, and recursion is not emulated ${at}`,
        "write the recursion as a loop, with what is left to do in an array",
      );
    case "expanded too often":
      return refused(
        `with its calls expanded, that of ${name} among them, the kernel has more than ${MOST_ITEMS} ` +
          `instructions, or the kernels of its module more than ${MOST_MODULE_ITEMS} ${at}`,
        "call the function in a loop instead of many times in a row",
      );
    case "declared":
      return refused(
        `the module declares the function ${name} and does not define it ${at}`,
        "put all functions into one module: compile without -rdc=true, or link the PTX first",
      );
    default:
      return refused(
        `the module has no function ${name} ${at}`,
        "declare and define the function in the module",
      );
  }
}

/** The refusal of a call of what a register holds. */
export function refuseIndirectCall(section: string): Fault {
  return refused(
    `calls through pointers, such as those of virtual functions, are not emulated (PTX ISA 9.0, section ${section})`,
    "call the functions by their names, for example from a switch",
  );
}

/** A kernel that wants the barrier of a cooperative launch finds none, and stops itself. */
export const GRID_BARRIER: Refusal = {
  what: "grid-wide synchronisation needs a cooperative launch, which is not emulated " +
    `(${GUIDE}, "Grid Synchronization")`,
  hint: "split the kernel where the grid synchronises, and launch its parts one after the other",
};

const TEXTURES: Refusal = {
  what: "textures are not emulated",
  hint: "load from global memory, and compute addresses, borders and interpolation in the kernel",
};
const SURFACES: Refusal = {
  what: "surfaces are not emulated",
  hint: "load from and store to global memory",
};
const STACK: Refusal = {
  what: "allocation on the stack is not emulated",
  hint: "use an array with as many elements as are needed at most",
};
const TENSOR_MEMORY: Refusal = {
  what: "tensor memory is not emulated",
  hint: "give the emulator the image for sm_90 or older, which multiplies with wgmma or mma",
};

/** Instructions by the first words of their names. */
const INSTRUCTIONS: readonly (readonly [name: RegExp, refusal: Refusal])[] = [
  [/^(?:tex|tld4|txq|istypep)\b/, TEXTURES],
  [/^(?:suld|sust|sured|suq)\b/, SURFACES],
  [/^(?:alloca|stacksave|stackrestore)\b/, STACK],
  [/^tcgen05\b/, TENSOR_MEMORY],
  [/^multimem\b/, {
    what: "memory of several devices is not emulated",
    hint: "use ld, st and red on the memory of one device",
  }],
  [/^clusterlaunchcontrol\b/, {
    what: "taking over clusters is not emulated",
    hint: "launch as many clusters as there is work, or take the work's numbers from a counter",
  }],
  [/^(?:mma\.sp|wgmma\.mma_async\.sp)\b/, {
    what: "sparse matrices are not emulated",
    hint: "multiply with mma or wgmma.mma_async, with the zeros in place",
  }],
];

/** The refusal of an instruction with its section; undefined if its name says all there is to say. */
export function refusalOf(opcode: string): Refusal | undefined {
  return INSTRUCTIONS.find(([pattern]) => pattern.test(opcode))?.[1];
}

function refused(what: string, hint: string): Fault {
  return new Fault("unsupported instruction", what, undefined, undefined, undefined, hint);
}
