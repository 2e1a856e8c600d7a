/** `tri doctor`: what this machine has, and what cannot be built here. */
import process from "node:process";
import { format } from "@std/fmt/bytes";
import { TARGETS } from "../../compiler/targets.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT } from "../failure.ts";
import {
  type DefaultDevice,
  emulatedArchitectures,
  findDefaultDevice,
  findGpus,
  type Gpus,
} from "./gpus.ts";
import { findNccl, type FoundNccl } from "./nccl.ts";
import { type Assemblers, findAssemblers, printPtxVersion } from "./ptxas.ts";
import { findTools, type FoundTool } from "./tools.ts";
import { deno, isGranted } from "../host/deno.ts";
import { runtimeName } from "../host/runtime.ts";
import { VERSION } from "../version.ts";
import { jsonText } from "../json.ts";

interface Findings {
  readonly tri: string;
  /** The version of Deno, if it is Deno that runs tri. */
  readonly deno?: string;
  /** What runs tri, with its version. */
  readonly runtime: string;
  readonly system: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly gpus: Gpus;
  /** What several GPUs communicate by. */
  readonly nccl: FoundNccl;
  /** Architectures that the emulator can be. */
  readonly emulator: readonly string[];
  /** What `Device.open()` takes. */
  readonly device: DefaultDevice;
  readonly assemblers: Assemblers;
  readonly disassemblers: readonly FoundTool[];
  /** Architectures for which no cubin can be made here. */
  readonly withoutCubin: readonly string[];
}

/** The body of the command. */
export async function runDoctor(
  invocation: Invocation,
  { terminal }: CommandContext,
): Promise<number> {
  const findings = await examine();
  if (invocation.flag("json")) terminal.print(jsonText(findings));
  else terminal.print(describe(findings).map((line) => `${line}\n`).join(""));
  return EXIT.ok;
}

async function examine(): Promise<Findings> {
  const [gpus, nccl, emulator, device, assemblers] = await Promise.all([
    findGpus(),
    findNccl(),
    emulatedArchitectures(),
    findDefaultDevice(),
    findAssemblers(),
  ]);
  return {
    tri: VERSION,
    ...(deno === undefined ? {} : { deno: deno.version.deno }),
    runtime: runtimeName(),
    system: `${process.platform} ${process.arch}`,
    permissions: permissionStates(),
    gpus,
    nccl,
    emulator,
    device,
    assemblers,
    disassemblers: findTools("nvdisasm"),
    withoutCubin: Object.keys(TARGETS).filter((name) =>
      !assemblers.usable.some(({ archs }) => archs.includes(name))
    ),
  };
}

/** Where there are no permissions to give, all are granted. */
function permissionStates(): Record<string, string> {
  const names = ["read", "write", "run", "env", "ffi"] as const;
  return Object.fromEntries(
    names.map((name) => [name, isGranted({ name }) ? "granted" : "limited"]),
  );
}

function describe(findings: Findings): string[] {
  const { gpus, assemblers, disassemblers, withoutCubin } = findings;
  return [
    `tri ${findings.tri}, ${findings.runtime}, ${findings.system}`,
    `permissions: ${
      Object.entries(findings.permissions).map(([name, state]) => `${name} ${state}`).join(", ")
    }`,
    "",
    "GPUs:",
    ...describeGpus(gpus),
    "",
    "NCCL, by which several GPUs communicate:",
    ...describeNccl(findings.nccl),
    "",
    "Emulator:",
    `  ${findings.emulator.join(" ")}`,
    "",
    ...describeDevice(findings.device),
    "",
    "Assemblers (ptxas):",
    ...assemblers.usable.flatMap(({ path, version, archs, ptx }) => [
      `  ${path}: ${version}${ptx === undefined ? "" : `, PTX up to ${printPtxVersion(ptx)}`}`,
      `    ${archs.join(" ")}`,
    ]),
    ...assemblers.rejected.map(({ path, reason }) => `  ${path}: not used: ${reason}`),
    ...(assemblers.usable.length + assemblers.rejected.length === 0
      ? [
        "  none: install the CUDA toolkit, or name a ptxas in TRI_PTXAS; PTX is written without it",
      ]
      : []),
    "",
    "Disassemblers (nvdisasm, for tri inspect --stage sass):",
    ...disassemblers.map(({ path, allowed }) =>
      `  ${path}${allowed ? "" : ": tri may not run it"}`
    ),
    ...(disassemblers.length === 0
      ? ["  none: part of the CUDA toolkit (package cuda-nvdisasm)"]
      : []),
    "",
    withoutCubin.length === 0
      ? "Cubins can be assembled for every architecture."
      : `Cubins cannot be assembled for ${withoutCubin.join(", ")} (PTX is written for all).`,
  ];
}

function describeDevice(device: DefaultDevice): string[] {
  return device.kind === "device"
    ? [`Device.open() selects ${device.name}, because ${device.why}.`]
    : [`Device.open() fails: ${device.reason}`, `  ${device.remedy}`];
}

function describeNccl(nccl: FoundNccl): string[] {
  return nccl.kind === "found"
    ? [`  ${nccl.path}: ${nccl.version}`]
    : [`  none: ${nccl.reason}`, `    ${nccl.remedy}`];
}

function describeGpus(gpus: Gpus): string[] {
  if (gpus.kind === "none") return [`  none: ${gpus.reason}`, `    ${gpus.remedy}`];
  return gpus.devices.map(
    ({ ordinal, name, arch, memoryBytes, multiprocessors, driverVersion }) => {
      const cuda = `${Math.floor(driverVersion / 1000)}.${Math.floor(driverVersion % 1000 / 10)}`;
      const memory = format(memoryBytes, { binary: true });
      return `  ${ordinal}: ${name}, ${arch}, ${memory}, ${multiprocessors} multiprocessors, driver for CUDA ${cuda}`;
    },
  );
}
