import { afterEach, describe, expect, it } from 'vitest';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Inject,
  Injectable,
  type INestApplication,
  type NestInterceptor,
  Scope,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory, REQUEST } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { text } from 'node:stream/consumers';
import { type Observable, of } from 'rxjs';
import {
  AgentService,
  type HostRequest,
  JackdawHttpModule,
  type JackdawHttpOptions,
  JackdawModule,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { EventStream } from './support/event-stream.js';
import { gate } from './support/jackdaw.js';
import {
  HOST_PREFIX,
  type HostAdditions,
  type Platform,
  PLATFORMS,
  principalOf,
  startHost,
} from './support/mounted-host.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ANN = { authorization: 'Bearer ann' };
const JSON_BODY = { 'content-type': 'application/json' };
const OTHER_SITE = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

const agents = new AgentHost();
let app: INestApplication | undefined;

afterEach(async () => {
  await app?.close();
  app = undefined;
  await agents.stop();
});

interface Started {
  readonly options?: Partial<JackdawHttpOptions>;
  readonly model?: ScriptedChatModel;
  readonly host?: HostAdditions;
  readonly env?: Readonly<Record<string, string>>;
}

/** Sends a request to a host with the routes at `/backend/v1/jackdaw`. */
type Send = (
  path: string,
  init?: RequestInit,
) => Promise<{ status: number; body: unknown; response: globalThis.Response }>;

async function start(platform: Platform, { options, model, host, env }: Started = {}): Promise<Send> {
  const chatModel = model ?? new ScriptedChatModel([says('Hello.'), says('Hello again.')]);
  const config = { ...agents.environment(), LOG_LEVEL: 'silent', ...env };
  const mount = JackdawHttpModule.forRoot({ principal: principalOf, ...options });
  app = await startHost(platform, { chatModel, builtinTools: false, config }, [mount], host);
  const url = await app.getUrl();
  return async (path, init) => {
    const response = await fetch(`${url}${HOST_PREFIX}${path}`, init);
    const received = await response.text();
    return { status: response.status, body: received === '' ? '' : JSON.parse(received), response };
  };
}

const chat = (headers: Readonly<Record<string, string>> = ANN): RequestInit => ({
  method: 'POST',
  headers: { ...JSON_BODY, ...headers },
  body: '{"query":"Hi","sessionId":"s"}',
});
const CHAT = '/jackdaw/agent/chat';

describe.each(PLATFORMS)('the REST routes in a host on %s', (platform) => {
  it('are reached after the global guards only, which answer in the form of the host', async () => {
    let calls = 0;
    const principal = (request: HostRequest) => {
      calls += 1;
      return principalOf(request);
    };
    const send = await start(platform, { options: { principal } });
    expect(await send(CHAT, chat({}))).toMatchObject({ status: 418, body: { oops: true } });
    expect(calls).toBe(0);
    expect(await send(CHAT, chat())).toMatchObject({ status: 200, body: { result: 'Hello.' } });
    expect(calls).toBe(1);
  });

  it('answer 401 without a principal, and belong to the principal otherwise', async () => {
    const send = await start(platform);
    const refused = await send(CHAT, chat({ authorization: 'Bearer guest' }));
    expect(refused).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
    await send(CHAT, chat());
    expect(await send('/jackdaw/sessions/s', { headers: ANN })).toMatchObject({ body: { id: 's', owner: 'ann' } });
  });

  it('answer 500 if the principal has no tenant', async () => {
    const send = await start(platform, { options: { principal: () => ({ id: 'ann' }) as never } });
    expect(await send(CHAT, chat())).toMatchObject({ status: 500, body: { code: 'CONFIG_INVALID' } });
  });

  it('refuse changes by pages of other sites if a cookie may authenticate them', async () => {
    const send = await start(platform, { env: { CORS_ORIGINS: 'https://app.example' } });
    const cookie = { cookie: 'sid=ann' };
    const refused = await send(CHAT, chat({ ...cookie, ...OTHER_SITE }));
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    const statuses = [
      chat({ ...cookie, origin: 'https://evil.example' }),
      chat({ ...cookie, 'sec-fetch-site': 'same-site', origin: 'https://evil.example' }),
      chat({ ...cookie, 'sec-fetch-site': 'same-site', origin: 'https://app.example' }),
      chat({ ...cookie, 'sec-fetch-site': 'same-origin' }),
      { headers: { ...cookie, ...OTHER_SITE } },
      { headers: { ...ANN, ...cookie, ...OTHER_SITE }, method: 'DELETE' },
    ].map(async (init) => (await send(init.method === 'POST' ? CHAT : '/jackdaw/sessions/s', init)).status);
    expect(await Promise.all(statuses)).toEqual([403, 403, 200, 200, expect.any(Number), expect.any(Number)]);
    expect(await statuses[4]).not.toBe(403);
    expect(await statuses[5]).not.toBe(403);
  });

  it('are only the selected ones', async () => {
    const send = await start(platform, { options: { routes: ['agent/chat', 'GET sessions'] } });
    expect((await send(CHAT, chat())).status).toBe(200);
    expect((await send('/jackdaw/sessions/s', { headers: ANN })).status).toBe(200);
    const others = ['DELETE /jackdaw/sessions/s', 'GET /jackdaw/runs', 'POST /jackdaw/agent/runs'];
    for (const [method = '', path = ''] of others.map((route) => route.split(' '))) {
      expect([404, 405]).toContain((await send(path, { method, headers: ANN })).status);
    }
    await app!.close();
    const unknown = start(platform, { options: { routes: ['agent/chat', 'POST nothing'] } });
    await expect(unknown).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/POST nothing/),
    });
  });

  it('do not depend on an interceptor that answers instead of the handler', async () => {
    class CachingInterceptor implements NestInterceptor {
      intercept(_context: ExecutionContext, _next: CallHandler): Observable<unknown> {
        return of('from a cache');
      }
    }
    const providers = [{ provide: APP_INTERCEPTOR, useClass: CachingInterceptor }];
    const send = await start(platform, { host: { providers } });
    expect(await send(CHAT, chat())).toMatchObject({ status: 200, body: { result: 'Hello.' } });
  });

  it('leave the routes of the host as they are', async () => {
    const send = await start(platform);
    const order = { method: 'POST', headers: { ...JSON_BODY, ...ANN }, body: '{"lamps":2}' };
    expect(await send('/orders', order)).toMatchObject({ status: 201, body: { data: { lamps: 2 } } });
    expect(await send('/orders', { ...order, body: '{' })).toMatchObject({ status: 418, body: { oops: true } });
    expect((await send('/jackdaws', { headers: ANN })).body).toEqual({ oops: true });
  });

  it('run request-scoped global guards', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class ScopedGuard implements CanActivate {
      constructor(@Inject(REQUEST) private readonly request: { headers: Record<string, string> }) {}
      canActivate(): boolean {
        if (this.request.headers['x-blocked'] !== undefined) throw new ForbiddenException();
        return true;
      }
    }
    const send = await start(platform, { host: { providers: [{ provide: APP_GUARD, useClass: ScopedGuard }] } });
    expect((await send(CHAT, chat({ ...ANN, 'x-blocked': '1' }))).status).toBe(418);
    expect((await send(CHAT, chat())).status).toBe(200);
  });

  it('stream events while the run executes, and end the stream when the host closes', async () => {
    const { opened, open } = gate();
    const model = new ScriptedChatModel([() => opened.then(() => says('Late.')), () => new Promise(() => undefined)]);
    await start(platform, { model, env: { SHUTDOWN_TIMEOUT_MS: '0' } });
    const url = `${await app!.getUrl()}${HOST_PREFIX}/jackdaw/agent/chat/stream`;
    const request = { method: 'POST', headers: { ...JSON_BODY, ...ANN, 'accept-encoding': 'gzip' } } as const;
    const first = await EventStream.open(url, { ...request, body: { query: 'Hi', sessionId: 'a' } });
    await first.waitFor('run.started');
    expect(first.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
    open();
    expect((await first.all()).at(-1)?.event).toBe('run.completed');
    const second = await EventStream.open(url, { ...request, body: { query: 'Hi', sessionId: 'b' } });
    await second.waitFor('run.started');
    await app!.close();
    app = undefined;
    expect((await second.all()).at(-1)?.event).toBe('stream.closed');
  });

  it('have the headers of helmet', async () => {
    const send = await start(platform);
    const { response } = await send(CHAT, chat());
    expect(response.headers.get('x-dns-prefetch-control')).toBe('off');
  });

  it('are in the OpenAPI document of the host only on request', async () => {
    const documentOf = () => SwaggerModule.createDocument(app!, new DocumentBuilder().build());
    await start(platform);
    expect(Object.keys(documentOf().paths)).toEqual([`${HOST_PREFIX}/orders`]);
    await app!.close();
    const send = await start(platform, { options: { openapi: true, routes: ['POST agent/chat', 'runs/:id'] } });
    const { paths, components } = documentOf();
    const at = `${HOST_PREFIX}/jackdaw`;
    expect(Object.keys(paths)).toContain(`${at}/agent/chat/stream`);
    expect(Object.keys(paths)).toContain(`${at}/runs/{id}/events`);
    expect(Object.keys(paths).filter((path) => !/agent\/chat|runs\/\{id\}|orders/.test(path))).toEqual([]);
    expect(components?.schemas?.['ChatRequestDto']).toMatchObject({ properties: { query: { type: 'string' } } });
    expect(await send(CHAT, chat())).toMatchObject({ status: 200, body: { result: 'Hello.' } });
    expect(await send(CHAT, { ...chat(), body: '{' })).toMatchObject({ status: 400, body: { code: 'MALFORMED_JSON' } });
  });
});

