import { describe, expect, it } from 'vitest';
import { runInNewContext } from 'node:vm';
import { AppError } from '../errors/index.js';
import { toLoggedError } from './log-options.factory.js';

describe('an error in the log', () => {
  it('contains its type, message, stack and code only', () => {
    const error = Object.assign(new TypeError('no route'), {
      code: 'ECONNREFUSED',
      config: { headers: { Authorization: 'Bearer abc' } },
      response: { data: 'private' },
    });
    expect(toLoggedError(error)).toEqual({
      type: 'TypeError',
      message: 'no route',
      stack: error.stack,
      code: 'ECONNREFUSED',
    });
  });

  it('contains its causes three levels deep, also of a circular cause', () => {
    const innermost = new Error('4', { cause: new Error('5') });
    const error = new AppError('INTERNAL', '1', {
      cause: new Error('2', { cause: new Error('3', { cause: innermost }) }),
    });
    expect(toLoggedError(error)).toMatchObject({
      type: 'AppError',
      code: 'INTERNAL',
      cause: { message: '2', cause: { message: '3', cause: { message: '4' } } },
    });
    expect(JSON.stringify(toLoggedError(error))).not.toContain('"5"');
    const round = new Error('round');
    round.cause = round;
    expect(JSON.stringify(toLoggedError(round)).match(/"round"/g)).toHaveLength(4);
  });

  it('contains the errors of an aggregate', () => {
    const many = Array.from({ length: 50 }, (_, i) => new Error(`no ${i}`));
    const { errors } = toLoggedError(new AggregateError([...many, { message: 'x' }], 'all failed'));
    expect(errors).toHaveLength(10);
    expect(errors?.[1]).toMatchObject({ type: 'Error', message: 'no 1' });
  });

  it.each([
    ['a text', 'text', { type: 'string', message: 'text' }],
    ['nothing', undefined, { type: 'undefined', message: 'undefined' }],
    ['null', null, { type: 'object', message: 'null' }],
    ['an object', { headers: { authorization: 'x' } }, { type: 'object', message: '[object Object]' }],
    ['an error of another realm', runInNewContext('new RangeError("far")'), { type: 'RangeError', message: 'far' }],
  ])('accepts any thrown value: %s', (_what, thrown: unknown, expected) => {
    expect(toLoggedError(thrown)).toMatchObject(expected);
  });
});
