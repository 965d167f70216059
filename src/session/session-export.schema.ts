import { z } from 'zod';
import { MAX_MISTAKES } from '../kernel/index.js';
import { isBase64, parseImage } from '../kernel/media/index.js';
import type { SessionMessage, SessionRecord, StoredTurn } from './session.types.js';

type Issue = z.core.$ZodIssue;

/** An array whose check stops at the hundredth error: an import may contain millions. */
function arrayOf<T extends z.ZodType>(element: T) {
  return z.array(z.unknown()).transform((values, context): z.output<T>[] => {
    const list: z.output<T>[] = [];
    for (const [at, value] of values.entries()) {
      const { data, error } = element.safeParse(value);
      if (!error) list.push(data);
      for (const issue of error?.issues ?? []) context.issues.push({ ...issue, path: [at, ...issue.path] } as RawIssue);
      if (context.issues.length >= MAX_MISTAKES) break;
    }
    return list;
  });
}
type RawIssue = z.core.$ZodRawIssue;

const metadata = z.record(z.string(), z.unknown());
const said = {
  at: z.int().min(0).optional(),
  metadata: metadata.optional(),
};
const toolCall = z.strictObject({ id: z.string().min(1), name: z.string().min(1), arguments: z.string() });
const signed = z.strictObject({
  provider: z.string(),
  model: z.string(),
  blocks: arrayOf(
    z.strictObject({ value: z.record(z.string(), z.unknown()), text: z.int().min(0), calls: z.int().min(0) }),
  ),
});
const image = z.strictObject({
  type: z.literal('image'),
  url: z.string().transform((url, context) => {
    const read = parseImage(url);
    if (typeof read === 'string') context.addIssue({ code: 'custom', message: `Invalid image: ${read}` });
    return typeof read === 'string' ? url : read.url;
  }),
});
const audio = z.strictObject({
  type: z.literal('audio'),
  url: z.string().refine((url) => {
    const prefix = /^data:audio\/(?:wav|mpeg);base64,/.exec(url)?.[0];
    return prefix !== undefined && prefix.length < url.length && isBase64(url.slice(prefix.length));
  }, 'must be a base64 data URI of WAV or MP3'),
});
const part = z.discriminatedUnion('type', [z.strictObject({ type: z.literal('text'), text: z.string() }), image]);

/** The reason for an unreadable image; otherwise a sentence that is clearer than the issues of both forms. */
function contentProblem({ errors }: { readonly errors?: readonly (readonly Issue[])[] }): string {
  const custom = errors?.flat().find(({ code }) => code === 'custom');
  return custom?.message ?? 'Invalid input: expected a text, or its parts';
}

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string(), ...said }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), arrayOf(part)], { error: contentProblem }),
    ...said,
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string(),
    reasoning: z.string().optional(),
    signed_reasoning: signed.optional(),
    tool_calls: arrayOf(toolCall).optional(),
    ...said,
  }),
  z.strictObject({
    role: z.literal('tool'),
    tool_call_id: z.string().min(1),
    name: z.string(),
    content: z.string(),
    images: arrayOf(image).optional(),
    audio: arrayOf(audio).optional(),
    ...said,
  }),
]);

/** A file to which the messages of the turn refer; `bytes` is its size. */
const file = z.strictObject({
  n: z.int().min(1).max(1_000_000),
  media_type: z.string().max(200),
  bytes: z.int().min(0),
  name: z.string().max(200).optional(),
  data: z.base64(),
});

const turn = z.strictObject({
  // Stored in a column, and PostgreSQL stores no NUL.
  run_id: z.string().regex(/^[^\p{Cc}\p{Cs}]{1,64}$/u, 'must be 1 to 64 characters, without control characters'),
  status: z.enum(['completed', 'failed', 'cancelled']),
  created_at: z.int().min(0),
  pinned: z.boolean().optional(),
  messages: arrayOf(message).refine((all) => all.length > 0, { message: 'a turn has at least one message' }),
  files: arrayOf(file)
    .refine((all) => all.length <= 1000, { message: 'a turn has at most 1000 files' })
    .refine((all) => new Set(all.map(({ n }) => n)).size === all.length, { message: 'each file has an n of its own' })
    .optional(),
});

/** A session as a file, exported and imported. Times are epoch ms. */
export const sessionExportSchema = z.strictObject({
  version: z.literal(1),
  session: z.strictObject({
    id: z.string(),
    owner: z.string(),
    created_at: z.int().min(0),
    updated_at: z.int().min(0),
    metadata,
    is_tainted: z.boolean().optional(),
    is_private: z.boolean().optional(),
  }),
  turns: arrayOf(turn).refine((all) => new Set(all.map(({ run_id }) => run_id)).size === all.length, {
    message: 'each turn has a run_id of its own',
  }),
  /** HMAC-SHA256 of this installation over the other fields, in base64url. */
  signature: z.string().max(200).optional(),
});

export type SessionExport = z.output<typeof sessionExportSchema>;
export type ExportedFile = z.output<typeof file>;
type ExportedTurn = SessionExport['turns'][number];
type ExportedMessage = ExportedTurn['messages'][number];

/** @param files those of the turns, by run */
export function toExport(
  session: SessionRecord,
  turns: readonly StoredTurn[],
  pinned: number,
  files: ReadonlyMap<string, ExportedFile[]>,
): SessionExport {
  return {
    version: 1,
    session: {
      id: session.id,
      owner: session.owner,
      created_at: session.createdAt,
      updated_at: session.updatedAt,
      metadata: { ...session.metadata },
      ...(session.taintedTurn !== null && { is_tainted: true }),
      ...(session.privateTurn !== null && { is_private: true }),
    },
    turns: turns.map(({ runId, status, createdAt, mark, messages }) => ({
      run_id: runId,
      status,
      created_at: createdAt,
      ...(mark === pinned && { pinned: true }),
      messages: messages.map(toExported),
      ...(files.has(runId) && { files: files.get(runId) }),
    })),
  };
}

export function toMessages({ messages }: ExportedTurn): SessionMessage[] {
  return messages.map((one): SessionMessage => {
    if (one.role === 'tool') {
      const { tool_call_id: toolCallId, ...rest } = one;
      return defined({ ...rest, toolCallId });
    }
    if (one.role !== 'assistant') return defined(one);
    const { tool_calls: toolCalls, signed_reasoning: signedReasoning, ...rest } = one;
    return defined({ ...rest, signedReasoning, toolCalls });
  });
}

function toExported(one: SessionMessage): ExportedMessage {
  if (one.role === 'tool') {
    const { toolCallId, ...rest } = one;
    return { ...rest, tool_call_id: toolCallId } as ExportedMessage;
  }
  if (one.role !== 'assistant') return one as ExportedMessage;
  const { toolCalls, signedReasoning, ...rest } = one;
  return {
    ...rest,
    ...(signedReasoning && { signed_reasoning: signedReasoning }),
    ...(toolCalls && { tool_calls: toolCalls }),
  } as ExportedMessage;
}

/** Removes fields with the value `undefined`. */
function defined(one: object): SessionMessage {
  return Object.fromEntries(
    Object.entries(one).filter(([, value]) => value !== undefined),
  ) as unknown as SessionMessage;
}
