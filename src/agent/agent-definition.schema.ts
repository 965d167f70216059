import { z } from 'zod';
import { guardrailsSchema } from '../tool/index.js';
import { readFormat, type GivenFormat } from './response-format.mapper.js';

const SEED_LIMIT = 2_147_483_648;

const isSaying = (text: string): boolean => text.trim() !== '';
/** Of something that is elsewhere. */
const nameSchema = z.string().refine(isSaying, 'must not be blank');

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
export const DEFAULT_EXPIRY_MS = 604_800_000;

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
  policy: z.string().regex(/\S/, 'must not be blank').default('sliding_window'),
  /** 200 when left out. */
  maxMessages: z.int().min(0).max(1_000_000).optional(),
  /** When left out, a quarter of the smallest context window of the models, at most 16,000; 8,000 where it is unknown. */
  maxContextTokens: z.int().min(0).max(100_000_000).optional(),
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

const isEachOnce = (names: readonly string[]): boolean => new Set(names).size === names.length;
const agentNamesSchema = z.array(nameSchema).refine(isEachOnce, 'must name each agent once').default([]);

/** How deep agents may ask one another when nobody says otherwise. */
const DEFAULT_MAX_DEPTH = 3;

/** An MCP server, whose tools are `name__*`, and whether the agent has them. */
const mcpServerSchema = z.strictObject({ name: nameSchema, enabled: z.boolean().default(true) });
/** By its name alone it is enabled. */
const mcpMentionSchema = z
  .union([z.string(), z.custom<z.input<typeof mcpServerSchema>>((given) => typeof given === 'object')])
  .transform((given) => (typeof given === 'string' ? { name: given } : given))
  .pipe(mcpServerSchema);

const budgetSchema = z
  .strictObject({
    tokens: z.int().min(0).max(1_000_000_000_000_000).optional(),
    /** In the unit of `LLM_PRICES`. */
    cost: z.number().min(0).max(1_000_000).optional(),
  })
  .refine(({ tokens, cost }) => tokens !== undefined || cost !== undefined, 'must have tokens, cost, or both');

/** What it may spend, beside what all may (`BUDGET_…`): a model call that may take more is not made. */
const budgetsSchema = z.strictObject({
  /** A run of it, with the runs that it calls. */
  run: budgetSchema.optional(),
  /** Its runs in one session. */
  session: budgetSchema.optional(),
  /** Its runs for one tenant, in a day. */
  tenantDay: budgetSchema.optional(),
  /** All its runs, in a day. */
  day: budgetSchema.optional(),
});

/** What an agent is. Unknown fields are refused; what is left out has the default named here. */
export const agentDefinitionSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  description: z.string().default(''),
  instructions: z
    .string()
    .refine(isSaying, 'must not be blank: leave them out, or say something')
    .default(
      'You are a helpful assistant. Use the tools you have when they help; answer in the language of the question.',
    ),
  model: z.strictObject({
    /** As in `LLM_PROVIDER`. */
    provider: nameSchema,
    /** The provider's default when left out. */
    name: nameSchema.optional(),
    parameters: modelParametersSchema.default({}),
    /** What the model can do, where the agent's author knows better. */
    capabilities: capabilitiesSchema.optional(),
    /** Asked in this order when it does not answer; as `LLM_FALLBACK` when left out. */
    fallback: z.array(z.strictObject({ provider: nameSchema, name: nameSchema.optional() })).optional(),
    /** How often a call is made at most; as `LLM_MAX_ATTEMPTS` when left out. */
    maxAttempts: z.int().min(1).max(20).optional(),
  }),
  /**
   * Names of tools, with `*` for any characters; `'*'` alone is all of them. When left out, an agent that has MCP servers has
   * their tools, and any other one has all.
   */
  tools: z.union([z.literal('*'), z.array(nameSchema)]).optional(),
  /** Declared MCP servers, by name: it has their tools, or, with `enabled: false`, has none of them, whatever `tools` says. */
  mcpServers: z
    .array(mcpMentionSchema)
    .refine((servers) => isEachOnce(servers.map(({ name }) => name)), 'must name each server once')
    .default([]),
  /** Names of agents that it may ask: each is a tool, `ask_` and the name. */
  subAgents: agentNamesSchema,
  /** Names of agents that it may hand the conversation over to: `transfer_to_` and the name. */
  handoffs: agentNamesSchema,
  /** How tools are written for the model; `auto` is native function calling if the model can, else react. */
  protocol: nameSchema.default('auto'),
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
  budgets: budgetsSchema.optional(),
  /** What it may not do, beside what the security policy says: parts of one, docs/policies.md. */
  guardrails: guardrailsSchema.optional(),
  /** Names of tools, with `*` for any characters, of which every call needs a person, whatever the tool says itself. */
  approvals: z.array(nameSchema).default([]),
});

/** With all defaults but that of its tools. */
export type Parsed = z.output<typeof agentDefinitionSchema>;
/** An agent, whole: every default filled in. */
export type AgentDefinition = Parsed & { readonly tools: NonNullable<Parsed['tools']> };
/** An agent as it is written. */
export type AgentDefinitionInput = z.input<typeof agentDefinitionSchema>;

/** A definition with the tools that it has by default. */
export function withTools(parsed: Parsed): AgentDefinition {
  const { tools = parsed.mcpServers.some(({ enabled }) => enabled) ? [] : '*' } = parsed;
  return { ...parsed, tools };
}

/** The limits of definitions that were stored before they had memory rules. */
const FORMER_LIMITS = { maxMessages: 50, maxContextTokens: 4000 };

/** What older definitions may lack. */
type Added = 'subAgents' | 'handoffs' | 'mcpServers' | 'approvals';
type StoredDefinition = Omit<AgentDefinition, 'waiting' | 'memory' | Added> &
  Partial<Pick<AgentDefinition, Added>> & {
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
    mcpServers = [],
    approvals = [],
    ...stored
  } = JSON.parse(content) as StoredDefinition;
  const isOld = !('policy' in memory);
  const rules = isOld ? FORMER_LIMITS : memory;
  return {
    ...stored,
    subAgents,
    handoffs,
    mcpServers,
    approvals,
    waiting: waitingRulesSchema.parse(waiting),
    memory: memoryRulesSchema.parse(rules),
  };
}
