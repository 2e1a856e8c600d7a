/** Writing a recording beside its pictures. */
import { mkdirSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { printRecording, type Recording } from "../../bench/mod.ts";
import { printPage } from "./page.ts";
import { drawSvg } from "./plot.ts";

/** Writes NAME.json, NAME.svg and NAME.html; returns their paths. */
export async function saveRecording(recording: Recording, folder: string): Promise<string[]> {
  const svg = await drawSvg(recording);
  const texts = {
    json: printRecording(recording),
    svg,
    html: printPage(recording, svg),
  };
  mkdirSync(folder, { recursive: true });
  return Object.entries(texts).map(([ending, text]) => {
    const file = path.join(folder, `${recording.module}.${ending}`);
    writeFileSync(file, text);
    return file;
  });
}
