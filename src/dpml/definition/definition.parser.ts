import { agentDefinitionSchema, type AgentDefinitionInput } from '../../agent/index.js';
import type { AgentDraft } from './agent-draft.types.js';

/** A definition that can be registered, or all that is wrong with it, with places. */
export type DefinitionReading =
  { readonly definition: AgentDefinitionInput } | { readonly mistakes: readonly string[] };

/** @param whole the draft's input with what it inherits */
export function readDefinition(draft: AgentDraft, whole: unknown): DefinitionReading {
  const read = agentDefinitionSchema.safeParse(whole);
  if (read.success) return { definition: whole as AgentDefinitionInput };
  const mistakes = read.error.issues.map(({ path, message }) => {
    const what = path.length > 0 ? `${path.join('.')}: ` : '';
    const isMissing = path.length === 1 && path[0] === 'model';
    const fault = isMissing ? 'expected a model: <llm api-type="…" model="…"/>' : `${what}${message}`;
    return `${draft.placeOf(path)}: ${fault}`;
  });
  return { mistakes };
}
