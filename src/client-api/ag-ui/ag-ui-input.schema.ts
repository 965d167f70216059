import { z } from 'zod';
import { resumeEntrySchema } from '../interrupts/interrupt.js';

const name = z.string().min(1).max(500);

/** The members of a message are checked by the mapper, for the roles that it knows. */
const message = z.looseObject({ role: z.string(), id: z.string().nullish() });

/**
 * Body of `POST /ag-ui/:agent`: `RunAgentInput` of AG-UI 1.0 and of earlier versions, which lack `protocolVersion`. Unknown
 * members are ignored. @see https://docs.ag-ui.com/sdk/js/core/types
 */
export const agUiInputSchema = z.looseObject({
  threadId: name,
  runId: name,
  protocolVersion: z.string().nullish(),
  parentRunId: name.nullish(),
  state: z.unknown().optional(),
  messages: z.array(message),
  /** Other entries than tools with names are ignored: no request fails because of one. */
  tools: z.array(z.unknown()).nullish(),
  context: z.array(z.looseObject({ description: z.string().nullish(), value: z.unknown().optional() })).nullish(),
  forwardedProps: z.unknown().optional(),
  resume: z.array(resumeEntrySchema).nullish(),
});

export type AgUiInput = z.output<typeof agUiInputSchema>;

export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message as clients store it. */
export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: readonly AgUiToolCall[];
  readonly toolCallId?: string;
  readonly [member: string]: unknown;
}
