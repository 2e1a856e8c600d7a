/** Bundles user.js in all ways: into the folder that the argument names, what stays outside of it here. */
import { build } from "esbuild";
import { embedImages } from "@tri/tri/esbuild";

const [folder] = process.argv.slice(2);
const bundle = (outfile, more) =>
  build({
    entryPoints: ["user.js"],
    bundle: true,
    platform: "node",
    format: outfile.endsWith(".cjs") ? "cjs" : "esm",
    logLevel: "error",
    outfile,
    ...more,
  });

const external = ["@tri/tri", "@tri/kernels"];
await Promise.all([
  ...["esm.mjs", "cjs.cjs"].map((name) => bundle(`${folder}/${name}`, { plugins: [embedImages()] })),
  ...["plain.mjs", "plain.cjs"].map((name) => bundle(`${folder}/${name}`, {})),
  ...["external.mjs", "external.cjs"].map((name) => bundle(name, { external })),
]);
