import { z } from 'zod';
import type { AgentRequest, ClientTool } from '../../agent/index.js';
import type { GivenDecision } from '../../agent/decision/index.js';
import type { ToolCall } from '../../llm/chat/index.js';
import { type ClientCall, parseClientCallId } from '../client-call-id.js';
import { type ClientMessage, invalid } from '../client-conversation.js';
import type { ClientDecisions } from '../client-run.service.js';
import { parsedBy } from '../client-request.parser.js';

/** A part of a message, of any type: members that a type lacks are absent. */
const partSchema = z.looseObject({
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

const messageSchema = z.looseObject({
  id: z.string().max(200),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(partSchema),
});

const tool = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
});

const nameSchema = z.string().min(1).max(200).nullish();

/**
 * Body of `POST /api/agent/ui`: what `DefaultChatTransport` sends, and the members of its `body` that Jackdaw has. A page may
 * send further members, which are ignored.
 */
export const uiRequestSchema = z.looseObject({
  /** The id of the chat. */
  id: z.string().min(1).max(200),
  messages: z.array(messageSchema).min(1),
  trigger: z.string().nullish(),
  messageId: z.string().nullish(),
  agent: nameSchema,
  model: nameSchema,
  sessionId: nameSchema,
  /** Tools that the page executes. */
  tools: z.array(tool).nullish(),
  /** Whether the run continues when the page disconnects, as a page that resumes streams needs. */
  resume: z.boolean().nullish(),
});

export type UiRequest = z.output<typeof uiRequestSchema>;
export type UiMessage = UiRequest['messages'][number];
export type UiPart = UiMessage['parts'][number];

/** @throws AppError `VALIDATION_FAILED` with the mistakes */
export function parseUiRequest(body: unknown): UiRequest {
  return parsedBy(uiRequestSchema, body);
}

/** The options of a request beside its messages. */
export function toOptions({ agent, model, sessionId, tools }: UiRequest): Omit<AgentRequest, 'query'> {
  const clientTools = (tools ?? []).map(toClientTool);
  return {
    ...(agent && { agent }),
    ...(model && { model }),
    ...(sessionId && { sessionId }),
    ...(clientTools.length > 0 && { clientTools }),
  };
}

function toClientTool({ name, description, inputSchema }: NonNullable<UiRequest['tools']>[number]): ClientTool {
  return { name, ...(description && { description }), ...(inputSchema && { inputSchema }) };
}

/** The assistant message that the response continues; `undefined` for a response with a message of its own. */
export function continuedMessage({ messages, trigger, messageId }: UiRequest): UiMessage | undefined {
  const named = trigger === 'regenerate-message' ? undefined : messages.find(({ id }) => id === messageId);
  return [named, messages.at(-1)].find((message) => message?.role === 'assistant');
}

/** Decisions of the page, and the run that waits for them. */
export interface GivenDecisions {
  readonly runId: string;
  readonly decisions: ClientDecisions;
  readonly hasApprovals: boolean;
}

/**
 * The approvals and the outputs of the page's tools in the last step of a message.
 * @returns `undefined` without them, or for those of another server
 */
export function decisionsIn({ parts }: UiMessage): GivenDecisions | undefined {
  const given = parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1).flatMap(decisionIn);
  const [first] = given;
  if (!first || given.some(({ runId }) => runId !== first.runId)) return undefined;
  const decisions = new Map(given.map(({ step, decision }) => [step, decision]));
  return { runId: first.runId, decisions, hasApprovals: given.some(({ decision }) => decision.kind !== 'input') };
}

function decisionIn(part: UiPart): readonly (ClientCall & { readonly decision: GivenDecision })[] {
  const { state, approval, toolCallId, providerExecuted: isOfServer } = part;
  if (state === 'approval-responded' && approval) {
    const place = parseClientCallId(approval.id, 'approval');
    const { approved, reason } = approval;
    const decision: GivenDecision = approved ? { kind: 'approve' } : { kind: 'deny', ...(reason && { reason }) };
    return place ? [{ ...place, decision }] : [];
  }
  const place = isOfServer || toolCallId === undefined ? undefined : parseClientCallId(toolCallId);
  const text = resultOf(part);
  if (!place || text === undefined) return [];
  return [{ ...place, decision: { kind: 'input', value: text } }];
}

