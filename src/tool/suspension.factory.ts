import { AppError } from '../common/index.js';
import { createValueCheck } from './input/schema-input.factory.js';
import type { SuspendOptions } from './tool.types.js';

/** What a tool returns that needs a person: made by `suspend`, and a class, so that no result is taken for it. */
export class Suspension {
  constructor(readonly asked: SuspendOptions) {}
}

/**
 * Asks a person: return it from a tool. The run then waits, for days if it must, and the tool is called again with the
 * same input and with `answer` in its context.
 *
 *     if (!answer) return suspend({ question: 'Which of the two flights?', schema: { enum: ['LH1', 'KL2'] } });
 *
 * @throws AppError `TOOL_INVALID` for a blank question, a schema that cannot be used, or a time that is no time
 */
export function suspend(options: SuspendOptions): Suspension {
  const { question, schema, expiresInMs } = options;
  if (typeof question !== 'string' || question.trim() === '') {
    throw new AppError('TOOL_INVALID', 'suspend() needs a question for the person who is to answer.');
  }
  if (expiresInMs !== undefined && !(Number.isInteger(expiresInMs) && expiresInMs > 0)) {
    throw new AppError('TOOL_INVALID', `suspend() got expiresInMs ${expiresInMs}: use whole milliseconds from 1 on.`);
  }
  if (schema) createValueCheck(schema);
  return new Suspension(options);
}
