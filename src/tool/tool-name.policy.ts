/** The names every provider's function calling accepts. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** As actions of the text protocols these end a run, or say that no tool is wanted; in any case. */
const RESERVED = new Set(['finish', 'none', 'null', 'nil', 'na', 'nothing']);

/** Why a tool cannot bear this name; undefined when it can. */
export function refusedName(name: unknown): string | undefined {
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    return `the name ${JSON.stringify(name)} is refused: use 1 to 64 letters, digits, "_" or "-"`;
  }
  if (RESERVED.has(name.toLowerCase())) {
    return `the name "${name}" is reserved: as an action it ends a run or says that no tool is wanted; choose another`;
  }
  return undefined;
}
