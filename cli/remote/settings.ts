/** Which remote cache a build uses: the option, else the environment, else the key `tri` of the project's settings. */
import type { Invocation } from "../command.ts";
import { readEnv } from "../host/environment.ts";
import { usageError } from "../failure.ts";
import { isFolderUrl, mistakeInUrl, OFF, REMOTE_VARIABLES } from "./url.ts";
import type { Project } from "../project/project.ts";

/** A remote cache, and how tri talks to it. */
export interface RemoteSettings {
  /** Without a slash at its end; `/cas/…` and `/ac/…` follow. */
  readonly url: string;
  /** Where the URL was stated. */
  readonly from: string;
  readonly write: boolean;
  /** Of a folder: how large it may become. */
  readonly limitBytes: number;
  /** Compress what is stored by zstd. */
  readonly zstd: boolean;
  /** How long a request may take, before the time for its bytes. */
  readonly timeoutSeconds: number;
  /** The value of the header `authorization`. */
  readonly authorization: string | undefined;
}

const DEFAULT_TIMEOUT_SECONDS = 5;
const DEFAULT_LIMIT = "4G";
const UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

/** The settings in force; undefined: there is no remote cache. */
export function remoteSettings(
  invocation: Invocation,
  project: Pick<Project, "configFile" | "remoteCache">,
): RemoteSettings | undefined {
  const stated = statedUrl(invocation, project);
  const write = invocation.flag("remote-cache-write") || isOn(REMOTE_VARIABLES.write);
  if (stated === undefined) {
    if (!invocation.flag("remote-cache-write")) return undefined;
    throw usageError(
      "--remote-cache-write: no remote cache is stated",
      `State it with --remote-cache URL, in ${REMOTE_VARIABLES.url} or in deno.json.`,
    );
  }
  if (stated.value === OFF) return undefined;
  const mistake = mistakeInUrl(stated.value);
  if (mistake !== undefined) {
    throw usageError(`${stated.from} ${stated.value}: ${mistake.message}`, mistake.hint);
  }
  return {
    url: stated.value.replace(/\/+$/, ""),
    from: stated.from,
    // What is in a folder of this machine was stored by builds like this one.
    write: write || (isFolderUrl(stated.value) && readEnv(REMOTE_VARIABLES.write) !== "0"),
    limitBytes: limitBytes(),
    zstd: isOn(REMOTE_VARIABLES.zstd),
    timeoutSeconds: timeoutSeconds(),
    authorization: authorization(),
  };
}

function statedUrl(
  invocation: Invocation,
  { configFile = "", remoteCache }: Pick<Project, "configFile" | "remoteCache">,
): { readonly value: string; readonly from: string } | undefined {
  const option = invocation.text("remote-cache");
  if (option !== undefined) return { value: option, from: "--remote-cache" };
  const variable = readEnv(REMOTE_VARIABLES.url);
  if (variable !== undefined) return { value: variable, from: REMOTE_VARIABLES.url };
  return remoteCache === undefined ? undefined : { value: remoteCache, from: configFile };
}

function isOn(variable: string): boolean {
  const value = readEnv(variable) ?? "0";
  if (value === "0" || value === "1") return value === "1";
  throw usageError(`${variable}=${value}: neither 0 nor 1`);
}

function limitBytes(): number {
  const text = readEnv(REMOTE_VARIABLES.limit) ?? DEFAULT_LIMIT;
  const [, count, unit = ""] = /^(\d+)([KMG]?)$/i.exec(text) ?? [];
  if (count === undefined) {
    throw usageError(`${REMOTE_VARIABLES.limit}=${text}: not a size`, "Such as 500M or 4G.");
  }
  return Number(count) * (UNITS[unit.toUpperCase()] ?? 1);
}

function timeoutSeconds(): number {
  const text = readEnv(REMOTE_VARIABLES.timeout);
  if (text === undefined) return DEFAULT_TIMEOUT_SECONDS;
  const seconds = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || seconds <= 0 || seconds > 3600) {
    throw usageError(
      `${REMOTE_VARIABLES.timeout}=${text}: not a number of seconds between 0 and 3600`,
    );
  }
  return seconds;
}

function authorization(): string | undefined {
  const [token, user, password] = [
    REMOTE_VARIABLES.token,
    REMOTE_VARIABLES.user,
    REMOTE_VARIABLES.password,
  ].map(readEnv);
  if (token !== undefined && user !== undefined) {
    throw usageError(
      `${REMOTE_VARIABLES.token} and ${REMOTE_VARIABLES.user} exclude each other`,
      "Unset one of them.",
    );
  }
  if (token !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw usageError(`${REMOTE_VARIABLES.token} has characters that a header cannot have`);
    }
    return `Bearer ${token}`;
  }
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined || user.includes(":")) {
    throw usageError(
      user === undefined
        ? `${REMOTE_VARIABLES.password} is set and ${REMOTE_VARIABLES.user} is not`
        : `${REMOTE_VARIABLES.user} has a colon, which basic authentication cannot say`,
    );
  }
  const bytes = new TextEncoder().encode(`${user}:${password ?? ""}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}
