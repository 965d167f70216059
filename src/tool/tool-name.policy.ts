/** Names accepted by the function calling of every provider. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Reserved: in the text protocols these actions end a run or mean that no tool is called; case-insensitive. */
const RESERVED = new Set(['finish', 'none', 'null', 'nil', 'na', 'nothing']);

/** Reason why a tool name is rejected; undefined for a valid name. */
export function refusedName(name: unknown): string | undefined {
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    return `the name ${JSON.stringify(name)} is refused: use 1 to 64 letters, digits, "_" or "-"`;
  }
  if (RESERVED.has(name.toLowerCase())) {
    return `the name "${name}" is reserved: as an action it ends a run or says that no tool is wanted; choose another`;
  }
  return undefined;
}
