/** The names every provider's function calling accepts. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** `Action: finish` ends a run in the text protocols. */
const RESERVED = new Set(['finish']);

/** Why a tool cannot bear this name; undefined when it can. */
export function refusedName(name: string): string | undefined {
  if (!TOOL_NAME.test(name)) {
    return `the name ${JSON.stringify(name)} is refused: use 1 to 64 letters, digits, "_" or "-"`;
  }
  if (RESERVED.has(name)) return `the name "${name}" is reserved for ending a run: choose another`;
  return undefined;
}
