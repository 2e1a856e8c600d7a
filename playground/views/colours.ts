/** Colours of cells: cividis for values, which all kinds of eyes read alike, and a wheel for names of things. */

/** Red, green and blue, 0 … 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** Points of cividis (Nuñez, Anderton and Renslow, 2018), equally spaced. */
const CIVIDIS: readonly Colour[] = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [225, 204, 85],
  [254, 232, 56],
];

/** Where a value lies between the least and the greatest, 0 … 1, as a colour. */
export function colourOfValue(share: number): Colour {
  const at = Math.min(1, Math.max(0, share)) * (CIVIDIS.length - 1);
  const low = Math.floor(at);
  const [from, to] = [CIVIDIS[low] ?? NOTHING, CIVIDIS[low + 1] ?? CIVIDIS[low] ?? NOTHING];
  const mix = (channel: 0 | 1 | 2): number =>
    Math.round(from[channel] + (to[channel] - from[channel]) * (at - low));
  return [mix(0), mix(1), mix(2)];
}

/** No value: not a number, or never written. */
export const NOTHING: Colour = [214, 51, 132];

/** One of `count` things; neighbours differ in lightness as well, for eyes that see no hues. */
export function colourOfName(index: number, count: number): Colour {
  const hue = 360 * (index % count) / count;
  const light = index % 2 === 0 ? 0.62 : 0.78;
  return fromHsl(hue, 0.55, light);
}

function fromHsl(hue: number, saturation: number, light: number): Colour {
  const chroma = saturation * Math.min(light, 1 - light);
  const channel = (n: number): number => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (light - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** Black or white, whichever is read better on it. */
export function inkOn([red, green, blue]: Colour): "black" | "white" {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "black" : "white";
}
