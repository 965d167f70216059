import { AppError, messageOf } from '../errors/index.js';
import { type JsonValue, parseExactJson } from '../kernel/json/index.js';
import type { SuspendOptions } from './tool.types.js';

/** Maximum size of a memo, in bytes of JSON (UTF-8). */
const MAX_MEMO_BYTES = 65_536;

/**
 * Return value of a tool that asks a person, created by `suspend`. A class, so that plain results cannot be mistaken
 * for it.
 */
export class Suspension {
  constructor(readonly asked: SuspendOptions) {}
}

/**
 * Return value of a tool that cannot determine whether its call took effect. A class, so that plain results cannot be
 * mistaken for it.
 */
export class UnknownOutcome {
  /** @param reason explanation for the person who settles the call */
  constructor(readonly reason: string) {}
}

/**
 * Asks a person: return it from a tool. The run waits, even for days. The tool is then called again with the same input
 * and with `answer` in its context.
 *
 *     if (!answer) return suspend({ question: 'Which of the two flights?', schema: { enum: ['LH1', 'KL2'] } });
 *
 * The call fails with `TOOL_INVALID` if the schema is unusable.
 *
 * @throws AppError `TOOL_INVALID` for a blank question, an invalid time, or a memo that is too long or not JSON
 */
export function suspend(options: SuspendOptions): Suspension {
  const { question, expiresInMs, memo } = options;
  if (typeof question !== 'string' || question.trim() === '') {
    throw new AppError('TOOL_INVALID', 'suspend() needs a question for the person who is to answer.');
  }
  if (expiresInMs !== undefined && !(Number.isInteger(expiresInMs) && expiresInMs > 0)) {
    throw new AppError('TOOL_INVALID', `suspend() got expiresInMs ${expiresInMs}: use whole milliseconds from 1 on.`);
  }
  return new Suspension(memo === undefined ? options : { ...options, memo: asJson(memo) });
}

function asJson(memo: JsonValue): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(memo);
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `suspend() got a memo that is not JSON: ${messageOf(cause)}.`, { cause });
  }
  if (text === undefined)
    throw new AppError('TOOL_INVALID', `suspend() got a memo that is not JSON: a ${typeof memo}.`);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_MEMO_BYTES) return parseExactJson(text) as JsonValue;
  const message = `suspend() got a memo of ${bytes} bytes of JSON, and it may have ${MAX_MEMO_BYTES}: keep the rest elsewhere.`;
  throw new AppError('TOOL_INVALID', message);
}
