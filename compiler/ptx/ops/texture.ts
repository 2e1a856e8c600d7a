/** Rows of PTX_OPS: textures and surfaces (PTX ISA 9.0, 9.7.10 and 9.7.11). */
import type { PtxForm, PtxOpRow, Since } from "../form.ts";

const FERMI: Since = { ptx: 31, sm: 20 };

/** Fetches at coordinates `c`, what comes before the type, and further operands. */
function fetches(level: string, more: string, since: Since = FERMI): PtxForm[] {
  return ["[a,c]", "[a,s,c]"].flatMap((texture) => [
    { form: `${level}.TEXTURE.v4.T.f32 d*4|dp:pred?, ${texture}${more}`, T: "u32 s32 f32", since },
    {
      form: `${level}.TEXTURE.v4.f16.f32 d*4:b16|dp:pred?, ${texture}${more}`,
      since: { ptx: 42, sm: 53 },
    },
    {
      form: `${level}.TEXTURE.v2.f16x2.f32 d*2:b32|dp:pred?, ${texture}${more}`,
      since: { ptx: 42, sm: 53 },
    },
  ]);
}

/** Fetches of texels without filtering, of multi-sample textures as well. */
const texels: readonly PtxForm[] = ["[a,c]", "[a,s,c]"].flatMap((texture) => [
  { form: `.TEXEL.v4.T.s32 d*4|dp:pred?, ${texture}`, T: "u32 s32 f32", since: FERMI },
  {
    form: `.2dms|a2dms.v4.T.s32 d*4|dp:pred?, ${texture}`,
    T: "u32 s32 f32",
    since: { ptx: 32, sm: 30 },
  },
]);

// deno-fmt-ignore: a row per instruction
export const TEXTURE_OPS = {
  // ---- 9.7.10 textures
  tex: { doc: "reads a texture", isa: "9.7.10.3", effect: "read", forms: [
    ...fetches("", ""),
    ...texels,
    ...fetches(".base", ""),
    ...fetches(".level", ", l:f32"),
  ] },
  tld4: { doc: "one component of the four texels that filtering would read", isa: "9.7.10.4", effect: "read", since: FERMI, forms: [
    { form: ".r|g|b|a.2d.v4.T.f32 d*4|dp:pred?, [a,c]", T: "u32 s32 f32" },
    { form: ".r|g|b|a.a2d|cube|acube.v4.T.f32 d*4|dp:pred?, [a,c]", T: "u32 s32 f32", since: { ptx: 43, sm: 30 } },
    { form: ".r|g|b|a.2d|a2d|cube|acube.v4.T.f32 d*4|dp:pred?, [a,s,c]", T: "u32 s32 f32", since: { ptx: 43, sm: 30 } },
  ] },
  txq: { doc: "a property of a texture or sampler", isa: "9.7.10.5", effect: "read", since: FERMI, forms: [
    { form: ".width|height|depth|channel_data_type|channel_order|normalized_coords.b32 d, [a]" },
    { form: ".array_size|num_mipmap_levels|num_samples.b32 d, [a]", since: { ptx: 41, sm: 30 } },
    { form: ".force_unnormalized_coords|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2.b32 d, [a]" },
    { form: ".level.width|height|depth.b32 d, [a], l:b32", since: { ptx: 43, sm: 30 } },
  ] },
  istypep: { doc: "whether an address is that of a texture, sampler or surface", isa: "9.7.10.6", effect: "pure", since: { ptx: 40, sm: 30 }, forms: [{ form: ".texref|samplerref|surfref d:pred, a:b64" }] },

  // ---- 9.7.11 surfaces
  suld: { doc: "reads a surface", isa: "9.7.11.1", effect: "read", since: FERMI, forms: [
    { form: ".b.SURFACE.ca|cg|cs|cv?.VEC?.T.trap|clamp|zero d*V:T+, [a,c]", T: "b8 b16 b32" },
    { form: ".b.SURFACE.ca|cg|cs|cv?.v2?.T.trap|clamp|zero d*V:T+, [a,c]", T: "b64" },
  ] },
  sust: { doc: "writes a surface", isa: "9.7.11.2", effect: "write", since: FERMI, forms: [
    { form: ".b.SURFACE.STCACHE?.VEC?.T.trap|clamp|zero [a,c], b*V:T+", T: "b8 b16 b32" },
    { form: ".b.SURFACE.STCACHE?.v2?.T.trap|clamp|zero [a,c], b*V:T+", T: "b64" },
    { form: ".p.1d|2d|3d.VEC?.b32.trap|clamp|zero [a,c], b*V" },
  ] },
  sured: { doc: "changes a surface in one step", isa: "9.7.11.3", effect: "write", since: FERMI, forms: [
    { form: ".b.add.1d|2d|3d.T.trap|clamp|zero [a,c], b", T: "u32 s32 u64" },
    { form: ".b.min|max.1d|2d|3d.T.trap|clamp|zero [a,c], b", T: "u32 s32" },
    { form: ".b.min|max.1d|2d|3d.T.trap|clamp|zero [a,c], b", T: "u64 s64", since: { ptx: 81, sm: 50 } },
    { form: ".b.and|or.1d|2d|3d.b32.trap|clamp|zero [a,c], b" },
    { form: ".p.add|min|max|and|or.1d|2d|3d.b32.trap|clamp|zero [a,c], b" },
    { form: ".p.min|max.1d|2d|3d.b64.trap|clamp|zero [a,c], b", since: { ptx: 81, sm: 50 } },
  ] },
  suq: { doc: "a property of a surface", isa: "9.7.11.4", effect: "read", since: FERMI, forms: [
    { form: ".width|height|depth|channel_data_type|channel_order.b32 d, [a]" },
    { form: ".array_size|memory_layout.b32 d, [a]", since: { ptx: 42, sm: 20 } },
  ] },
} as const satisfies Record<string, PtxOpRow>;
