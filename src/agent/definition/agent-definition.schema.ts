import { z } from 'zod';
import { EFFORTS } from '../../config/index.js';
import { ID_RULE, isId } from '../../kernel/index.js';
import { guardrailsSchema } from '../../tool-policy/index.js';
import type { OfferedSkill } from '../skills/skill.registry.js';
import { readFormat, type GivenFormat } from '../answer/response-format.mapper.js';

const SEED_LIMIT = 2_147_483_648;

const isSaying = (text: string): boolean => text.trim() !== '';
/** Name of something defined elsewhere. */
const nameSchema = z.string().refine(isSaying, 'must not be blank');

/** Generation parameters of a model call. */
export const modelParametersSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  /** Maximum length of a reply, in tokens. */
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
  /** Reasoning effort, mapped to the nearest level of the model. */
  effort: z.enum(EFFORTS).optional(),
});

const capabilitiesSchema = z.strictObject({
  vision: z.boolean().optional(),
  imageUrls: z.boolean().optional(),
  audio: z.boolean().optional(),
  functionCalling: z.boolean().optional(),
  jsonMode: z.boolean().optional(),
  forcedToolChoice: z.boolean().optional(),
});

/** Seven days, in ms. */
export const DEFAULT_EXPIRY_MS = 604_800_000;

/** Behaviour of calls that wait for a person. */
export const waitingRulesSchema = z.strictObject({
  /** Time to live of a request, in ms; `null` for no expiry. */
  expiresMs: z.int().min(1).nullable().default(DEFAULT_EXPIRY_MS),
  /** After a denial: `continue` returns the denial to the model, `end` ends the run. */
  onDenied: z.enum(['continue', 'end']).default('continue'),
  /** The same after a request expired. */
  onExpired: z.enum(['continue', 'end']).default('continue'),
});

/** Memory policy: the part of the session history that a run loads. */
export const memoryRulesSchema = z.strictObject({
  /** False: a run loads no history; the session still stores the turns. */
  enabled: z.boolean().default(true),
  /** `sliding_window`, `fixed_window`, `lru`, `token_budget`, `summary`, or a policy of the application. */
  policy: z.string().regex(/\S/, 'must not be blank').default('sliding_window'),
  /** Default 200. */
  maxMessages: z.int().min(0).max(1_000_000).optional(),
  /**
   * Default: a quarter of the smallest context window of the models, at most 16,000; 8,000 if no window is known. In
   * tokens.
   */
  maxContextTokens: z.int().min(0).max(100_000_000).optional(),
  /** Whether earlier tool calls and their results are loaded. */
  includeToolCalls: z.boolean().default(true),
  /** With `fixed_window`: number of first messages that are always included. */
  keepFirst: z.int().min(0).max(10_000).default(10),
});

/** Format of the final answer. A Standard Schema is stored as its JSON Schema, because definitions are stored. */
const responseFormatSchema = z.custom<GivenFormat>().transform((value, context) => {
  const read = readFormat(value);
  if ('format' in read) return read.format;
  context.addIssue(read.problem);
  return z.NEVER;
});

const isEachOnce = (names: readonly string[]): boolean => new Set(names).size === names.length;
const agentNamesSchema = z.array(nameSchema).refine(isEachOnce, 'must name each agent once').default([]);

/** Default nesting depth of agent calls. */
const DEFAULT_MAX_DEPTH = 3;

/** An MCP server, whose tools are named `name__*`. */
const mcpServerSchema = z.strictObject({ name: nameSchema, enabled: z.boolean().default(true) });
/** A name alone means enabled. */
const mcpMentionSchema = z
  .union([z.string(), z.custom<z.input<typeof mcpServerSchema>>((value) => typeof value === 'object')])
  .transform((value) => (typeof value === 'string' ? { name: value } : value))
  .pipe(mcpServerSchema);

const budgetSchema = z
  .strictObject({
    tokens: z.int().min(0).max(1_000_000_000_000_000).optional(),
    /** In the currency of `LLM_PRICES`. */
    cost: z.number().min(0).max(1_000_000).optional(),
  })
  .refine(({ tokens, cost }) => tokens !== undefined || cost !== undefined, 'must have tokens, cost, or both');

/** Budgets in addition to the server's (`BUDGET_…`): a model call that could exceed one is refused. */
const budgetsSchema = z.strictObject({
  /** One run, including its child runs. */
  run: budgetSchema.optional(),
  /** All runs of the agent in one session. */
  session: budgetSchema.optional(),
  /** All runs of the agent for one tenant, per day. */
  tenantDay: budgetSchema.optional(),
  /** All runs of the agent, per day. */
  day: budgetSchema.optional(),
});

