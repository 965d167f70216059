import { z } from 'zod';
import { readFormat, type GivenFormat } from './response-format.mapper.js';

const SEED_LIMIT = 2_147_483_648;

/** How a model chooses its words. */
export const modelParametersSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  /** In tokens. */
  maxTokens: z.int().min(1).max(10_000_000).optional(),
  topP: z.number().min(0).max(1).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  stop: z.array(z.string().min(1)).max(16).readonly().optional(),
  seed: z
    .int()
    .min(-SEED_LIMIT)
    .max(SEED_LIMIT - 1)
    .optional(),
});

const capabilitiesSchema = z.strictObject({
  vision: z.boolean().optional(),
  imageUrls: z.boolean().optional(),
  functionCalling: z.boolean().optional(),
  jsonMode: z.boolean().optional(),
  forcedToolChoice: z.boolean().optional(),
});

/** Seven days, in ms. */
const DEFAULT_EXPIRY_MS = 604_800_000;

/** What becomes of calls that wait for a person. */
export const waitingRulesSchema = z.strictObject({
  /** How long a request stays open, in ms; `null` for ever. */
  expiresMs: z.int().min(1).nullable().default(DEFAULT_EXPIRY_MS),
  /** Whether the model is told of a call that was denied and the loop goes on, or the run ends with it. */
  onDenied: z.enum(['continue', 'end']).default('continue'),
  /** The same for a call that nobody decided in time. */
  onExpired: z.enum(['continue', 'end']).default('continue'),
});

/** What of its session's past a run sees. */
export const memoryRulesSchema = z.strictObject({
  /** Without it a run sees nothing of it; the session is kept all the same. */
  enabled: z.boolean().default(true),
  /** `sliding_window`, `fixed_window`, `lru`, `token_budget`, `summary`, or one of the application's own. */
  policy: z.string().min(1).default('sliding_window'),
  maxMessages: z.int().min(0).max(1_000_000).default(50),
  maxContextTokens: z.int().min(0).max(100_000_000).default(4000),
  /** Whether earlier tool calls and their results are seen. */
  includeToolCalls: z.boolean().default(true),
  /** With `fixed_window`: so many of the first messages stay. */
  keepFirst: z.int().min(0).max(10_000).default(10),
});

/** What the final answer must be. A Standard Schema is kept as its JSON Schema: definitions are stored. */
const responseFormatSchema = z.custom<GivenFormat>().transform((given, context) => {
  const read = readFormat(given);
  if ('format' in read) return read.format;
  context.addIssue(read.problem);
  return z.NEVER;
});

/** Each once. */
const agentNamesSchema = z
  .array(z.string().min(1))
  .refine((names) => new Set(names).size === names.length, 'must name each agent once')
  .default([]);

/** How deep agents may ask one another when nobody says otherwise. */
const DEFAULT_MAX_DEPTH = 3;

/** What an agent is. Unknown fields are refused; what is left out has the default named here. */
export const agentDefinitionSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  description: z.string().default(''),
  instructions: z
    .string()
    .default(
      'You are a helpful assistant. Use the tools you have when they help; answer in the language of the question.',
    ),
  model: z.strictObject({
    /** As in `LLM_PROVIDER`. */
    provider: z.string().min(1),
    /** The provider's default when left out. */
    name: z.string().min(1).optional(),
    parameters: modelParametersSchema.default({}),
    /** What the model can do, where the agent's author knows better. */
    capabilities: capabilitiesSchema.optional(),
    /** Asked in this order when it does not answer; as `LLM_FALLBACK` when left out. */
    fallback: z.array(z.strictObject({ provider: z.string().min(1), name: z.string().min(1).optional() })).optional(),
    /** How often a call is made at most; as `LLM_MAX_ATTEMPTS` when left out. */
    maxAttempts: z.int().min(1).max(20).optional(),
  }),
  /** Names of tools, with `*` for any characters; `'*'` alone is all of them. */
  tools: z.union([z.literal('*'), z.array(z.string().min(1))]).default('*'),
  /** Names of agents that it may ask: each is a tool, `ask_` and the name. */
  subAgents: agentNamesSchema,
  /** Names of agents that it may hand the conversation over to: `transfer_to_` and the name. */
  handoffs: agentNamesSchema,
  /** How tools are written for the model; `auto` is native function calling if the model can, else react. */
  protocol: z.string().default('auto'),
  /** `json`, or a schema: the answer is parsed and checked, and its value is `output`. Any text when left out. */
  responseFormat: responseFormatSchema.optional(),
  memory: memoryRulesSchema.prefault({}),
  limits: z
    .strictObject({
      /** Model calls a run may make. */
      maxIterations: z.int().min(1).max(1000).default(10),
      /** The longest one execution of a run may take, in ms. */
      runTimeoutMs: z.int().min(1).max(2_147_483_647).default(300_000),
      /** UTF-8 bytes of one tool result that are kept. */
      maxResultBytes: z.int().min(64).default(65_536),
      /** How many runs may be above one another where its tools are agents; 0: it asks none. */
      maxDepth: z.int().min(0).max(16).default(DEFAULT_MAX_DEPTH),
    })
    .prefault({}),
  waiting: waitingRulesSchema.prefault({}),
});

/** An agent, whole: every default filled in. */
export type AgentDefinition = z.output<typeof agentDefinitionSchema>;
/** An agent as it is written. */
export type AgentDefinitionInput = z.input<typeof agentDefinitionSchema>;

/** What older definitions may lack. */
type StoredDefinition = Omit<AgentDefinition, 'waiting' | 'memory' | 'subAgents' | 'handoffs'> &
  Partial<Pick<AgentDefinition, 'subAgents' | 'handoffs'>> & {
    readonly waiting?: unknown;
    readonly memory?: object;
  };

/** Reads a definition as the journal holds it; one that was stored before there were such rules has their defaults. */
export function parseStoredDefinition(content: string): AgentDefinition {
  const {
    waiting = {},
    memory = {},
    subAgents = [],
    handoffs = [],
    ...stored
  } = JSON.parse(content) as StoredDefinition;
  const rules = 'turns' in memory ? {} : memory;
  return {
    ...stored,
    subAgents,
    handoffs,
    waiting: waitingRulesSchema.parse(waiting),
    memory: memoryRulesSchema.parse(rules),
  };
}
