import { describe, expect, it } from 'vitest';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Principal } from '../kernel/index.js';
import { AccessGuard } from './access.guard.js';
import { Authenticator, type CredentialRequest, type PrincipalRequest, Public, Requires } from './authorization.js';
import { KeyUseRegistry, NO_BROWSER_SESSIONS, RequestAuthenticator } from './request-authenticator.service.js';

class Routes {
  @Requires('runs:write')
  write(): void {}

  @Requires('runs:read')
  read(): void {}

  @Requires('chat', 'runs:read')
  either(): void {}

  @Public()
  open(): void {}

  forgotten(): void {}
}

const ANN: Principal = { id: 'ann', tenant: 'acme', roles: ['user'] };

/** Authenticates one bearer credential, always as the same principal. */
class OneAuthenticator extends Authenticator {
  constructor(private readonly principal: Principal) {
    super();
  }

  async authenticate({ headers }: CredentialRequest): Promise<Principal | null> {
    return headers['authorization'] === 'Bearer one' ? this.principal : null;
  }

  async lookUp(principal: Principal): Promise<Principal> {
    return principal;
  }
}

/** The registry needs no database: the constructor argument states whether requests need a credential. */
const guardOf = (principal: Principal, isNeeded = true) =>
  new AccessGuard(
    new RequestAuthenticator(new OneAuthenticator(principal), NO_BROWSER_SESSIONS),
    new KeyUseRegistry(isNeeded, undefined as never),
    new Reflector(),
    { allowedOrigins: [] } as never,
  );

function ask(guard: AccessGuard, route: keyof Routes, headers: PrincipalRequest['headers'] = {}, type = 'http') {
  const request: PrincipalRequest = { method: 'GET', url: '/', ip: '127.0.0.1', headers };
  const routes = new Routes();
  const execution = {
    getType: () => type,
    getHandler: () => routes[route],
    getClass: () => Routes,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
  return { request, answer: guard.canActivate(execution) };
}

const ONE = { authorization: 'Bearer one' };

describe('AccessGuard', () => {
  it('sets the principal of the request', async () => {
    const { request, answer } = ask(guardOf(ANN), 'write', ONE);
    expect(await answer).toBe(true);
    expect(request.principal).toBe(ANN);
  });

  it.each([
    [{}, 'No API key'],
    [{ authorization: 'Basic one' }, 'No API key'],
    [{ authorization: 'Bearer two' }, 'is unknown'],
    [{ 'x-api-key': 'two' }, 'is unknown'],
  ])('refuses the headers %j as unauthenticated', async (headers, message) => {
    const { request, answer } = ask(guardOf(ANN), 'read', headers);
    await expect(answer).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringContaining(message) });
    expect(request.principal).toBeUndefined();
  });

  it.each<[Partial<Principal>, string]>([
    [{ roles: ['viewer'] }, 'the role viewer does not have it'],
    [{ roles: ['constructor', 'ops'] }, 'the roles constructor, ops do not have it'],
    [{ roles: [] }, 'the principal has no role with it'],
    [{ roles: ['admin'], scopes: ['runs:read'] }, 'restricted'],
    [{ roles: ['admin'], scopes: [] }, 'restricted'],
  ])('refuses %j a route that requires runs:write', async (rights, why) => {
    const { request, answer } = ask(guardOf({ ...ANN, ...rights }), 'write', ONE);
    await expect(answer).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining(why),
      details: { scope: 'runs:write' },
    });
    expect(request.principal).toBeUndefined();
  });

  it.each<Partial<Principal>>([
    { roles: ['viewer'] },
    { roles: ['ops', 'viewer'], scopes: ['*'] },
    { roles: ['user'], scopes: ['chat', 'runs:read'] },
  ])('allows %j to read runs', async (rights) => {
    expect(await ask(guardOf({ ...ANN, ...rights }), 'read', ONE).answer).toBe(true);
  });

  it('accepts one of several scopes, and lists all of them in the refusal', async () => {
    expect(await ask(guardOf({ ...ANN, roles: ['viewer'] }), 'either', ONE).answer).toBe(true);
    const { answer } = ask(guardOf({ ...ANN, scopes: ['keys'] }), 'either', ONE);
    await expect(answer).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This request needs one of the scopes "chat", "runs:read", and the key is restricted to other scopes.',
      details: { scopes: ['chat', 'runs:read'] },
    });
  });

  it('refuses a route without a required scope to every principal', async () => {
    const { answer } = ask(guardOf({ ...ANN, roles: ['admin'] }), 'forgotten', ONE);
    await expect(answer).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('admits public routes, and contexts other than HTTP', async () => {
    expect(await ask(guardOf(ANN), 'open').answer).toBe(true);
    expect(await ask(guardOf(ANN), 'forgotten', {}, 'tool').answer).toBe(true);
  });

  it.each([undefined, '', 'evil.example', 'localhost.evil.example', '127.0.0.1@evil.example'])(
    'refuses the host %s on a public route where no keys are needed',
    async (host) => {
      await expect(ask(guardOf(ANN, false), 'open', { host }).answer).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(await ask(guardOf(ANN), 'open', { host }).answer).toBe(true);
    },
  );
});
