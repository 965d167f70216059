import { z } from 'zod';
import { templateSchema } from './condition.schema.js';
import { nodeSchema } from './node.schema.js';

const MAX_NODES = 500;

/** A workflow definition. Unknown fields are refused; omitted fields have the defaults below. */
export const workflowSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  description: z.string().default(''),
  /** JSON Schema of the input; default: any object. Its defaults fill in omitted fields. */
  input: z.record(z.string(), z.unknown()).optional(),
  nodes: z.array(nodeSchema).min(1).max(MAX_NODES),
  /** Output of the workflow; default: the output of its last nodes. */
  output: templateSchema.optional(),
  limits: z
    .strictObject({
      /** Maximum duration of one execution of a run, in ms. */
      runTimeoutMs: z.int().min(1).max(2_147_483_647).default(300_000),
      /** Maximum nodes executed in parallel. */
      concurrency: z.int().min(1).max(64).default(8),
      /** Maximum output of one node, in UTF-8 bytes of JSON. */
      maxOutputBytes: z.int().min(64).max(16_777_216).default(1_048_576),
    })
    .prefault({}),
});

/** A workflow definition with all defaults. */
export type WorkflowDefinition = z.output<typeof workflowSchema>;
/** A workflow definition as input. */
export type WorkflowInput = z.input<typeof workflowSchema>;
