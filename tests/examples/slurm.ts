/** A Slurm of one node on the loopback interface, of Debian's packages slurmctld, slurmd and munge, in a folder of its own. */
import { randomBytes } from "../support/random.ts";

/** What jobs are submitted with. */
export interface Slurm extends AsyncDisposable {
  /** The environment for `sbatch`. */
  readonly env: Readonly<Record<string, string>>;
}

const PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "sinfo"];

/** Which programs are not on this machine; undefined where all are. */
export function missingSlurm(): string | undefined {
  if (Deno.build.os !== "linux") return "Slurm runs on Linux";
  const missing = PROGRAMS.filter((name) =>
    !["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"].some((folder) => {
      try {
        return Deno.statSync(`${folder}/${name}`).isFile;
      } catch {
        return false;
      }
    })
  );
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")}`;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const START_MILLISECONDS = 20_000;

/** Starts it in the folder; the text says why it does not start. */
export async function startSlurm(folder: string): Promise<Slurm | string> {
  const at = (name: string): string => `${folder}/${name}`;
  for (const name of ["state", "spool"]) Deno.mkdirSync(at(name));
  Deno.writeFileSync(at("munge.key"), randomBytes(1024), { mode: 0o600 });
  // munged wants that others can reach its socket.
  Deno.chmodSync(folder, 0o755);
  const user = text(new Deno.Command("id", { args: ["-un"] }).outputSync()).trim();
  Deno.writeTextFileSync(at("slurm.conf"), configuration(folder, user));
  const env = { ...Deno.env.toObject(), PATH, SLURM_CONF: at("slurm.conf") };
  const children: Deno.ChildProcess[] = [];
  const start = (program: string, args: readonly string[]): void => {
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    children.push(new Deno.Command(program, { args: [...args], env, ...quiet }).spawn());
  };
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      try {
        child.kill("SIGTERM");
      } catch {
        // It has ended by itself.
      }
      await child.status;
    }
  };
  start("/usr/sbin/munged", [
    ...["--force", "--foreground", `--socket=${at("munge.socket")}`],
    ...[`--key-file=${at("munge.key")}`, `--pid-file=${at("munged.pid")}`],
    ...[`--log-file=${at("munged.log")}`, `--seed-file=${at("munged.seed")}`],
  ]);
  start("/usr/sbin/slurmctld", ["-D", "-i"]);
  start("/usr/sbin/slurmd", ["-D", "-N", "localhost"]);
  const deadline = Date.now() + START_MILLISECONDS;
  let state = "";
  while (Date.now() < deadline) {
    const info = await new Deno.Command("/usr/bin/sinfo", { args: ["-h", "-o", "%t"], env })
      .output();
    state = text(info).trim();
    if (state === "idle") return { env, [Symbol.asyncDispose]: stop };
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await stop();
  return `the node is ${state || "not known"} after ${START_MILLISECONDS / 1000} s`;
}

function text({ stdout }: Deno.CommandOutput): string {
  return new TextDecoder().decode(stdout);
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function configuration(folder: string, user: string): string {
  return `ClusterName=tri
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=${user}
SlurmdUser=${user}
SlurmctldPort=${freePort()}
SlurmdPort=${freePort()}
AuthType=auth/munge
AuthInfo=socket=${folder}/munge.socket
CredType=cred/munge
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=localhost NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=10 State=UP
`;
}
