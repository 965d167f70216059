import type { z } from 'zod';
import { agentDefinitionSchema, type AgentDefinitionInput } from '../../agent/index.js';
import type { AgentDraft } from './agent-draft.types.js';
import { nearName } from './near-name.policy.js';

/** A valid definition, or all its mistakes with positions. */
export type DefinitionReading =
  { readonly definition: AgentDefinitionInput } | { readonly mistakes: readonly string[] };

type Issue = z.core.$ZodIssue;

const MODEL_EXAMPLES = {
  xml: '<llm api-type="…" model="…"/>',
  json: '"model": { "provider": "…", "name": "…" }',
};

/** Maximum number of reported mistakes. */
const MAX_MISTAKES = 100;

/** @param whole the draft's input after inheritance */
export function readDefinition(draft: AgentDraft, whole: unknown): DefinitionReading {
  const read = agentDefinitionSchema.safeParse(whole);
  if (read.success) return { definition: whole as AgentDefinitionInput };
  return { mistakes: read.error.issues.flatMap((issue) => mistakesOf(issue, draft)) };
}

function mistakesOf(issue: Issue, draft: AgentDraft): string[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_MISTAKES).map((key) => unknownField(key, path, draft));
  }
  const what = path.length > 0 ? `${path.join('.')}: ` : '';
  const isMissing = path.length === 1 && path[0] === 'model' && draft.input['model'] === undefined;
  const fault = isMissing ? `expected a model: ${MODEL_EXAMPLES[draft.format]}` : `${what}${message}`;
  return [`${draft.placeOf(path)}: ${fault}`];
}

function unknownField(key: string, path: readonly PropertyKey[], draft: AgentDraft): string {
  const whole = [...path, key];
  return `${draft.placeOf(whole)}: there is no field ${whole.join('.')}${nearName(key, fieldsAt(path))}`;
}

interface Wrapped {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly element?: unknown;
  unwrap?(): unknown;
}

/** Field names of an object in a definition. */
function fieldsAt(path: readonly PropertyKey[]): string[] {
  let at: unknown = agentDefinitionSchema;
  for (const key of path) {
    const { shape, element } = unwrapped(at);
    at = typeof key === 'number' ? element : shape?.[String(key)];
  }
  return Object.keys(unwrapped(at).shape ?? {});
}

/** The schema without defaults and other wrappers. */
function unwrapped(schema: unknown): Wrapped {
  const at = (schema ?? {}) as Wrapped;
  return at.shape || at.element || !at.unwrap ? at : unwrapped(at.unwrap());
}
