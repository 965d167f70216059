import { z } from 'zod';

/** A part of a message, of any type: members that a type lacks are absent. */
const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  mediaType: z.string().optional(),
  url: z.string().optional(),
  toolCallId: z.string().min(1).max(200).optional(),
  toolName: z.string().optional(),
  state: z.string().optional(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().nullish(),
  providerExecuted: z.boolean().nullish(),
  approval: z.looseObject({ id: z.string(), approved: z.boolean().nullish(), reason: z.string().nullish() }).nullish(),
});

const message = z.looseObject({
  id: z.string().max(200),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(part),
});

const tool = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
});

const name = z.string().min(1).max(200).nullish();

/**
 * Body of `POST /api/agent/ui`: what `DefaultChatTransport` sends, and the members of its `body` that Jackdaw has. A page may
 * send further members, which are ignored.
 */
export const uiRequestSchema = z.looseObject({
  /** The id of the chat. */
  id: z.string().min(1).max(200),
  messages: z.array(message).min(1),
  trigger: z.string().nullish(),
  messageId: z.string().nullish(),
  agent: name,
  model: name,
  sessionId: name,
  /** Tools that the page executes. */
  tools: z.array(tool).nullish(),
  /** Whether the run continues when the page disconnects, as a page that resumes streams needs. */
  resume: z.boolean().nullish(),
});

export type UiRequest = z.output<typeof uiRequestSchema>;
export type UiMessage = UiRequest['messages'][number];
export type UiPart = UiMessage['parts'][number];
