import type { z } from 'zod';
import { type AgentDefinitionInput, agentDefinitionSchema } from '../../agent/definition/index.js';
import { nearNames } from '../../kernel/text/index.js';

/** Content of an agent file, before inheritance. */
export interface AgentDraft {
  readonly format: 'xml' | 'json';
  readonly name: string;
  readonly extends?: string;
  /** A partial `AgentDefinitionInput`. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Position of a value or its nearest ancestor: `file:line:column`. */
  placeOf(path: readonly PropertyKey[]): string;
}

/** A draft, or all mistakes of the text, one per line. */
export type DraftReading = { readonly draft: AgentDraft } | { readonly mistakes: readonly string[] };

export interface DraftSource {
  /** Name of the text in messages. */
  readonly file: string;
  readonly text: string;
  /** Values of the variables that the text may declare. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file in the same folder. @throws AppError if it cannot be read */
  readonly include: (path: string) => string;
}

/** Suggests similar names, as `; did you mean x?`, or lists all names. */
export function nearName(name: string, known: readonly string[]): string {
  const near = nearNames(name, known);
  if (near.length > 0) return `; did you mean ${near.join(' or ')}?`;
  return `; expected ${known.join(', ') || 'none'}`;
}

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
