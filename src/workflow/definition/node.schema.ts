import { z } from 'zod';
import { agentDefinitionSchema, DEFAULT_EXPIRY_MS } from '../../agent/index.js';
import { conditionSchema, templateSchema } from './condition.schema.js';

/** What may be the id of a node. */
const ID = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,47}$/, 'must begin with a letter and be 1 to 48 of A-Z a-z 0-9 _ -')
  .refine((id) => !RESERVED.has(id), 'is reserved: name it otherwise');

/** What a place such as `{{input.text}}` may begin with beside a node. */
const RESERVED: ReadonlySet<string> = new Set(['input', 'item', 'index']);

/** How long a retry waits at most, in ms. */
const MAX_DELAY_MS = 3_600_000;

const agentShape = agentDefinitionSchema.shape;

/** What every node may have. */
const COMMON = { description: z.string().optional() };

const RETRIED = {
  ...COMMON,
  /** Tried again when it fails. */
  retry: z
    .strictObject({
      /** How often it is tried in all. */
      attempts: z.int().min(1).max(20),
      /** How long the first retry waits, in ms; each later one twice as long. */
      delayMs: z.int().min(0).max(MAX_DELAY_MS).default(1000),
    })
    .optional(),
};

/** A node that asks a model or an agent: its answer may be cut off, filtered, or stopped by a limit. */
const ANSWERED = {
  ...RETRIED,
  /** Whether an answer that is not whole fails the node, or is accepted: the run is not whole then. */
  onIncomplete: z.enum(['fail', 'accept']).default('fail'),
};

const llmShape = {
  ...ANSWERED,
  type: z.literal('llm'),
  /** What the model is asked; `{{input.prompt}}` when left out. */
  prompt: z.string().default('{{input.prompt}}'),
  instructions: z.string().default(''),
  /** As of an agent; what is left out is as the server's own. */
  model: agentShape.model.partial({ provider: true }).prefault({}),
  responseFormat: agentShape.responseFormat,
  /** Whether its message can be followed as it comes though another model may speak at the same time: in a run of its own. */
  streams: z.boolean().default(false),
};

const agentNodeShape = {
  ...ANSWERED,
  type: z.literal('agent'),
  /** The name of one that there is, or a definition without a name: of its model what is left out is as the server's own. */
  agent: z.union([z.string().min(1), z.record(z.string(), z.unknown())]),
  /** What it is asked; the input's `message` or `query` when left out. */
  message: z.string().optional(),
};

const toolShape = {
  ...RETRIED,
  type: z.literal('tool'),
  tool: z.string().min(1),
  arguments: z.record(z.string(), templateSchema).default({}),
};

const codeShape = {
  ...RETRIED,
  type: z.literal('code'),
  /** The name that `@WorkflowCode` gave a provider's method. */
  code: z.string().min(1),
  arguments: z.record(z.string(), templateSchema).default({}),
};

const humanShape = {
  ...COMMON,
  type: z.literal('human'),
  /** Leave to go on, or an answer. */
  asks: z.enum(['approval', 'input']),
  /** What the person reads. */
  question: z.string().regex(/\S/, 'must not be blank'),
  /** What the person is shown beside it. */
  show: templateSchema.optional(),
  /** The JSON Schema of an answer; any JSON value without it. */
  schema: z.record(z.string(), z.unknown()).optional(),
  /** How long it stays open, in ms; `null` for ever. */
  expiresMs: z.int().min(1).nullable().default(DEFAULT_EXPIRY_MS),
  /** Whether the node fails when it is denied, or goes on with `approved: false`. */
  onDenied: z.enum(['fail', 'continue']).default('fail'),
};

const branchShape = {
  ...COMMON,
  type: z.literal('branch'),
  /** The first whose conditions hold says where to go on. */
  cases: z
    .array(
      z.strictObject({
        when: z.union([conditionSchema, z.array(conditionSchema).min(1)]),
        to: z.string().min(1),
      }),
    )
    .min(1),
  /** Where to go on when none holds; nowhere when left out. */
  otherwise: z.string().min(1).optional(),
};

const workSchema = z.discriminatedUnion('type', [
  z.strictObject(llmShape),
  z.strictObject(agentNodeShape),
  z.strictObject(toolShape),
  z.strictObject(codeShape),
  z.strictObject(humanShape),
]);

const mapShape = {
  ...COMMON,
  type: z.literal('map'),
  /** A list: a place such as `{{load.result}}`. */
  over: templateSchema,
  /** What is done with each, as `{{item}}`, the `{{index}}`-th from 0. */
  node: workSchema,
  /** How many at the same time. */
  concurrency: z.int().min(1).max(64).default(8),
  /** Whether the node fails with its first item, or has that item's error as its result. */
  onItemError: z.enum(['fail', 'keep']).default('fail'),
};

/** Where a node stands in the graph. */
const PLACE = {
  id: ID,
  /** Nodes before it; those that it names in places when left out. */
  after: z.array(z.string().min(1)).optional(),
  /** Whether the workflow fails with it, or goes on with another node. */
  onError: z.union([z.literal('fail'), z.strictObject({ fallback: z.string().min(1) })]).default('fail'),
};

export const nodeSchema = z.discriminatedUnion('type', [
  z.strictObject({ ...llmShape, ...PLACE }),
  z.strictObject({ ...agentNodeShape, ...PLACE }),
  z.strictObject({ ...toolShape, ...PLACE }),
  z.strictObject({ ...codeShape, ...PLACE }),
  z.strictObject({ ...humanShape, ...PLACE }),
  z.strictObject({ ...branchShape, ...PLACE }),
  z.strictObject({ ...mapShape, ...PLACE }),
]);

/** A node, whole. */
export type NodeDefinition = z.output<typeof nodeSchema>;
/** A node as it is written. */
export type NodeInput = z.input<typeof nodeSchema>;
/** What a node does, or what is done with each item of a list. */
export type WorkDefinition = z.output<typeof workSchema>;
export type DefinedNode<Type extends NodeDefinition['type']> = Extract<NodeDefinition, { type: Type }>;
export type Work<Type extends WorkDefinition['type']> = Extract<WorkDefinition, { type: Type }>;
