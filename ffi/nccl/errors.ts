/** Errors of communication between devices. */
import { TriError } from "../errors.ts";

/** NCCL is not on this machine. */
export class NcclNotFoundError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "NcclNotFoundError";
  /** The names and paths that were tried. */
  readonly searched: readonly string[];

  /** For the functions that open communicators. */
  constructor(searched: readonly string[], cause?: unknown) {
    super(`Cannot find NCCL (tried ${searched.join(", ")})`, {
      hint: "install the package libnccl2, or name the file in TRI_NCCL; PyTorch brings one too",
      cause,
    });
    this.searched = searched;
  }
}

/** NCCL is there and does not work, refused a call, or reports an error of queued work. */
export class NcclError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "NcclError";
  /** Such as "ncclRemoteError": another process is gone; undefined where the library itself does not work. */
  readonly result: string | undefined;

  /** For the run time. */
  constructor(message: string, result?: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.result = result;
  }
}

/** A communicator was used after an abort: by the program, or after an error or a time-out. */
export class CommunicatorAbortedError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "CommunicatorAbortedError";

  /** `why` is a clause. */
  constructor(call: string, rank: number, why: string) {
    super(`Cannot ${call} on rank ${rank}: its communicator was aborted, because ${why}`, {
      hint: "open new communicators on all ranks",
    });
  }
}

/** Ranks did not come in time, or came with another world size. */
export class RendezvousError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "RendezvousError";
  /** Those that did not come; empty where that is not known. */
  readonly missing: readonly number[];

  /** For the run time. */
  constructor(message: string, missing: readonly number[] = [], hint?: string) {
    super(message, hint === undefined ? {} : { hint });
    this.missing = missing;
  }
}
