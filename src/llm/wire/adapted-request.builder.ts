import type { ParameterName } from '../chat.types.js';
import { missingFields, refusedFields, RETURNED_FIELDS } from './refused-field.parser.js';
import { RefusedParameterError, type StatusError } from './wire-failure.error.js';

type Body = Readonly<Record<string, unknown>>;

/** A change of a field: the name that replaces its name, null if it is omitted, or the value of an added field. */
export type FieldChange = string | number | null;
/** Changes of request bodies, by field. */
export type FieldChanges = ReadonlyMap<string, FieldChange>;

/** Maximum repeats of a refused request. */
const MAX_REPEATS = 4;

/** Fields with the same meaning. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
  seed: 'random_seed',
  random_seed: 'seed',
};

/** The parameters of a request, by field of its body. */
export const PARAMETERS: Readonly<Record<string, ParameterName>> = {
  temperature: 'temperature',
  top_p: 'topP',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  seed: 'seed',
  random_seed: 'seed',
  stop: 'stop',
  stop_sequences: 'stop',
  max_tokens: 'maxTokens',
  max_completion_tokens: 'maxTokens',
};

/**
 * OpenAI's newest models refuse tools beside reasoning, which is on by default: "Function tools with reasoning_effort are
 * not supported for … set reasoning_effort to 'none'" (github.com/BerriAI/litellm/issues/34569). A deployment's name does
 * not state its model.
 */
const NO_REASONING = /set reasoning_effort to 'none'/;
export const REASONING_OFF = "reasoning_effort 'none' beside tools";

/** Newer models of Claude; a default temperature must not cost the user's top_p (github.com/BerriAI/litellm/issues/15097). */
const ONE_OF_BOTH = /`temperature` and `top_p` cannot both be specified/;

/** Fields without which a request has another meaning. */
const REQUIRED = ['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'];
/** Fields whose value is a limit of the reply, which some providers require. */
const LIMITS = ['max_tokens', 'max_completion_tokens'];
/** Fields of the answer's format; an instruction replaces them. */
const FORMATS = ['response_format', 'output_config'];

export interface RequestWriter {
  /** Writes the body. @param hasFormat false to request the format of the answer by an instruction only */
  write(hasFormat: boolean): Body;
  /** Maximum length of the model's replies, in tokens, for providers that require a limit. */
  readonly maxReplyTokens: number;
  /** Whether a parameter must not be omitted. */
  isRequired(parameter: ParameterName): boolean;
}

/** A request that omits and renames the fields that its provider refuses. */
export class AdaptedRequest {
  /** The changes that this request needed besides the known ones. */
  readonly found = new Map<string, FieldChange>();
  private readonly refused = new Set<string>();
  private repeats = 0;

  constructor(
    private readonly writer: RequestWriter,
    private readonly known: FieldChanges,
  ) {}

  /** The body, with all changes so far. */
  get body(): Record<string, unknown> {
    const changes = [...this.known, ...this.found];
    const hasFormat = !changes.some(([field]) => FORMATS.includes(field));
    const body: Record<string, unknown> = { ...this.writer.write(hasFormat) };
    for (const [field, name] of changes) if (name !== null || this.mayOmit(field)) change(body, field, name);
    return body;
  }

  /**
   * Adapts the request to a refusal of its fields: once per field, and at most four times.
   *
   * @returns whether a repeat may succeed
   * @throws RefusedParameterError if the provider refused a parameter that must not be omitted
   */
  adapt(failure: StatusError): boolean {
    const { body } = this;
    if (this.repeats++ >= MAX_REPEATS) return false;
    return this.addMissing(failure, body) || this.omitRefused(failure, body);
  }

  /** Adds a field without which the provider refuses the request. */
  private addMissing(failure: StatusError, body: Body): boolean {
    if (NO_REASONING.test(failure.said) && lacksEffort(body)) {
      this.found.set(REASONING_OFF, null);
      return true;
    }
    if (LIMITS.some((field) => body[field] !== undefined)) return false;
    const missing = missingFields(failure).find((field) => LIMITS.includes(field));
    if (missing !== undefined) this.found.set(missing, this.writer.maxReplyTokens);
    return missing !== undefined;
  }

  /** @throws RefusedParameterError if the provider refused a parameter that must not be omitted */
  private omitRefused(failure: StatusError, body: Body): boolean {
    const hasBoth = ONE_OF_BOTH.test(failure.said) && has(body, 'temperature');
    if (hasBoth && !this.mayOmit('top_p') && this.mayOmit('temperature')) {
      this.found.set('temperature', null);
      return true;
    }
    const fields = refusedFields(failure).filter((field) => has(body, field) && !this.refused.has(field));
    const adaptable = fields.filter((field) => !REQUIRED.includes(field));
    for (const field of adaptable) this.refused.add(field);
    for (const field of adaptable) this.found.set(field, this.replacementOf(field, failure));
    return adaptable.length > 0;
  }

  private replacementOf(field: string, failure: StatusError): string | null {
    const other = EQUIVALENTS[field];
    // A known change may be outdated: another server may answer at the address now.
    if (other !== undefined && !this.refused.has(other)) return other;
    if (this.mayOmit(field)) return null;
    throw new RefusedParameterError(failure, PARAMETERS[field]!);
  }

  private mayOmit(field: string): boolean {
    const parameter = PARAMETERS[field];
    return parameter === undefined || !this.writer.isRequired(parameter);
  }
}

function has(body: Body, field: string): boolean {
  if (RETURNED_FIELDS.includes(field)) return JSON.stringify(body['messages']).includes(`"${field}":`);
  if (field !== 'strict') return body[field] !== undefined;
  return toolsOf(body).some((tool) => definitionOf(tool)['strict'] !== undefined);
}

function lacksEffort(body: Body): boolean {
  return toolsOf(body).length > 0 && body['reasoning_effort'] === undefined;
}

function change(body: Record<string, unknown>, field: string, name: FieldChange): void {
  if (typeof name === 'number') {
    if (!LIMITS.some((limit) => body[limit] !== undefined)) body[field] = name;
    return;
  }
  if (field === REASONING_OFF) {
    if (lacksEffort(body)) body['reasoning_effort'] = 'none';
    return;
  }
  if (RETURNED_FIELDS.includes(field)) {
    body['messages'] = withoutField(body['messages'], field);
    return;
  }
  if (field === 'strict') {
    if (has(body, field)) body['tools'] = toolsOf(body).map(withoutStrict);
    return;
  }
  if (name !== null && body[field] !== undefined) body[name] = body[field];
  delete body[field];
}

function toolsOf({ tools }: Body): readonly Body[] {
  return Array.isArray(tools) ? (tools as Body[]) : [];
}

function definitionOf(tool: Body): Body {
  return (tool['function'] ?? tool) as Body;
}

function withoutStrict(tool: Body): Body {
  const { strict: _strict, ...definition } = definitionOf(tool);
  return tool['function'] === undefined ? definition : { ...tool, function: definition };
}

/** Messages without a field of theirs, of their calls and of the calls' functions. */
function withoutField(value: unknown, field: string): unknown {
  const messages = Array.isArray(value) ? (value as Body[]) : [];
  return messages.map(({ [field]: _own, tool_calls: calls, ...message }) => {
    if (!Array.isArray(calls)) return message;
    const cleared = (calls as Body[]).map(({ [field]: _of, function: called, ...call }) => {
      const { [field]: _inner, ...inner } = (called ?? {}) as Body;
      return { ...call, function: inner };
    });
    return { ...message, tool_calls: cleared };
  });
}
