import { describe, expect, it } from 'vitest';
import { BadRequestException, ConflictException, HttpException, UnauthorizedException } from '@nestjs/common';
import { AppError } from './app.error.js';
import { ERROR_CODES } from './error-code.types.js';
import { toProblem } from './problem.mapper.js';

describe('toProblem', () => {
  it.each(ERROR_CODES)('maps %s to a status and its message', (code) => {
    const problem = toProblem(new AppError(code, 'what happened'));
    expect(problem.status).toBeGreaterThanOrEqual(400);
    expect(problem).toMatchObject({ type: 'about:blank', code, detail: 'what happened' });
  });

  it('adds the details, which do not replace standard members', () => {
    const details = { run_id: 'r1', status: 'cancelled', detail: 'no' };
    expect(toProblem(new AppError('RUN_NOT_CANCELLABLE', 'it has ended', { details }))).toEqual({
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      detail: 'it has ended',
      code: 'RUN_NOT_CANCELLABLE',
      run_id: 'r1',
    });
  });

  it("keeps the status of an application's own client errors", () => {
    expect(toProblem(new UnauthorizedException('who?'))).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(toProblem(new ConflictException('taken'))).toMatchObject({
      status: 409,
      code: 'REQUEST_REFUSED',
      detail: 'taken',
    });
    expect(toProblem(new BadRequestException(['a must be a string', 'b must be an int']))).toMatchObject({
      status: 400,
      detail: 'The request is not valid: a must be a string; b must be an int.',
    });
    expect(toProblem(new HttpException('slow down', 429))).toMatchObject({ status: 429, code: 'REQUEST_REFUSED' });
  });

  it('reveals no details of an internal error', () => {
    const problem = toProblem(new Error('password=hunter2'));
    expect(problem).toMatchObject({ status: 500, code: 'INTERNAL' });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });
});
