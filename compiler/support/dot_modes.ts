/** Modes of `dot` and `@` that the language has and the compiler does not distinguish (language.md 5.8). */

const AS_IEEE: ReadonlySet<string> = new Set(["tf32x3", "bf16x3"]);

export function isComputedAsIeee(mode: string): boolean {
  return AS_IEEE.has(mode);
}

/** Message and details of W9017. */
export function computedAsIeee(mode: string): [message: string, { readonly hint: string }] {
  return [`the mode \`${mode}\` is computed as \`ieee\``, {
    hint: "`tf32` uses tensor cores; `ieee` says what is computed",
  }];
}