describe('JackdawHttpModule', () => {
  it('does not start without `principal`, or with a prefix that is no path', () => {
    const without = () => JackdawHttpModule.forRoot({} as never);
    expect(without).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(/principal/) }),
    );
    const wrong = () => JackdawHttpModule.forRoot({ prefix: '/', principal: principalOf });
    expect(wrong).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    const unknown = () => JackdawHttpModule.forRoot({ principal: principalOf, path: 'ai' } as never);
    expect(unknown).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(/path/) }),
    );
  });

  it('reads a body that a middleware of the host has read', async () => {
    const parse = async (request: Request, _response: Response, next: NextFunction): Promise<void> => {
      const body = await text(request);
      Object.assign(request, { body: JSON.parse(body === '' ? 'null' : body) as unknown });
      next();
    };
    const send = await start('express', { host: { before: (host) => host.use(parse) } });
    expect(await send(CHAT, chat())).toMatchObject({ status: 200, body: { result: 'Hello.' } });
  });

  it('starts without HTTP, as in a script of the host', async () => {
    const jackdaw = JackdawModule.forRoot({ config: agents.environment(), builtinTools: false });
    const mount = JackdawHttpModule.forRoot({ principal: principalOf });
    const context = await NestFactory.createApplicationContext(
      { module: class Root {}, imports: [jackdaw, mount] },
      { logger: false, abortOnError: false },
    );
    expect(context.get(AgentService, { strict: false })).toBeInstanceOf(AgentService);
    await context.close();
  });
});