/** An agent's definition. Unknown fields are refused; omitted fields have the defaults below. */
export const agentDefinitionSchema = z.strictObject({
  name: z
    .string()
    .refine(isId, `must be ${ID_RULE}`)
    // Runs of workflows have names with this prefix.
    .refine((name) => !name.startsWith('workflow:'), 'must not begin with "workflow:"')
    // For editors; the exact rule needs Unicode properties.
    .meta({ pattern: String.raw`^[^\s/]+$` }),
  description: z.string().default(''),
  instructions: z
    .string()
    .refine(isSaying, 'must not be blank: leave them out, or say something')
    .default(
      'You are a helpful assistant. Use the tools you have when they help; answer in the language of the question.',
    ),
  model: z.strictObject({
    /** One of the providers of `LLM_PROVIDER`. */
    provider: nameSchema,
    /** Default: the provider's default model. */
    name: nameSchema.optional(),
    parameters: modelParametersSchema.default({}),
    /** Overrides the known capabilities of the model. */
    capabilities: capabilitiesSchema.optional(),
    /** Fallback models, in order; default: `LLM_FALLBACK`. */
    fallback: z.array(z.strictObject({ provider: nameSchema, name: nameSchema.optional() })).optional(),
    /** Maximum attempts of a model call; default: `LLM_MAX_ATTEMPTS`. */
    maxAttempts: z.int().min(1).max(20).optional(),
  }),
  /**
   * Tool names, with `*` for any characters; `'*'` alone selects all tools. Default: the tools of the agent's enabled
   * MCP servers; all tools if it has none.
   */
  tools: z.union([z.literal('*'), z.array(nameSchema)]).optional(),
  /**
   * Whether the model calls tools by JavaScript scripts, which make several calls in one reply (experimental);
   * docs/code-mode.md. Agents and tools of clients stay direct.
   */
  codeMode: z.boolean().optional(),
  /**
   * Declared MCP servers, by name. The agent has all tools of an enabled server, and none of a server with
   * `enabled: false`, whatever `tools` lists.
   */
  mcpServers: z
    .array(mcpMentionSchema)
    .refine((servers) => isEachOnce(servers.map(({ name }) => name)), 'must name each server once')
    .default([]),
  /** Names of agents that it may call, each as the tool `ask_<name>`. */
  subAgents: agentNamesSchema,
  /** Names of agents that it may hand the conversation over to, each as the tool `transfer_to_<name>`. */
  handoffs: agentNamesSchema,
  /** Names of skills, with `*` for any characters; docs/skills.md. */
  skills: z.array(nameSchema).default([]),
  /** Tool-call protocol; `auto` is native function calling if the model supports it, else react. */
  protocol: nameSchema.default('auto'),
  /** `json`, or a schema: the answer is parsed and validated, and its value is `output`. Default: any text. */
  responseFormat: responseFormatSchema.optional(),
  memory: memoryRulesSchema.prefault({}),
  limits: z
    .strictObject({
      /** Maximum iterations of the loop in a run. */
      maxIterations: z.int().min(1).max(1000).default(10),
      /** Maximum duration of one execution of a run, in ms. */
      runTimeoutMs: z.int().min(1).max(2_147_483_647).default(300_000),
      /** Maximum size of one tool result, in UTF-8 bytes; a longer result is cut. */
      maxResultBytes: z.int().min(64).default(65_536),
      /** Maximum nesting depth of runs that call agents; 0 permits no agent calls. */
      maxDepth: z.int().min(0).max(16).default(DEFAULT_MAX_DEPTH),
      /** Maximum tools that the model gets from the start; of more tools, some are deferred (docs/tools.md). */
      maxTools: z.int().min(1).max(1_000_000).default(40),
      /** The same for the tokens of their names, descriptions and schemas. */
      maxToolTokens: z.int().min(1).max(100_000_000).default(8_000),
    })
    .prefault({}),
  waiting: waitingRulesSchema.prefault({}),
  budgets: budgetsSchema.optional(),
  /** Restrictions in addition to the security policy: a subset of its fields; see docs/policies.md. */
  guardrails: guardrailsSchema.optional(),
  /** Tool names, with `*` for any characters: every call of these tools needs approval, whatever the tool requires. */
  approvals: z.array(nameSchema).default([]),
});

/** All defaults except that of `tools`. */
export type Parsed = z.output<typeof agentDefinitionSchema>;
/** An agent's definition with all defaults. */
export type AgentDefinition = Parsed & {
  readonly tools: NonNullable<Parsed['tools']>;
  /** The selected skills as its model sees them, resolved with the definition; absent without any. */
  readonly offeredSkills?: readonly OfferedSkill[];
};
/** An agent's definition as input. */
export type AgentDefinitionInput = z.input<typeof agentDefinitionSchema>;

/** Fills in the default of `tools`. */
export function withTools(parsed: Parsed): AgentDefinition {
  const { tools = parsed.mcpServers.some(({ enabled }) => enabled) ? [] : '*' } = parsed;
  return { ...parsed, tools };
}

/** Limits of definitions that were stored before memory rules existed. */
const FORMER_LIMITS = { maxMessages: 50, maxContextTokens: 4000 };

/** Fields that older definitions may lack. */
type Added = 'subAgents' | 'handoffs' | 'mcpServers' | 'approvals' | 'skills';
type StoredDefinition = Omit<AgentDefinition, 'waiting' | 'memory' | Added> &
  Partial<Pick<AgentDefinition, Added>> & {
    readonly waiting?: unknown;
    readonly memory?: object;
  };

/** Reads a definition from the journal; fields that did not exist when it was stored get their defaults. */
export function parseStoredDefinition(content: string): AgentDefinition {
  const {
    waiting = {},
    memory = {},
    subAgents = [],
    handoffs = [],
    mcpServers = [],
    approvals = [],
    skills = [],
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
    skills,
    waiting: waitingRulesSchema.parse(waiting),
    memory: memoryRulesSchema.parse(rules),
  };
}
