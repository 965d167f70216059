import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { createHash } from 'node:crypto';
import { ApiKeyGuard } from './api-key.guard.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import type { PrincipalRequest } from './principal-request.types.js';
import { Public } from './public.decorator.js';

class Routes {
  closed(): void {}

  @Public()
  open(): void {}
}

const sha256 = createHash('sha256').update('jd_right').digest('hex');
const withKeys = new ApiKeyGuard(
  new ApiKeyRegistry([{ id: 'ci', tenant: 'acme', roles: ['user'], sha256 }]),
  new Reflector(),
);
const withoutKeys = new ApiKeyGuard(new ApiKeyRegistry([]), new Reflector());

function context(headers: PrincipalRequest['headers'], route: keyof Routes = 'closed', type = 'http') {
  const request: PrincipalRequest = { headers };
  const routes = new Routes();
  const execution = {
    getType: () => type,
    getHandler: () => routes[route],
    getClass: () => Routes,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
  return { execution, request };
}

describe('ApiKeyGuard with keys', () => {
  it.each([{ authorization: 'Bearer jd_right' }, { authorization: 'bearer  jd_right' }, { 'x-api-key': 'jd_right' }])(
    'gives %j its principal',
    (headers) => {
      const { execution, request } = context({ ...headers, host: 'api.example.com' });
      expect(withKeys.canActivate(execution)).toBe(true);
      expect(request.principal).toEqual({ id: 'ci', tenant: 'acme', roles: ['user'] });
    },
  );

  it.each([
    {},
    { authorization: 'Basic jd_right' },
    { authorization: 'Bearer ' },
    { 'x-api-key': '' },
    { 'x-api-key': sha256 },
    { authorization: 'Bearer jd_wrong', 'x-api-key': 'jd_right' },
  ])('refuses %j', (headers) => {
    expect(() => withKeys.canActivate(context(headers).execution)).toThrow(
      expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    );
  });

  it('lets public routes and other contexts through', () => {
    expect(withKeys.canActivate(context({}, 'open').execution)).toBe(true);
    expect(withKeys.canActivate(context({}, 'closed', 'tool').execution)).toBe(true);
  });
});

describe('ApiKeyGuard without keys', () => {
  it.each(['localhost', 'localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST'])(
    'is local for host %s',
    (host) => {
      const { execution, request } = context({ host });
      withoutKeys.canActivate(execution);
      expect(request.principal).toEqual({ id: 'local', tenant: 'default', roles: ['admin'] });
    },
  );

  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:3000',
    '127.0.0.1@evil.example',
  ])('refuses host %s, on public routes too', (host) => {
    const refusal = expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('DNS rebinding') });
    expect(() => withoutKeys.canActivate(context({ host }).execution)).toThrow(refusal);
    expect(() => withoutKeys.canActivate(context({ host }, 'open').execution)).toThrow(refusal);
  });
});
