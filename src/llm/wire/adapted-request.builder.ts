import type { ParameterName } from '../chat/chat.types.js';
import { CACHE_CONTROL, missingFields, refusedFields, RETURNED_FIELDS, SUMMARY } from './refused-field.parser.js';
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
  effort: 'effort',
  max_output_tokens: 'maxTokens',
};

/** The change of a request that omits its effort, whatever fields of the provider express it. */
const EFFORT = 'effort';
/** Fields that express an effort, and names of them in refusals. */
const EFFORT_FIELDS = ['effort', 'reasoning_effort', 'reasoning', 'thinking'];

/**
 * OpenAI's newest models refuse tools beside reasoning, which is on by default: "Function tools with reasoning_effort are
 * not supported for … set reasoning_effort to 'none'" (github.com/BerriAI/litellm/issues/34569). A deployment's name does
 * not state its model.
 */
const NO_REASONING = /Function tools with reasoning_effort are not supported|set reasoning_effort to 'none'/;
export const REASONING_OFF = "reasoning_effort 'none' beside tools";

/** Newer models of Claude; a default temperature must not cost the user's top_p (github.com/BerriAI/litellm/issues/15097). */
const ONE_OF_BOTH = /`temperature` and `top_p` cannot both be specified/;

/**
 * Reasoning of another organization, or of an expired key: "The encrypted content … could not be verified"
 * (github.com/openai/codex/issues/8119), "Item with id 'rs_…' not found" (github.com/can1357/oh-my-pi/issues/41).
 */
const UNREADABLE_REASONING = /encrypted content .*could not be|^Item with id '?rs_/i;

/**
 * A schema that a provider cannot enforce, whatever its documentation says: OpenAI; of Claude already seven strict tools
 * (github.com/anthropics/anthropic-sdk-typescript/issues/885), or the format of an answer (github.com/anthropics/
 * anthropic-sdk-python/issues/1185).
 */
const UNENFORCEABLE =
  /Invalid schema for (?:function|response_format)|Schema is too complex|too many (?:strict tools|optional parameters)|compiled grammar/i;

/** Fields without which a request has another meaning. */
const REQUIRED = ['model', 'messages', 'input', 'system', 'tools', 'tool_choice', 'stream'];
/** Fields whose value is a limit of the reply, which some providers require. */
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];
/** Fields of the answer's format; an instruction replaces them. */
const FORMATS = ['response_format', 'output_config', 'text'];

/** Parts of a request that a provider may refuse. */
interface WrittenParts {
  /** False to request the format of the answer by an instruction only. */
  readonly hasFormat: boolean;
  readonly hasEffort: boolean;
  /** False for a request without marks of the provider's cache. */
  readonly hasCaching: boolean;
}

export interface RequestWriter {
  /** Writes the body. */
  write(parts: WrittenParts): Body;
  /** Whether the request has an effort. */
  readonly hasEffort: boolean;
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
  /** Whether this request returns no reasoning items; the next one does again. */
  private isWithoutReasoning = false;
  /** Whether an instruction replaces the schema of this answer; that of the next one may be simpler. */
  private isWithoutSchema = false;

  constructor(
    private readonly writer: RequestWriter,
    private readonly known: FieldChanges,
  ) {}

  /** The body, with all changes so far. */
  get body(): Record<string, unknown> {
    const changes = [...this.known, ...this.found];
    const hasFormat = !this.isWithoutSchema && !changes.some(([field]) => FORMATS.includes(field));
    const hasEffort = !(changes.some(([field]) => field === EFFORT) && this.mayOmit(EFFORT));
    const hasCaching = !changes.some(([field]) => field === CACHE_CONTROL);
    const body: Record<string, unknown> = { ...this.writer.write({ hasFormat, hasEffort, hasCaching }) };
    for (const [field, name] of changes) {
      if (field === REASONING_OFF) this.turnOff(body);
      else if (name !== null || this.mayOmit(field)) change(body, field, name);
    }
    if (this.isWithoutReasoning) body['input'] = otherItems(body);
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
    return this.omitReasoning(failure, body) || this.addMissing(failure, body) || this.omitRefused(failure, body);
  }

  /** Omits reasoning items that the provider cannot read, for this request only. */
  private omitReasoning(failure: StatusError, body: Body): boolean {
    const isUnreadable = failure.kind === 'invalid_encrypted_content' || UNREADABLE_REASONING.test(failure.said);
    if (!isUnreadable || otherItems(body).length === itemsOf(body).length) return false;
    this.isWithoutReasoning = true;
    return true;
  }

