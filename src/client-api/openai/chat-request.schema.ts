import { z } from 'zod';

/** A text, or parts of which those without text or image are refused by the mapper. */
const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

const toolCall = z.looseObject({
  id: z.string().min(1).max(200),
  type: z.string().optional(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    tool_calls: z.array(toolCall).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);

const functionTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  }),
});

/** Other types, such as `web_search`, are ignored: no request fails because of one. */
const tool = z.union([functionTool, z.looseObject({ type: z.string().refine((type) => type !== 'function') })]);

const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
]);

const responseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ name: z.string().optional(), schema: z.record(z.string(), z.unknown()).optional() }),
  }),
]);

const only = <T extends string | number | boolean>(value: T, why: string) =>
  z.literal(value, `must be ${value}: ${why}`).nullish();

/**
 * Body of `POST /v1/chat/completions`, of the shape in OpenAI's API reference. Unknown parameters are ignored; those that
 * would change the answer and that Jackdaw lacks are refused.
 */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1).max(200),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  response_format: responseFormat.nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().int().nullish(),
  reasoning_effort: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  n: only(1, 'a run has one answer'),
  logprobs: only(false, 'the models of agents report none'),
  modalities: z.array(z.literal('text', 'must be text: agents do not speak')).nullish(),
  functions: z.null('is not supported: use tools').optional(),
});

export type ChatRequest = z.output<typeof chatRequestSchema>;
export type ChatMessage = ChatRequest['messages'][number];
export type ChatTool = z.output<typeof functionTool>;
