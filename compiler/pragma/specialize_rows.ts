/** The specialisations that the `specialize` lines of a kernel ask for, in order (language.md 10.4). */
import type { Binding, OptionSetting, PragmaItem, PragmaText } from "./pragma.ts";

/** One specialisation. */
export interface SpecializeRow {
  /** What the names of its entries end in. */
  readonly suffix: string;
  /** Whether it assumes what accesses of 16 bytes need. */
  readonly isAutomatic: boolean;
  /** What it assumes beside that. */
  readonly condition?: PragmaText;
  /** The value of the parameter that the line is repeated for. */
  readonly binding?: Binding;
  /** In place of those of the configurations. */
  readonly options: readonly OptionSetting[];
}

/** The entry of an automatic specialisation without further condition ends in the bytes of its accesses. */
export const AUTOMATIC_SUFFIX = "_a16";
const AUTOMATIC: SpecializeRow = { suffix: AUTOMATIC_SUFFIX, isAutomatic: true, options: [] };

/** The rows of all lines together; the automatic one where there is no line. `off` discards the lines before it. */
export function specializeRows(items: readonly PragmaItem[]): readonly SpecializeRow[] {
  const written = items.flatMap((item) => item.kind === "specialize" ? [item] : []);
  if (written.length === 0) return [AUTOMATIC];
  const lines = written.slice(written.findLastIndex(({ mode }) => mode === "off") + 1);
  const rows = lines.flatMap(({ mode, over, options }) => {
    const conditions = mode === "off" ? [] : mode.map((one) => ({ ...one, options }));
    if (over === undefined) return conditions;
    const { values, ...name } = over;
    return values.flatMap((value) =>
      conditions.map((one) => ({ ...one, binding: { ...name, value } }))
    );
  });
  let hasAutomatic = false;
  return rows.map((row, index) => {
    const isBare = row.isAutomatic && row.condition === undefined && !("binding" in row);
    if (!isBare || hasAutomatic) return { ...row, suffix: `_s${index + 1}` };
    hasAutomatic = true;
    return { ...AUTOMATIC, options: row.options };
  });
}
