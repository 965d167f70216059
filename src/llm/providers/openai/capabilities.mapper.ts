import type { ModelCapabilities } from '../../chat.types.js';

/** Read images: everything since GPT-4 Turbo but these. */
const TEXT_ONLY = /^(?:gpt-3|gpt-4(?:-\d|$)|o1-(?:mini|preview)|o3-mini)/;
/** No tools: completion models and the first reasoning models. */
const WITHOUT_TOOLS = /instruct|^o1-(?:mini|preview)/;

/** What OpenAI's model of that name can do; a model that is not known yet can do what the latest can. */
export function capabilitiesOf(model: string): ModelCapabilities {
  const functionCalling = !WITHOUT_TOOLS.test(model);
  return { vision: !TEXT_ONLY.test(model), functionCalling, jsonMode: functionCalling };
}
