/**
 * What `make` gives for 0, 1, … and all whole numbers below `count`. `Array.from({ length })` gives the same, by calls
 * of the run time for each element.
 */
export function times<T>(count: number, make: (index: number) => T): T[] {
  const made: T[] = [];
  for (let index = 0; index + 1 <= count; index++) made.push(make(index));
  return made;
}
