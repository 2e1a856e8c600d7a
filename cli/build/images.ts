/**
 * The images of a source as they are written: each in a file, or, for packages, compressed. All PTX of a kernel is then one
 * file: what targets share, and that is most of it, is there once. The run time takes its target's part.
 */
import { Buffer } from "node:buffer";
import { sumOf } from "@std/collections/sum-of";
import { groupBy } from "../../compiler/support/group_by.ts";

import { readStaged, type Staged, type Staging } from "../files/staging.ts";
import type { Image } from "../tools/toolchain.ts";
import { compress } from "./compact.ts";

/** An image before it is compressed. */
export interface PlainImage {
  readonly kernel: string;
  readonly target: string;
  readonly kind: Image["kind"];
  readonly content: Staged;
}

/** Images, and their files by path from the wrapper's folder. */
export interface MadeImages {
  readonly images: readonly Image[];
  readonly staged: ReadonlyMap<string, Staged>;
}

/** How images are written. */
interface ImageForm {
  readonly compact: boolean;
  readonly embed: boolean;
}

/** Makes the images of a source; `stem` is the name of its wrapper and of their folder. */
export async function makeImages(
  plain: readonly PlainImage[],
  stem: string,
  { compact, embed }: ImageForm,
  staging: Staging,
): Promise<MadeImages> {
  const staged = new Map<string, Staged>();
  const images = new Map<PlainImage, Image>();
  const write = async (path: string, parts: readonly PlainImage[]): Promise<void> => {
    const [first] = parts;
    if (first === undefined) return;
    const contents = parts.map(({ content }) => readStaged(content));
    const file = compact ? staging.add(await compress(Buffer.concat(contents))) : first.content;
    staged.set(path, file);
    const total = sumOf(parts, ({ content }) => content.bytes);
    let offset = 0;
    for (const part of parts) {
      const { kernel, target, kind, content } = part;
      images.set(part, {
        ...{ kernel, target, kind, path },
        bytes: file.bytes,
        sha256: file.hash,
        ...compact ? { uncompressedBytes: content.bytes } : {},
        ...parts.length > 1 ? { part: { offset, total } } : {},
        content: () => readStaged(file),
      });
      offset += content.bytes;
    }
  };
  const alone = (one: PlainImage): boolean => !compact || embed || one.kind !== "ptx";
  for (const one of plain.filter(alone)) {
    await write(`${stem}/${one.kernel}.${one.target}.${one.kind}${compact ? ".br" : ""}`, [one]);
  }
  const together = groupBy(plain.filter((one) => !alone(one)), ({ kernel }) => kernel);
  for (const [kernel, parts] of together) await write(`${stem}/${kernel}.ptx.br`, parts);
  return { images: plain.flatMap((one) => images.get(one) ?? []), staged };
}
