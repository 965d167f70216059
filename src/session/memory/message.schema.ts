import { z } from 'zod';
import { AppError } from '../../errors/index.js';
import { issueMistakes } from '../../kernel/index.js';

const text = z.string();
const call = z.looseObject({ id: text.min(1), name: text.min(1), arguments: text });
/** The parts of a message that Jackdaw and every model rely on. */
const MESSAGE = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: text }),
  z.looseObject({ role: z.literal('user'), content: z.union([text, z.array(z.looseObject({ type: text }))]) }),
  z.looseObject({ role: z.literal('assistant'), content: text, toolCalls: z.array(call).optional() }),
  z.looseObject({ role: z.literal('tool'), content: text, toolCallId: text.min(1), name: text }),
]);

/**
 * @param rule the rule that a wrong value breaks, for the error: `addMessage takes one message`
 * @throws AppError `VALIDATION_FAILED` for a value of an untyped program that is not a message
 */
export function assertMessage(message: unknown, rule: string): void {
  const { error } = MESSAGE.safeParse(message);
  if (!error) return;
  const errors = issueMistakes(error.issues, message, 'message.');
  const fault =
    typeof message === 'object' && message !== null
      ? errors.map(({ field, message: problem }) => `${field}: ${problem}`).join('; ')
      : `it received ${message === null ? 'null' : `a value of type ${typeof message}`}`;
  const why = `${rule}, such as { role: 'user', content: 'Hello' }; ${fault}.`;
  throw new AppError('VALIDATION_FAILED', why, { details: { errors } });
}
