/** What a build asks of a cache, wherever that is. None of the functions throws: a cache that fails must not fail a build. */
export interface BuildCache {
  /** Whether storing still makes sense. */
  readonly writable: boolean;
  /** The value of an action; undefined: a miss. */
  action(key: string): Promise<Uint8Array | undefined>;
  /** Content by its hash; undefined: a miss. What comes has that hash and size. */
  content(hash: string, bytes: number): Promise<Uint8Array | undefined>;
  /** Stores content, unless it is there; whether it is there now. */
  putContent(hash: string, content: Uint8Array<ArrayBuffer>): Promise<boolean>;
  /** Stores the value of an action; whether it is there now. */
  putAction(key: string, value: Uint8Array<ArrayBuffer>): Promise<boolean>;
  /** Says that something went wrong; the first time only. */
  note(message: string): void;
  /** The build is done. */
  end(): void;
}
