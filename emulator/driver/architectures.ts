/** The architectures that the emulator can be, and their limits. */

/** What a kernel can ask of an architecture. */
export interface Architecture {
  /** Ten times the major plus the minor compute capability. */
  readonly sm: number;
  /** Shared memory that a block can ask for; CUDA programming guide, technical specifications. */
  readonly maxSharedBytes: number;
}

function architecture(sm: number, sharedKib: number): Architecture {
  return { sm, maxSharedBytes: sharedKib * 1024 };
}

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  sm_70: architecture(70, 96),
  sm_75: architecture(75, 64),
  sm_80: architecture(80, 163),
  sm_86: architecture(86, 99),
  sm_87: architecture(87, 163),
  sm_89: architecture(89, 99),
  sm_90: architecture(90, 227),
  sm_100: architecture(100, 227),
  sm_103: architecture(103, 227),
  sm_120: architecture(120, 99),
  sm_121: architecture(121, 99),
};

export const DEFAULT_ARCHITECTURE = "sm_90";
