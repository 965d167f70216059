import { z } from 'zod';
import { AppError } from '../../errors/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import type { ChatRequest } from '../../llm/chat/index.js';
import { isTerminal, type TerminalEvent } from '../event/run-event.types.js';

/** The version of the format that this code writes and reads. */
export const EXPORT_VERSION = 1;

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

const times = { created_at: z.number() };
const json = z.unknown();
const hashSchema = z.string().nullable();

const childSchema = z.object({
  kind: z.literal('ended'),
  end: z.custom<TerminalEvent>((value) => isTerminal(value as TerminalEvent)),
  agent: z.string(),
  durationMs: z.number(),
});

const exportedRunSchema = z.object({
  version: z.literal(EXPORT_VERSION),
  run_id: z.string(),
  kind: z.string(),
  agent: z.string(),
  status: z.string(),
  session_id: z.string().nullable(),
  forked_from: z.string().nullable(),
  lineage: z
    .object({
      parentRunId: z.string(),
      parentStep: z.string(),
      rootRunId: z.string(),
      rootSessionId: z.string().nullable(),
      depth: z.number(),
    })
    .nullable(),
  loop_version: z.number(),
  timeout_ms: z.number(),
  created_at: z.number(),
  finished_at: z.number().nullable(),
  principal: z.object({
    id: z.string(),
    tenant: z.string(),
    roles: z.array(z.string()),
    scopes: z.array(z.string()).optional(),
  }),
  input: json,
  definition: json,
  steps: z.array(
    z.object({
      position: z.number(),
      name: z.string(),
      kind: z.string(),
      subject: z.string(),
      result: json,
      epoch: z.number(),
      ...times,
      started_at: z.number().nullable(),
      first_token_ms: z.number().nullable(),
      attempts: z.number().nullable(),
    }),
  ),
  events: z.array(z.object({ n: z.number(), type: z.string(), data: json, ...times })),
  /** The requests of its model calls, rebuilt by the exporting server. */
  requests: z.array(
    z.object({
      step: z.string(),
      form: z.enum(['provider', 'model']),
      body: z.custom<object>(isObject),
      /** `provider:model`. Absent in exports of earlier versions, as `request`. */
      model: z.string().optional(),
      /** As the model received it; absent for the form `model`, whose `body` it is. */
      request: z.custom<ChatRequest>(isObject).optional(),
      /** Of `body` as JSON; `null` for the form `model`. */
      hash: hashSchema,
      /** Of the body that was sent last; `null` if none was sent. */
      sent_hash: hashSchema,
    }),
  ),
  /** The decisions of the exporting server about its recorded calls. */
  calls: z.array(
    z.object({
      step: z.string(),
      tool: z.string(),
      arguments: z.string(),
      decision: z.enum(['run', 'approval', 'rejected']),
      isCoverable: z.boolean().optional(),
      code: z.string().optional(),
      reason: z.string().optional(),
      input: json.optional(),
    }),
  ),
  /** The earlier turns that the run has read; `null` if it has read none. */
  history: json,
  files: z.array(
    z.object({
      n: z.number(),
      media_type: z.string(),
      data: z.string(),
      name: z.string().optional(),
      prefix: z.string().optional(),
    }),
  ),
  /** The ends of its child runs, by id. */
  children: z.record(z.string(), childSchema),
});

/** A run with its journal, and everything that a replay needs. Times are epoch ms. */
export type ExportedRun = z.output<typeof exportedRunSchema>;

/** Parses the text of an export. @throws AppError `VALIDATION_FAILED` */
export function parseExportedRun(text: string): ExportedRun {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (cause) {
    throw new AppError('VALIDATION_FAILED', 'The export of a run is no JSON: export the run again.', { cause });
  }
  const version = (value as { readonly version?: unknown } | null)?.version;
  if (version !== EXPORT_VERSION) {
    const found = version === undefined ? 'has no version' : `has version ${JSON.stringify(version)}`;
    const message = `This is no export of a run that this version of Jackdaw reads: it ${found}, not ${EXPORT_VERSION}. Write it with \`jackdaw runs export\`.`;
    throw new AppError('VALIDATION_FAILED', message);
  }
  const parsed = exportedRunSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError('VALIDATION_FAILED', `The export of the run is damaged:\n${z.prettifyError(parsed.error)}`);
}
