import type { JsonSchema, JsonValue } from '../kernel/json/index.js';
import type { SuspendOptions, SuspensionAnswer } from '../tool/index.js';
import type { RemoteInterrupt, RemoteTask } from './remote-task.mapper.js';

/** Data that a call stores with its question: the remote task, and the interrupts that the answer is for. */
export type RemoteMemo = {
  readonly taskId: string;
  readonly contextId: string;
  readonly interruptIds: readonly string[];
};

/** Maximum length of a remote question, in UTF-16 units. */
const MAX_QUESTION = 4_000;

/**
 * The question of a remote task as a question to a person here. Several interrupts become one question, whose answer has a
 * member for each.
 */
export function toQuestion(agent: string, { id, contextId, text, interrupts }: RemoteTask): SuspendOptions {
  const memo: RemoteMemo = { taskId: id, contextId, interruptIds: interrupts.map((interrupt) => interrupt.id) };
  const asked = text === '' ? 'It needs an input.' : text.slice(0, MAX_QUESTION);
  const schema = schemaOf(interrupts);
  return {
    question: `Remote agent "${agent}" asks: ${asked}`,
    memo: memo as unknown as JsonValue,
    takesDenial: true,
    ...(schema && { schema }),
  };
}

/** Without interrupts, which only a Jackdaw names, the answer is a text. */
function schemaOf(interrupts: readonly RemoteInterrupt[]): JsonSchema | undefined {
  const [only, other] = interrupts;
  if (!only) return { type: 'string' };
  if (!other) return only.schema;
  return {
    type: 'object',
    properties: Object.fromEntries(interrupts.map(({ id, schema = {} }) => [id, schema])),
    required: interrupts.map(({ id }) => id),
  };
}

/** The parts of the message that answers a remote task. A denied question abandons its interrupts. */
export function toAnswerParts({ interruptIds }: RemoteMemo, { value, denied }: SuspensionAnswer): object[] {
  if (interruptIds.length === 0) return [{ text: typeof value === 'string' ? value : JSON.stringify(value) }];
  const isOne = interruptIds.length === 1;
  const resume = interruptIds.map((interruptId) => {
    if (denied) return { interruptId, status: 'cancelled' };
    const payload = isOne ? value : (value as Readonly<Record<string, JsonValue>> | null)?.[interruptId];
    return { interruptId, status: 'resolved', payload };
  });
  return [{ data: { resume } }];
}
