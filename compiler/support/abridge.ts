/** Long names and texts of programs, made fit for messages. */

/** Words that are longer are shown by their ends. */
const MOST = 200;
const [FIRST, LAST] = [80, 40];
/** Characters of a message. */
const MOST_TEXT = 2000;

/** The text with the ends of long words, and without what lies behind thousands of characters. */
export function abridge(text: string): string {
  if (text.length <= MOST) return text;
  const short = text.replace(
    /\S+/g,
    (word) => word.length <= MOST ? word : `${word.slice(0, FIRST)}…${word.slice(-LAST)}`,
  );
  return short.length <= MOST_TEXT ? short : `${short.slice(0, MOST_TEXT)}…`;
}
