/** What stands around calls. `tool_call` is what Qwen and Hermes learnt, the plural what others make of it. */
const WRAPPERS: ReadonlySet<string> = new Set(['function_calls', 'function_call', 'tool_calls', 'tool_call']);
const INVOKES: ReadonlySet<string> = new Set(['invoke', 'function']);
/** What only we may write: a model that writes it invents what a tool said. */
const RESULTS: ReadonlySet<string> = new Set([
  'function_results',
  'function_result',
  'tool_results',
  'tool_result',
  'tool_response',
]);
const ALL: readonly string[] = [...WRAPPERS, ...INVOKES, ...RESULTS, 'parameter'];
/** From how many letters on a cut tag at the end of a reply is markup rather than a sign in a sentence. */
const MIN_CUT_NAME = 3;

export function isWrapper(name: string): boolean {
  return WRAPPERS.has(name);
}

export function isInvoke(name: string): boolean {
  return INVOKES.has(name);
}

export function isResults(name: string): boolean {
  return RESULTS.has(name);
}

/** The names that mean something in a sentence; parameters have a meaning only in a call. */
export function isOuter(name: string): boolean {
  return WRAPPERS.has(name) || INVOKES.has(name) || RESULTS.has(name);
}

/** What may come next in a wrapper. */
export function isInner(name: string): boolean {
  return isOuter(name) || name === 'parameter' || name === 'arg_key' || name === 'tool_name';
}

export function isAny(): boolean {
  return true;
}

/** Whether a tag that the end of the reply cuts after these letters was to be one of the protocol's. */
export function isCutName(letters: string): boolean {
  return letters.length >= MIN_CUT_NAME && ALL.some((name) => name.startsWith(letters));
}
