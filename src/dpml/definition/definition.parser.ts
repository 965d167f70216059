import type { z } from 'zod';
import { agentDefinitionSchema, type AgentDefinitionInput } from '../../agent/index.js';
import type { AgentDraft } from './agent-draft.types.js';
import { nearName } from './near-name.policy.js';

/** A definition that can be registered, or all that is wrong with it, with places. */
export type DefinitionReading =
  { readonly definition: AgentDefinitionInput } | { readonly mistakes: readonly string[] };

type Issue = z.core.$ZodIssue;

const MODEL_EXAMPLES = {
  xml: '<llm api-type="…" model="…"/>',
  json: '"model": { "provider": "…", "name": "…" }',
};

/** Nobody reads more of them at once. */
const MAX_MISTAKES = 100;

/** @param whole the draft's input with what it inherits */
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

/** The names of what an object of a definition may have. */
function fieldsAt(path: readonly PropertyKey[]): string[] {
  let at: unknown = agentDefinitionSchema;
  for (const key of path) {
    const { shape, element } = unwrapped(at);
    at = typeof key === 'number' ? element : shape?.[String(key)];
  }
  return Object.keys(unwrapped(at).shape ?? {});
}

/** Without its default and what else is around it. */
function unwrapped(schema: unknown): Wrapped {
  const at = (schema ?? {}) as Wrapped;
  return at.shape || at.element || !at.unwrap ? at : unwrapped(at.unwrap());
}
