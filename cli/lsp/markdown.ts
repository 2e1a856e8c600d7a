/** Pieces of Markdown. */

/** Code of the language as a block. */
export function code(text: string): string {
  return `\`\`\`triton-c\n${text}\n\`\`\``;
}
