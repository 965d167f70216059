import { EFFORTS } from '../../config/index.js';

/** Type of an attribute or a text. A list gives the allowed words. */
export type ValueKind = 'text' | 'number' | 'integer' | 'integer-or-never' | 'boolean' | 'json' | readonly string[];

/**
 * Path of a value in the definition: dotted, with a final `[]` to append to a list. `null` for data of the file that
 * are not part of the definition.
 */
export type Target = string | null;

export interface ValueRule {
  readonly kind: ValueKind;
  readonly to: Target;
  readonly isRequired?: boolean;
  /** Whether the value is the content of a file; the attribute has its path. */
  readonly isFile?: boolean;
}

export interface ElementRule {
  readonly attributes: Readonly<Record<string, ValueRule>>;
  readonly children: Readonly<Record<string, ElementRule>>;
  readonly text?: ValueRule;
  /** Whether the element may occur several times. */
  readonly isMany?: boolean;
  /** List to which the element appends an object; paths inside it are relative to that object. */
  readonly list?: string;
  /** Part of the definition that the element represents, for errors about missing values. */
  readonly at?: string;
  /** Value set by the presence of the element, before its content. */
  readonly initial?: { readonly to: string; readonly value: () => unknown };
}

type Rules = Readonly<Record<string, ValueRule>>;

const text = (to: Target): ValueRule => ({ kind: 'text', to });
const needed = (to: Target): ValueRule => ({ kind: 'text', to, isRequired: true });
const number = (to: string): ValueRule => ({ kind: 'number', to });
const integer = (to: string): ValueRule => ({ kind: 'integer', to });
const boolean = (to: string): ValueRule => ({ kind: 'boolean', to });
const leaf = (attributes: Rules, more: Partial<ElementRule> = {}): ElementRule => ({
  attributes,
  children: {},
  ...more,
});
const reading = (rule: ValueRule): Partial<ElementRule> => ({ text: rule });
const file = (rule: ValueRule): ValueRule => ({ ...rule, isFile: true });

const instructions = text('instructions');
const schema: ValueRule = { kind: 'json', to: 'responseFormat.schema' };
const guardrails: ValueRule = { kind: 'json', to: 'guardrails' };
const budget = (of: string): ElementRule =>
  leaf(
    { tokens: integer(`budgets.${of}.tokens`), cost: number(`budgets.${of}.cost`) },
    { initial: { to: `budgets.${of}`, value: () => ({}) } },
  );
const onUndecided = (to: string): ValueRule => ({ kind: ['continue', 'end'], to });

const LLM: ElementRule = {
  at: 'model',
  attributes: {
    'api-type': text('model.provider'),
    model: text('model.name'),
    temperature: number('model.parameters.temperature'),
    'max-tokens': integer('model.parameters.maxTokens'),
    'top-p': number('model.parameters.topP'),
    'frequency-penalty': number('model.parameters.frequencyPenalty'),
    'presence-penalty': number('model.parameters.presencePenalty'),
    seed: integer('model.parameters.seed'),
    effort: { kind: EFFORTS, to: 'model.parameters.effort' },
    'max-attempts': integer('model.maxAttempts'),
  },
  children: {
    stop: leaf({}, { ...reading(text('model.parameters.stop[]')), isMany: true }),
    fallback: leaf({ 'api-type': needed('provider'), model: text('name') }, { list: 'model.fallback[]', isMany: true }),
    capabilities: leaf({
      vision: boolean('model.capabilities.vision'),
      'image-urls': boolean('model.capabilities.imageUrls'),
      audio: boolean('model.capabilities.audio'),
      'function-calling': boolean('model.capabilities.functionCalling'),
      'json-mode': boolean('model.capabilities.jsonMode'),
      'forced-tool-choice': boolean('model.capabilities.forcedToolChoice'),
    }),
  },
};

/** Schema of an agent file, used by the parser and by docs/schemas/agent.xsd. */
export const AGENT_ELEMENT: ElementRule = {
  attributes: {
    name: needed('name'),
    extends: text(null),
    env: text(null),
    protocol: text('protocol'),
    'code-mode': boolean('codeMode'),
    'xmlns:xsi': text(null),
    'xsi:noNamespaceSchemaLocation': text(null),
  },
  children: {
    description: leaf({}, reading(text('description'))),
    llm: LLM,
    prompt: leaf({ src: file(instructions) }, reading(instructions)),
    tools: {
      attributes: {},
      children: { tool: leaf({ name: needed('tools[]') }, { isMany: true }) },
      initial: { to: 'tools', value: () => [] },
    },
    'mcp-server': leaf({ name: needed('name'), enabled: boolean('enabled') }, { list: 'mcpServers[]', isMany: true }),
    session: leaf({
      memory: boolean('memory.enabled'),
      policy: text('memory.policy'),
      'max-messages': integer('memory.maxMessages'),
      'max-context-tokens': integer('memory.maxContextTokens'),
      'include-tool-calls': boolean('memory.includeToolCalls'),
      'keep-first': integer('memory.keepFirst'),
    }),
    'sub-agent': leaf({ name: needed('subAgents[]') }, { isMany: true }),
    skill: leaf({ name: needed('skills[]') }, { isMany: true }),
    handoff: leaf({ name: needed('handoffs[]') }, { isMany: true }),
    'response-format': leaf(
      { name: text('responseFormat.name'), src: file(schema) },
      { ...reading(schema), initial: { to: 'responseFormat', value: () => 'json' } },
    ),
    limits: leaf({
      'max-iterations': integer('limits.maxIterations'),
      'run-timeout-ms': integer('limits.runTimeoutMs'),
      'max-result-bytes': integer('limits.maxResultBytes'),
      'max-depth': integer('limits.maxDepth'),
      'max-tools': integer('limits.maxTools'),
      'max-tool-tokens': integer('limits.maxToolTokens'),
    }),
    waiting: leaf({
      'expires-ms': { kind: 'integer-or-never', to: 'waiting.expiresMs' },
      'on-denied': onUndecided('waiting.onDenied'),
      'on-expired': onUndecided('waiting.onExpired'),
    }),
    budgets: {
      attributes: {},
      children: {
        run: budget('run'),
        session: budget('session'),
        'tenant-day': budget('tenantDay'),
        day: budget('day'),
      },
    },
    guardrails: leaf({ src: file(guardrails) }, reading(guardrails)),
    approvals: { attributes: {}, children: { tool: leaf({ name: needed('approvals[]') }, { isMany: true }) } },
  },
};

const FROM_ENVIRONMENT =
  'the address and the key of a provider are variables of the environment (docs/configuration.md), never of a file';

/** Common names that do not belong here, with the correct place. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'api-url': FROM_ENVIRONMENT,
  'api-key': FROM_ENVIRONMENT,
  'api-key-env': FROM_ENVIRONMENT,
};
