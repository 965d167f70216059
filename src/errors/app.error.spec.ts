import { describe, expect, it } from 'vitest';
import { HttpException } from '@nestjs/common';
import { inspect } from 'node:util';
import { AppError } from './app.error.js';
import { ERROR_CODES } from './error-code.types.js';
import { ERROR_STATUS } from './error-status.js';
import { toProblem } from './problem.mapper.js';

class OwnError extends AppError {
  constructor() {
    super('RUN_TIMEOUT', 'The run took too long.');
    this.name = 'OwnError';
  }
}

describe('an AppError', () => {
  const cause = new Error('the database password is hunter2');
  const error = new AppError('SESSION_BUSY', 'The session is busy.', {
    cause,
    isRetryable: true,
    details: { run_id: 'r1' },
  });

  it('is an HttpException of Nest with the status of its code', () => {
    expect(error).toBeInstanceOf(HttpException);
    expect(error.getStatus()).toBe(409);
    for (const code of ERROR_CODES) {
      const one = new AppError(code, 'x');
      expect([one.getStatus(), toProblem(one).status]).toEqual([ERROR_STATUS[code], ERROR_STATUS[code]]);
    }
  });

  it('has a response body with code and message, without its cause', () => {
    expect(error.getResponse()).toEqual({
      statusCode: 409,
      error: 'Conflict',
      code: 'SESSION_BUSY',
      message: 'The session is busy.',
      details: { run_id: 'r1' },
    });
    expect(new OwnError().getResponse()).toEqual({
      statusCode: 504,
      error: 'Gateway Timeout',
      code: 'RUN_TIMEOUT',
      message: 'The run took too long.',
    });
  });

  it('has code, cause, isRetryable and details', () => {
    expect(error).toMatchObject({
      name: 'AppError',
      code: 'SESSION_BUSY',
      isRetryable: true,
      details: { run_id: 'r1' },
    });
    expect(error.cause).toBe(cause);
    expect(new OwnError()).toMatchObject({ name: 'OwnError', code: 'RUN_TIMEOUT', isRetryable: false });
    expect('cause' in new AppError('INTERNAL', 'x', { cause: null })).toBe(true);
    expect(new AppError('INTERNAL', 'x', { cause: null }).cause).toBeNull();
  });

  it('has its message and the place of its creation in its stack', () => {
    const [head, first] = new AppError('INTERNAL', 'Broken.').stack!.split('\n');
    expect(head).toBe('AppError: Broken.');
    expect(first).toContain('app.error.spec');
  });

  it('prints only its own members, without those of HttpException', () => {
    const plain = new AppError('NOT_FOUND', 'Nothing.');
    expect(Object.keys(plain).toSorted()).toEqual(['code', 'isRetryable', 'name']);
    plain.stack = 'AppError: Nothing.';
    expect(inspect(plain)).toBe("[AppError: Nothing.] { code: 'NOT_FOUND', isRetryable: false }");
  });
});
