import { isJsonObject, type JsonSchema } from '../../kernel/index.js';
import type { WaitingRequest } from '../../run/index.js';
import type { AgUiInterrupt } from './ag-ui-event.types.js';
import { toInterruptId } from './ag-ui-id.js';

/** A request that a person decides. */
export interface OpenRequest {
  /** The run that waits: the run of the client, or one below it. */
  readonly runId: string;
  readonly request: WaitingRequest;
  /** The call of the client's run that waits; absent if the whole run does. */
  readonly toolCallId?: string;
}

/** The reasons of AG-UI where it has one. */
const REASONS = {
  approval: 'tool_call',
  input: 'input_required',
  outcome_unknown: 'jackdaw:outcome_unknown',
  restored: 'jackdaw:restored',
  child: 'jackdaw:child',
} as const satisfies Record<WaitingRequest['kind'], string>;

const APPROVAL: JsonSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    editedArgs: { type: 'object', description: 'Replaces the arguments of the call.' },
    reason: { type: 'string', description: 'Why the call is denied.' },
  },
  required: ['approved'],
};
const SETTLEMENT: JsonSchema = {
  type: 'object',
  properties: {
    outcome: { enum: ['retry', 'succeeded', 'failed'] },
    result: { description: 'The result of the call; with "succeeded" only.' },
    error: { type: 'string', description: 'With "failed" only.' },
  },
  required: ['outcome'],
};

export function toInterrupt({ runId, request, toolCallId }: OpenRequest): AgUiInterrupt {
  const { id, kind, tool, question, reason, expires_at: expiresAt } = request;
  const schema = schemaOf(request);
  return {
    id: toInterruptId({ runId, requestId: id }),
    reason: REASONS[kind],
    message: question ?? (tool === '' ? (reason ?? kind) : `${tool}: ${reason ?? kind}`),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(schema && { responseSchema: schema }),
    ...(expiresAt !== null && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { jackdaw: { run_id: runId, request } },
  };
}

function schemaOf({ kind, schema }: WaitingRequest): JsonSchema | undefined {
  switch (kind) {
    case 'approval':
      return APPROVAL;
    case 'outcome_unknown':
      return SETTLEMENT;
    case 'input':
      return isJsonObject(schema) ? schema : undefined;
    case 'child':
    case 'restored':
      return undefined;
  }
}
