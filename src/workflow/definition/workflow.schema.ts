import { z } from 'zod';
import { templateSchema } from './condition.schema.js';
import { nodeSchema } from './node.schema.js';

const MAX_NODES = 500;

/** What a workflow is. Unknown fields are refused; what is left out has the default named here. */
export const workflowSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  description: z.string().default(''),
  /** The JSON Schema of its input; any object without it. Its defaults fill in fields that a caller leaves out. */
  input: z.record(z.string(), z.unknown()).optional(),
  nodes: z.array(nodeSchema).min(1).max(MAX_NODES),
  /** What it gives; what its last nodes gave when left out. */
  output: templateSchema.optional(),
  limits: z
    .strictObject({
      /** The longest one execution of a run may take, in ms. */
      runTimeoutMs: z.int().min(1).max(2_147_483_647).default(300_000),
      /** How many nodes at the same time. */
      concurrency: z.int().min(1).max(64).default(8),
      /** UTF-8 bytes of what one node gives. */
      maxOutputBytes: z.int().min(64).max(16_777_216).default(1_048_576),
    })
    .prefault({}),
});

/** A workflow, whole: every default filled in. */
export type WorkflowDefinition = z.output<typeof workflowSchema>;
/** A workflow as it is written. */
export type WorkflowInput = z.input<typeof workflowSchema>;
