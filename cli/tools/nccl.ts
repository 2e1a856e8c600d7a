/** NCCL on this machine, through the run time itself. */
import { isGranted } from "../host/deno.ts";

/** The library that programs get, or why there is none. */
export type FoundNccl =
  | { readonly kind: "found"; readonly path: string; readonly version: string }
  | { readonly kind: "none"; readonly reason: string; readonly remedy: string };

/** Loads the library and asks for its version. */
export async function findNccl(): Promise<FoundNccl> {
  if (!isGranted({ name: "ffi" })) {
    return {
      kind: "none",
      reason: "tri may not load NCCL",
      remedy: "Run deno with --allow-ffi; the task doctor has it.",
    };
  }
  const [{ ncclLibraries, ncclVersion, openNcclLibrary }, { TriError }] = await Promise.all([
    import("../../ffi/nccl/library.ts"),
    import("../../ffi/errors.ts"),
  ]);
  try {
    const library = openNcclLibrary(ncclLibraries());
    const version = ncclVersion(library);
    library.close();
    return { kind: "found", path: library.path, version };
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    const [reason = error.message] = error.message.split("\nhint: ");
    const remedy = `To use several GPUs: ${error.hint ?? "install the package libnccl2"}.`;
    return { kind: "none", reason, remedy };
  }
}