/** The messages in the form that all protocols of clients have in common. Calls without a result are left out. */
export function toClientMessages(messages: readonly UiMessage[]): ClientMessage[] {
  return messages.flatMap((message, index) => toMessages(message, `messages.${index}`));
}

function toMessages({ role, parts }: UiMessage, at: string): readonly ClientMessage[] {
  switch (role) {
    case 'system':
      return [{ role, text: textsOf(parts), images: [], calls: [], at }];
    case 'user': {
      const images = parts.flatMap((part, index) => imageOf(part, `${at}.parts.${index}`));
      return [{ role, text: textsOf(parts), images, calls: [], at }];
    }
    case 'assistant':
      return roundsOf(parts).flatMap((round) => toRound(round, at));
  }
}

function textsOf(parts: readonly UiPart[]): string {
  return parts.flatMap(({ type, text = '' }) => (type === 'text' ? [text] : [])).join('\n');
}

function imageOf({ type, mediaType = '', url }: UiPart, place: string): readonly string[] {
  if (type !== 'file') return [];
  if (!/^image(\/|$)/.test(mediaType))
    throw invalid(`${place}.mediaType`, `"${mediaType}" is not supported: send images`, mediaType);
  if (url === undefined) throw invalid(`${place}.url`, 'must be a URL or a data URI');
  return [url];
}

/** The parts of an assistant message by model call: texts, then calls. */
function roundsOf(parts: readonly UiPart[]): readonly (readonly UiPart[])[] {
  const rounds: UiPart[][] = [[]];
  for (const part of parts) {
    const last = rounds.at(-1)!;
    if (part.type === 'step-start' || (part.type === 'text' && last.some(isCall))) rounds.push([part]);
    else if (part.type === 'text' || isCall(part)) last.push(part);
  }
  return rounds;
}

function toRound(parts: readonly UiPart[], at: string): readonly ClientMessage[] {
  const text = textsOf(parts);
  const calls = parts.filter(isCall);
  if (text === '' && calls.length === 0) return [];
  const isServer = calls.length > 0 && calls.every(({ providerExecuted: isOfServer }) => isOfServer);
  const base = { images: [], at };
  const results = calls.map((part): ClientMessage => {
    const own = {
      ...base,
      role: 'tool',
      text: resultOf(part) ?? '',
      calls: [],
      callId: part.toolCallId ?? '',
    } as const;
    return part.providerExecuted ? { ...own, isServer: true } : own;
  });
  const said: ClientMessage = { ...base, role: 'assistant', text, calls: calls.map(toCall) };
  return [isServer ? { ...said, isServer } : said, ...results];
}

/** Whether a part is a call with its result. */
function isCall(part: UiPart): boolean {
  const isTool = part.type === 'dynamic-tool' || part.type.startsWith('tool-');
  return isTool && part.toolCallId !== undefined && resultOf(part) !== undefined;
}

function toCall({ type, toolName, toolCallId = '', input = {} }: UiPart): ToolCall {
  const name = type === 'dynamic-tool' ? (toolName ?? '') : type.slice('tool-'.length);
  return { id: toolCallId, name, arguments: typeof input === 'string' ? input : JSON.stringify(input) };
}

/** The result as the model reads it; `undefined` for a call without one. */
function resultOf({ state, output, errorText, approval }: UiPart): string | undefined {
  if (state === 'output-available') return typeof output === 'string' ? output : JSON.stringify(output ?? null);
  if (state === 'output-error') return `Error: ${errorText ?? 'the call failed'}`;
  if (state !== 'output-denied') return undefined;
  return `Error: the call was denied${approval?.reason ? `: ${approval.reason}` : ''}`;
}
