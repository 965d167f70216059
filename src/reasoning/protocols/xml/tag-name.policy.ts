/**
 * `wrapper`: element around calls; Qwen and Hermes were trained on `tool_call`, other models write the plural.
 * `results`: reserved for us; a model that writes it invents tool output. `transparent`: an additional element around
 * the parameters, which some models write.
 */
export type TagKind = 'wrapper' | 'invoke' | 'results' | 'transparent' | 'parameter';

const KINDS = new Map<string, TagKind>([
  ['function_calls', 'wrapper'],
  ['function_call', 'wrapper'],
  ['tool_calls', 'wrapper'],
  ['tool_call', 'wrapper'],
  ['invoke', 'invoke'],
  ['function', 'invoke'],
  ['function_results', 'results'],
  ['function_result', 'results'],
  ['tool_results', 'results'],
  ['tool_result', 'results'],
  ['tool_response', 'results'],
  ['parameters', 'transparent'],
  ['arguments', 'transparent'],
]);
const ALL = [...namesOf('wrapper', 'invoke', 'results'), 'parameter'];
/** Minimum length of a truncated tag name at the end of a reply that counts as markup instead of text. */
const MIN_CUT_NAME = 3;

/** The kind of a tag in a block; unknown names are parameters. */
export function kindOf(name: string): TagKind {
  return KINDS.get(name) ?? 'parameter';
}

export function namesOf(...kinds: readonly TagKind[]): readonly string[] {
  return [...KINDS].filter(([, kind]) => kinds.includes(kind)).map(([name]) => name);
}

/** Whether a kind is markup outside of a block; parameters have a meaning only in a call. */
export function isOuter(kind: TagKind): boolean {
  return kind === 'wrapper' || kind === 'invoke' || kind === 'results';
}

/** Whether a tag may follow directly in a wrapper. */
export function isInner(kind: TagKind, name: string): boolean {
  return isOuter(kind) || name === 'parameter' || name === 'arg_key' || name === 'tool_name';
}

export function isAny(): boolean {
  return true;
}

/** Whether a truncated tag name at the end of the reply is the start of a protocol tag. */
export function isCutName(letters: string): boolean {
  return letters.length >= MIN_CUT_NAME && ALL.some((name) => name.startsWith(letters));
}
