/**
 * `wrapper`: what stands around calls; `tool_call` is what Qwen and Hermes learnt, the plural what others make of it.
 * `results`: what only we may write; a model that writes it invents what a tool said. `transparent`: the one more
 * element that some models put the parameters into.
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
/** From how many letters on a cut tag at the end of a reply is markup rather than a sign in a sentence. */
const MIN_CUT_NAME = 3;

/** What a tag with this name means in a block; whatever else there is are parameters. */
export function kindOf(name: string): TagKind {
  return KINDS.get(name) ?? 'parameter';
}

export function namesOf(...kinds: readonly TagKind[]): readonly string[] {
  return [...KINDS].filter(([, kind]) => kinds.includes(kind)).map(([name]) => name);
}

/** The kinds that mean something in a sentence; parameters have a meaning only in a call. */
export function isOuter(kind: TagKind): boolean {
  return kind === 'wrapper' || kind === 'invoke' || kind === 'results';
}

/** What may come next in a wrapper. */
export function isInner(kind: TagKind, name: string): boolean {
  return isOuter(kind) || name === 'parameter' || name === 'arg_key' || name === 'tool_name';
}

export function isAny(): boolean {
  return true;
}

/** Whether a tag that the end of the reply cuts after these letters was to be one of the protocol's. */
export function isCutName(letters: string): boolean {
  return letters.length >= MIN_CUT_NAME && ALL.some((name) => name.startsWith(letters));
}