  /** Adds a field without which the provider refuses the request. */
  private addMissing(failure: StatusError, body: Body): boolean {
    if (NO_REASONING.test(failure.said) && hasTools(body) && body['reasoning_effort'] !== 'none') {
      const isSet = body['reasoning_effort'] !== undefined;
      if (isSet && !this.mayOmit(EFFORT)) throw new RefusedParameterError(failure, 'effort');
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
    if (UNENFORCEABLE.test(failure.said) && this.omitSchemas(body)) return true;
    const hasBoth = ONE_OF_BOTH.test(failure.said) && has(body, 'temperature');
    if (hasBoth && !this.mayOmit('top_p') && this.mayOmit('temperature')) {
      this.found.set('temperature', null);
      return true;
    }
    const refused = refusedFields(failure).map((field) => this.changeOf(field));
    const fields = refused.filter((field) => this.isSent(field, body) && !this.refused.has(field));
    const adaptable = fields.filter((field) => !REQUIRED.includes(field));
    for (const field of adaptable) this.refused.add(field);
    for (const field of adaptable) this.found.set(field, this.replacementOf(field, failure));
    return adaptable.length > 0;
  }

  /** Schemas of tools first: those of an answer are fewer. */
  private omitSchemas(body: Body): boolean {
    if (has(body, 'strict')) {
      this.found.set('strict', null);
      return true;
    }
    if (!FORMATS.some((field) => JSON.stringify(body[field])?.includes('"schema":'))) return false;
    this.isWithoutSchema = true;
    return true;
  }

  /** A refused field of the effort means the effort. */
  private changeOf(field: string): string {
    return this.writer.hasEffort && EFFORT_FIELDS.includes(field) ? EFFORT : field;
  }

  private isSent(field: string, body: Body): boolean {
    return field === EFFORT ? this.writer.hasEffort : has(body, field);
  }

  /** Tools exclude reasoning: an effort that must not be omitted remains, and is refused. */
  private turnOff(body: Record<string, unknown>): void {
    const mayReplace = body['reasoning_effort'] === undefined || this.mayOmit(EFFORT);
    if (hasTools(body) && mayReplace) body['reasoning_effort'] = 'none';
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

function itemsOf({ input }: Body): readonly Body[] {
  return Array.isArray(input) ? (input as Body[]) : [];
}

/** The items besides reasoning, without the ids that would require it. */
function otherItems(body: Body): readonly Body[] {
  return itemsOf(body)
    .filter(({ type }) => type !== 'reasoning')
    .map(({ id: _id, status: _status, ...item }) => item);
}

function has(body: Body, field: string): boolean {
  if (field === CACHE_CONTROL) return JSON.stringify(body).includes(`"${CACHE_CONTROL}":`);
  if (field === SUMMARY) return (body['reasoning'] as Body | undefined)?.['summary'] !== undefined;
  if (RETURNED_FIELDS.includes(field)) return JSON.stringify(body['messages']).includes(`"${field}":`);
  if (field !== 'strict') return body[field] !== undefined;
  return toolsOf(body).some((tool) => definitionOf(tool)['strict'] === true);
}

function hasTools(body: Body): boolean {
  return toolsOf(body).length > 0;
}

/** Changes of fields that are not simply renamed or omitted. */
const SPECIAL: Readonly<Record<string, (body: Record<string, unknown>) => void>> = {
  [SUMMARY]: (body) => {
    const { summary: _summary, ...reasoning } = (body['reasoning'] ?? {}) as Body;
    body['reasoning'] = Object.keys(reasoning).length === 0 ? undefined : reasoning;
  },
  strict: (body) => {
    if (has(body, 'strict')) body['tools'] = toolsOf(body).map(withoutStrict);
  },
};

function change(body: Record<string, unknown>, field: string, name: FieldChange): void {
  if (typeof name === 'number') {
    if (!LIMITS.some((limit) => body[limit] !== undefined)) body[field] = name;
    return;
  }
  const special = SPECIAL[field];
  if (special) return special(body);
  if (RETURNED_FIELDS.includes(field)) {
    body['messages'] = withoutField(body['messages'], field);
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

/** In the Responses API, a tool is strict unless it has `strict: false`. */
function withoutStrict(tool: Body): Body {
  const { strict: _strict, ...definition } = definitionOf(tool);
  if (tool['function'] !== undefined) return { ...tool, function: definition };
  return tool['parameters'] === undefined ? definition : { ...definition, strict: false };
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
