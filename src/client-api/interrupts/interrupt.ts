import { z } from 'zod';
import type { JsonSchema } from '../../kernel/json/index.js';

/** A decision that a run waits for, in the form that the protocols of clients share. */
export interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: JsonSchema;
  /** ISO 8601. */
  readonly expiresAt?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The calls that a client executes, or the decisions that a run waits for. */
export type ClientWait = { readonly calls: readonly string[] } | { readonly interrupts: readonly Interrupt[] };

/** The answer of a client to an interrupt. */
export const resumeEntrySchema = z.looseObject({
  interruptId: z.string().min(1),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});
export type ResumeEntry = z.output<typeof resumeEntrySchema>;

/** An interrupt names the run that waits, and its request. */
export interface InterruptName {
  readonly runId: string;
  readonly requestId: string;
}

const INTERRUPT = /^([\w-]+)\/(.+)$/;

export function toInterruptId({ runId, requestId }: InterruptName): string {
  return `${runId}/${requestId}`;
}

/** @returns `undefined` for an id of another server */
export function parseInterruptId(id: string): InterruptName | undefined {
  const [, runId, requestId] = INTERRUPT.exec(id) ?? [];
  return runId === undefined || requestId === undefined ? undefined : { runId, requestId };
}
