import { z } from 'zod';

const part = z.looseObject({ type: z.string(), text: z.string().nullish(), image_url: z.unknown().optional() });
const content = z.union([z.string(), z.array(part)]);

const message = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content,
});
const functionCall = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string().min(1).max(200),
  name: z.string(),
  arguments: z.string(),
});
const functionOutput = z.looseObject({ type: z.literal('function_call_output'), call_id: z.string(), output: content });
const mcpCall = z.looseObject({
  type: z.literal('mcp_call'),
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  output: z.string().nullish(),
  error: z.unknown().optional(),
});
const approval = z.looseObject({
  type: z.literal('mcp_approval_response'),
  approval_request_id: z.string(),
  approve: z.boolean(),
  reason: z.string().nullish(),
});
const reference = z.looseObject({ type: z.literal('item_reference'), id: z.string() });
const KNOWN = new Set([
  'message',
  'function_call',
  'function_call_output',
  'mcp_call',
  'mcp_approval_response',
  'item_reference',
]);
/** Items without meaning for an agent, such as `reasoning`, are ignored: no request fails because of one. */
const other = z.looseObject({ type: z.string().refine((type) => !KNOWN.has(type)) });

const item = z.union([message, functionCall, functionOutput, mcpCall, approval, reference, other]);

const functionTool = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});
/** A group of functions, as Codex sends them. */
const namespace = z.looseObject({ type: z.literal('namespace'), tools: z.array(z.unknown()) });
const tool = z.union([functionTool, namespace, z.looseObject({ type: z.string() })]);

const only = <T extends string | number | boolean>(value: T, why: string) =>
  z.literal(value, `must be ${value}: ${why}`).nullish();

/** Body of `POST /v1/responses`, of the shape in OpenAI's API reference; unknown members are ignored. */
export const responseRequestSchema = z.looseObject({
  model: z.string().min(1).max(200),
  input: z.union([z.string(), z.array(item).min(1)]).optional(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().max(100).nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  store: z.boolean().nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string(), name: z.string().optional() })]).nullish(),
  text: z
    .looseObject({
      format: z
        .looseObject({
          type: z.string(),
          name: z.string().optional(),
          schema: z.record(z.string(), z.unknown()).optional(),
        })
        .nullish(),
    })
    .nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_output_tokens: z.number().int().min(1).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  top_logprobs: only(0, 'the models of agents report none'),
});

export type ResponseRequest = z.output<typeof responseRequestSchema>;
export type InputItem = z.output<typeof item>;
export type MessageItem = z.output<typeof message>;
export type FunctionTool = z.output<typeof functionTool>;
export const functionToolSchema = functionTool;
