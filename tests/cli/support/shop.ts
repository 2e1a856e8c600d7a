/** Projects that are built for one architecture with the stub compiler and a ptxas that is a shell script. */
import { fakePtxas, type RunOptions, type TriResult, Workspace } from "./tri_process.ts";

/** The command line of such a build. */
export const BUILD = ["build", "kernels", "--out", "out", "--arch", "sm_80"];

/** A workspace whose PATH has one ptxas that knows sm_80. */
export class Shop extends Workspace {
  constructor(files: Readonly<Record<string, string>>, assemble?: string) {
    super(files);
    const fake = { version: "99.1", archs: ["sm_80"] };
    this.writeProgram(
      "bin/ptxas",
      fakePtxas(assemble === undefined ? fake : { ...fake, assemble }),
    );
  }

  build(...more: string[]): Promise<TriResult> {
    return this.tri([...BUILD, ...more], this.options);
  }

  get options(): RunOptions {
    return { env: { PATH: `${this.path}/bin:/bin` } };
  }

  mtimes(): Map<string, number | undefined> {
    return new Map(
      [...this.files("out").keys()].map((
        name,
      ) => [name, Deno.statSync(`${this.path}/${name}`).mtime?.getTime()]),
    );
  }
}
