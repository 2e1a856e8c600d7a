/** Values of other lanes of the warp. */
import type { Operand } from "../../ptx/func.ts";
import { type Emitter, int } from "../emitter.ts";
import type { WordBank } from "../convert/words.ts";

const ALL_LANES = int(0xffffffffn);

/** What the lane whose number differs by `mask` holds. */
export function butterfly(e: Emitter, value: Operand, bank: WordBank, mask: number): Operand {
  const shuffle = (word: Operand): Operand => {
    const result = e.register("b32");
    e.emit("shfl.sync.bfly.b32", [result, word, int(mask), int(31), ALL_LANES]);
    return result;
  };
  const source = e.inRegister(value, bank);
  if (bank === "b32") return shuffle(source);
  const halves = [e.register("b32"), e.register("b32")];
  e.emit("mov.b64", [{ kind: "vector", elements: halves }, source]);
  const result = e.register("b64");
  e.emit("mov.b64", [result, { kind: "vector", elements: halves.map(shuffle) }]);
  return result;
}
