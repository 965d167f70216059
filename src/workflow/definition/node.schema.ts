import { z } from 'zod';
import { agentDefinitionSchema, DEFAULT_EXPIRY_MS } from '../../agent/definition/index.js';
import { conditionSchema, templateSchema } from './condition.schema.js';

/** Valid node ids. */
const ID = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,47}$/, 'must begin with a letter and be 1 to 48 of A-Z a-z 0-9 _ -')
  .refine((id) => !RESERVED.has(id), 'is reserved: name it otherwise');

/** Roots of placeholders such as `{{input.text}}` that are not node ids. */
const RESERVED: ReadonlySet<string> = new Set(['input', 'item', 'index']);

/** Maximum delay before the first retry, in ms. */
const MAX_DELAY_MS = 3_600_000;

const agentShape = agentDefinitionSchema.shape;

/** Fields of every node. */
const COMMON = { description: z.string().optional() };

const RETRIED = {
  ...COMMON,
  /** Retries after a failure. */
  retry: z
    .strictObject({
      /** Maximum attempts, including the first. */
      attempts: z.int().min(1).max(20),
      /** Delay before the first retry, in ms; doubles with each further retry. */
      delayMs: z.int().min(0).max(MAX_DELAY_MS).default(1000),
    })
    .optional(),
};

/** Fields of nodes with an answer, which may be truncated, filtered, or stopped by a limit. */
const ANSWERED = {
  ...RETRIED,
  /** After an incomplete answer: `fail` fails the node, `accept` uses the answer and marks the run as incomplete. */
  onIncomplete: z.enum(['fail', 'accept']).default('fail'),
};

const llmShape = {
  ...ANSWERED,
  type: z.literal('llm'),
  /** The user message; default `{{input.prompt}}`. */
  prompt: z.string().default('{{input.prompt}}'),
  instructions: z.string().default(''),
  /** As in an agent's definition; omitted settings are the server's own. */
  model: agentShape.model.partial({ provider: true }).prefault({}),
  responseFormat: agentShape.responseFormat,
  /** Streams the message in a child run if other nodes may stream at the same time. */
  streams: z.boolean().default(false),
};

const agentNodeShape = {
  ...ANSWERED,
  type: z.literal('agent'),
  /** Name of a registered agent, or a definition without a name, whose omitted model settings are the server's own. */
  agent: z.union([z.string().min(1), z.record(z.string(), z.unknown())]),
  /** The user message; default: the input's `message` or `query`. */
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
  /** Name given by `@WorkflowCode`. */
  code: z.string().min(1),
  arguments: z.record(z.string(), templateSchema).default({}),
};

const humanShape = {
  ...COMMON,
  type: z.literal('human'),
  /** Approval, or an answer. */
  asks: z.enum(['approval', 'input']),
  /** Text for the person. */
  question: z.string().regex(/\S/, 'must not be blank'),
  /** Data shown beside the question. */
  show: templateSchema.optional(),
  /** JSON Schema of an answer; default: any JSON value. */
  schema: z.record(z.string(), z.unknown()).optional(),
  /** Time to live of the request, in ms; `null` for no expiry. */
  expiresMs: z.int().min(1).nullable().default(DEFAULT_EXPIRY_MS),
  /** After a denial: `fail` fails the node, `continue` outputs `approved: false`. */
  onDenied: z.enum(['fail', 'continue']).default('fail'),
};

const branchShape = {
  ...COMMON,
  type: z.literal('branch'),
  /** The first case whose conditions hold selects the next node. */
  cases: z
    .array(
      z.strictObject({
        when: z.union([conditionSchema, z.array(conditionSchema).min(1)]),
        to: z.string().min(1),
      }),
    )
    .min(1),
  /** Next node if no case holds; default: none. */
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
  /** A list: a placeholder such as `{{load.result}}`. */
  over: templateSchema,
  /** The work for each item, with `{{item}}` and the 0-based `{{index}}`. */
  node: workSchema,
  /** Maximum items executed in parallel. */
  concurrency: z.int().min(1).max(64).default(8),
  /** After a failed item: `fail` fails the node, `keep` stores the error as the item's result. */
  onItemError: z.enum(['fail', 'keep']).default('fail'),
};

/** Fields that place a node in the graph. */
const PLACE = {
  id: ID,
  /** Predecessors; default: the nodes that its placeholders name, none for a target of a branch or fallback. */
  after: z.array(z.string().min(1)).optional(),
  /** After a failure: `fail` fails the workflow, `fallback` continues with another node. */
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

/** A node with all defaults. */
export type NodeDefinition = z.output<typeof nodeSchema>;
/** A node as input. */
export type NodeInput = z.input<typeof nodeSchema>;
/** The work of a node, or of each item of a map. */
export type WorkDefinition = z.output<typeof workSchema>;
export type DefinedNode<Type extends NodeDefinition['type']> = Extract<NodeDefinition, { type: Type }>;
export type Work<Type extends WorkDefinition['type']> = Extract<WorkDefinition, { type: Type }>;
