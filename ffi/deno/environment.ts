/** Reading environment variables, on Deno. */

/** A variable's value; undefined when it is unset, empty, or not to be read without asking the user. */
export function readVariable(name: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) || undefined : undefined;
}
