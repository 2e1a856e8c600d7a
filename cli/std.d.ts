/**
 * What `cli` and `codegen` use of Deno's std. The npm package that deno.json maps `@std` to has no declarations; those of JSR
 * have theirs, so with JSR this file goes.
 */
declare module "@std/async/pool" {
  export function pooledMap<Item, Result>(
    limit: number,
    items: Iterable<Item>,
    work: (item: Item) => Promise<Result>,
  ): AsyncIterableIterator<Result>;
}
declare module "@std/collections/distinct-by" {
  export function distinctBy<Item>(items: Iterable<Item>, key: (item: Item) => unknown): Item[];
}
declare module "@std/collections/sum-of" {
  export function sumOf<Item>(items: Iterable<Item>, value: (item: Item) => number): number;
}
declare module "@std/fmt/bytes" {
  export function format(bytes: number, options?: { readonly binary?: boolean }): string;
}
declare module "@std/fmt/colors" {
  export function bold(text: string): string;
  export function dim(text: string): string;
  export function green(text: string): string;
  export function red(text: string): string;
  export function yellow(text: string): string;
}
declare module "@std/fmt/duration" {
  export function format(
    milliseconds: number,
    options?: { readonly ignoreZero?: boolean },
  ): string;
}
declare module "@std/html/entities" {
  export function escape(text: string): string;
}
declare module "@std/path/glob-to-regexp" {
  export function globToRegExp(glob: string): RegExp;
}
declare module "@std/path/is-glob" {
  export function isGlob(text: string): boolean;
}
declare module "@std/regexp/escape" {
  export function escape(text: string): string;
}
declare module "@std/semver/parse" {
  export interface SemVer {
    readonly major: number;
    readonly minor: number;
    readonly patch: number;
  }
  export function parse(version: string): SemVer;
}
declare module "@std/semver/compare" {
  import type { SemVer } from "@std/semver/parse";
  export function compare(a: SemVer, b: SemVer): number;
}
declare module "@std/streams/limited-bytes-transform-stream" {
  export class LimitedBytesTransformStream
    extends TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
    constructor(bytes: number);
  }
}
declare module "@std/streams/to-array-buffer" {
  export function toArrayBuffer(
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  ): Promise<ArrayBuffer>;
}
declare module "@std/text/closest-string" {
  export function closestString(word: string, candidates: readonly string[]): string;
}
declare module "@std/text/levenshtein-distance" {
  export function levenshteinDistance(a: string, b: string): number;
}
