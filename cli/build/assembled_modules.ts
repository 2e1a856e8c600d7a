/** Cubins of everything that was compiled, for the phases of `tri inspect` that need them. */
import type { CompiledEntry, CompileResult } from "../../compiler/options.ts";
import { environmentError, EXIT, Failure } from "../failure.ts";
import {
  assemble,
  type Assembler,
  chooseAssembler,
  findAssemblers,
  ptxVersionOf,
  type Resources,
} from "../tools/ptxas.ts";

/** A module of a kernel as an assembler made it. */
export interface AssembledModule {
  readonly kernel: string;
  readonly arch: string;
  readonly assembler: Assembler;
  readonly cubin: Uint8Array;
  readonly resources: Readonly<Record<string, Resources>>;
  /** What each entry is launched with; adds the dynamic shared memory that the assembler cannot see. */
  readonly entries: readonly CompiledEntry[];
}

/** One cubin for each kernel and each architecture that an installed assembler supports, and why there are no others. */
export async function assembleModules(
  result: CompileResult,
): Promise<{
  readonly images: readonly AssembledModule[];
  readonly missing: readonly string[];
}> {
  const { usable } = await findAssemblers();
  const reasons = new Set<string>();
  const images: AssembledModule[] = [];
  for (const { name, modules } of result.kernels) {
    for (const { target, ptx, entries } of modules) {
      const assembler = chooseAssembler(usable, target, ptxVersionOf(ptx));
      if (typeof assembler === "string") {
        reasons.add(assembler);
        continue;
      }
      const made = await assemble(assembler, target, ptx);
      if (made.kind === "failed") {
        throw new Failure(
          EXIT.kernels,
          `${assembler.path} refused the code of ${name} for ${target}:\n${made.message}`,
          "This is a defect in tri; please report it.",
        );
      }
      images.push({
        kernel: name,
        arch: target,
        assembler,
        cubin: made.cubin,
        resources: made.resources,
        entries,
      });
    }
  }
  return { images, missing: [...reasons] };
}

/** The failure where no assembler fits. */
export function noAssembler(missing: readonly string[]): Failure {
  return environmentError(
    missing.join("; ") || "there is no kernel",
    "Install the CUDA toolkit, or name its ptxas in TRI_PTXAS.",
  );
}
