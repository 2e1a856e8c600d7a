/** Rows of PTX_OPS: video instructions, on bytes and halves of registers (PTX ISA 9.0, 9.7.18). */
import type { PtxForm, PtxOpRow, Since } from "../form.ts";

const SCALAR: Since = { ptx: 20, sm: 20 };
const SIMD: Since = { ptx: 30, sm: 30 };

/** With nothing else, with a second operation on c, or merged into c. */
const scalar = (types: string): readonly PtxForm[] => [
  { form: `${types} ~d:b32, ~a:b32, ~b:b32, c:b32?` },
  { form: `${types}.add|min|max ~d:b32, ~a:b32, ~b:b32, c:b32` },
];
const scalarForms = scalar(".DTYPE.ATYPE.BTYPE.sat?");
const shiftForms = scalar(".DTYPE.ATYPE.u32.sat?.clamp|wrap");

/** Merged into c, or added to it. */
const simdForms: readonly PtxForm[] = [
  { form: ".DTYPE.ATYPE.BTYPE.sat? ~d:b32, ~a:b32, ~b:b32, c:b32" },
  { form: ".DTYPE.ATYPE.BTYPE.add ~d:b32, ~a:b32, ~b:b32, c:b32" },
];
const simdSetForms: readonly PtxForm[] = [
  { form: ".ATYPE.BTYPE.CMPI.add? ~d:b32, ~a:b32, ~b:b32, c:b32" },
];

// deno-fmt-ignore: a row per instruction
export const VIDEO_OPS = {
  // ---- 9.7.18.1 on one part of each register
  vadd: { doc: "a + b of parts, perhaps combined with c", isa: "9.7.18.1.1", effect: "pure", since: SCALAR, forms: scalarForms },
  vsub: { doc: "a - b of parts, perhaps combined with c", isa: "9.7.18.1.1", effect: "pure", since: SCALAR, forms: scalarForms },
  vabsdiff: { doc: "|a - b| of parts, perhaps combined with c", isa: "9.7.18.1.1", effect: "pure", since: SCALAR, forms: scalarForms },
  vmin: { doc: "the smaller of parts, perhaps combined with c", isa: "9.7.18.1.1", effect: "pure", since: SCALAR, forms: scalarForms },
  vmax: { doc: "the larger of parts, perhaps combined with c", isa: "9.7.18.1.1", effect: "pure", since: SCALAR, forms: scalarForms },
  vshl: { doc: "a << b of parts, perhaps combined with c", isa: "9.7.18.1.2", effect: "pure", since: SCALAR, forms: shiftForms },
  vshr: { doc: "a >> b of parts, perhaps combined with c", isa: "9.7.18.1.2", effect: "pure", since: SCALAR, forms: shiftForms },
  vmad: { doc: "a * b + c of parts, perhaps shifted", isa: "9.7.18.1.3", effect: "pure", since: SCALAR, forms: [
    { form: ".DTYPE.ATYPE.BTYPE.sat?.shr7|shr15? d:b32, ~a:b32, ~b:b32, ~c:b32" },
    { form: ".DTYPE.ATYPE.BTYPE.po.sat?.shr7|shr15? d:b32, ~a:b32, ~b:b32, c:b32" },
  ] },
  vset: { doc: "whether parts compare, perhaps combined with c", isa: "9.7.18.1.4", effect: "pure", since: SCALAR, forms: scalar(".ATYPE.BTYPE.CMPI") },

  // ---- 9.7.18.2 on two halves or four bytes side by side
  vadd2: { doc: "a + b of two halves, merged into c or added to it", isa: "9.7.18.2.1", effect: "pure", since: SIMD, forms: simdForms },
  vsub2: { doc: "a - b of two halves, merged into c or added to it", isa: "9.7.18.2.1", effect: "pure", since: SIMD, forms: simdForms },
  vavrg2: { doc: "averages of two halves, merged into c or added to it", isa: "9.7.18.2.1", effect: "pure", since: SIMD, forms: simdForms },
  vabsdiff2: { doc: "|a - b| of two halves, merged into c or added to it", isa: "9.7.18.2.1", effect: "pure", since: SIMD, forms: simdForms },
  vmin2: { doc: "the smaller of two halves, merged into c or added to it", isa: "9.7.18.2.1", effect: "pure", since: SIMD, forms: simdForms },
  vmax2: { doc: "the larger of two halves, merged into c or added to it", isa: "9.7.18.2.1", effect: "pure", since: SIMD, forms: simdForms },
  vset2: { doc: "whether two halves compare, merged into c or added to it", isa: "9.7.18.2.2", effect: "pure", since: SIMD, forms: simdSetForms },
  vadd4: { doc: "a + b of four bytes, merged into c or added to it", isa: "9.7.18.2.3", effect: "pure", since: SIMD, forms: simdForms },
  vsub4: { doc: "a - b of four bytes, merged into c or added to it", isa: "9.7.18.2.3", effect: "pure", since: SIMD, forms: simdForms },
  vavrg4: { doc: "averages of four bytes, merged into c or added to it", isa: "9.7.18.2.3", effect: "pure", since: SIMD, forms: simdForms },
  vabsdiff4: { doc: "|a - b| of four bytes, merged into c or added to it", isa: "9.7.18.2.3", effect: "pure", since: SIMD, forms: simdForms },
  vmin4: { doc: "the smaller of four bytes, merged into c or added to it", isa: "9.7.18.2.3", effect: "pure", since: SIMD, forms: simdForms },
  vmax4: { doc: "the larger of four bytes, merged into c or added to it", isa: "9.7.18.2.3", effect: "pure", since: SIMD, forms: simdForms },
  vset4: { doc: "whether four bytes compare, merged into c or added to it", isa: "9.7.18.2.4", effect: "pure", since: SIMD, forms: simdSetForms },
} as const satisfies Record<string, PtxOpRow>;
