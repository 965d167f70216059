import { isJsonObject, type JsonValue } from '../kernel/json/index.js';
import type { Usage } from '../llm/chat/index.js';

type Given = Readonly<Record<string, unknown>>;

/** The part of a remote task that a call reads. Each member of a reply is read alone, as any of them may be missing. */
export interface RemoteTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: RemoteState;
  /** Text of the status message. */
  readonly text: string;
  /** The interrupts that a Jackdaw names in its status message. */
  readonly interrupts: readonly RemoteInterrupt[];
  readonly result: JsonValue;
  /** Usage of the models of the task, as a Jackdaw reports it at the end. */
  readonly usage?: Usage;
}

export type RemoteState = 'working' | 'input-required' | 'completed' | 'failed' | 'canceled' | 'rejected';

/** A decision that the remote task waits for. */
export interface RemoteInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly schema?: Given;
}

/** Highest number of tokens that a report may have. */
const MAX_COUNT = 1e12;

const STATES: Readonly<Record<string, RemoteState>> = {
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_AUTH_REQUIRED: 'input-required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_REJECTED: 'rejected',
};

/** @returns `undefined` if it is no task */
export function readTask(value: unknown): RemoteTask | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, contextId, status, artifacts, metadata } = value as Given;
  if (typeof id !== 'string' || id === '' || !isJsonObject(status)) return undefined;
  const { state, message } = status as Given;
  const parts = partsOf(message);
  const usage = usageIn(metadata);
  return {
    id,
    contextId: typeof contextId === 'string' ? contextId : '',
    state: (typeof state === 'string' && STATES[state]) || 'working',
    text: textOf(parts),
    interrupts: parts.flatMap(interruptsOf),
    result: toResult(listOf(artifacts).flatMap((artifact) => partsOf(artifact))),
    ...(usage && { usage }),
  };
}

/** The answer of an agent that replies with a message instead of a task. */
export function readMessage(value: unknown): JsonValue | undefined {
  const parts = partsOf(value);
  return parts.length > 0 ? toResult(parts) : undefined;
}

/** A text; the data, if there is no text; both, if the data says more than the text. */
function toResult(parts: readonly Given[]): JsonValue {
  const text = textOf(parts);
  const data = parts.flatMap((part) => ('data' in part ? [part['data'] as JsonValue] : []));
  if (data.length === 0) return text;
  const value = data.length === 1 ? data[0]! : data;
  return text === '' || text === JSON.stringify(value) ? value : { text, data: value };
}

function textOf(parts: readonly Given[]): string {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

function usageIn(metadata: unknown): Usage | undefined {
  const { jackdaw } = (isJsonObject(metadata) ? metadata : {}) as Given;
  const { usage } = (isJsonObject(jackdaw) ? jackdaw : {}) as Given;
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage as Given;
  if (!isCount(promptTokens) || !isCount(completionTokens)) return undefined;
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COUNT;
}

function interruptsOf({ data }: Given): RemoteInterrupt[] {
  if (!isJsonObject(data)) return [];
  return listOf((data as Given)['interrupts']).flatMap((interrupt) => {
    const { id, reason, message, responseSchema: schema } = interrupt;
    if (typeof id !== 'string' || typeof reason !== 'string') return [];
    return [
      {
        id,
        reason,
        ...(typeof message === 'string' && { message }),
        ...(isJsonObject(schema) && { schema }),
      },
    ];
  });
}

function partsOf(holder: unknown): Given[] {
  return isJsonObject(holder) ? listOf((holder as Given)['parts']) : [];
}

function listOf(value: unknown): Given[] {
  return Array.isArray(value) ? value.filter((one): one is Given => isJsonObject(one)) : [];
}
