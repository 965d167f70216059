import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';
import { WebServer } from '../../../test/support/web-server.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();
const TOKEN = 'eyJhbGciOiJub25lIn0';
const CAPTURE = { token: { from: '/access_token', header: 'Authorization', prefix: 'Bearer ' } };

function answer(...replies: readonly unknown[]): void {
  world.server.on('/crm', (request, reply, count) => {
    const said = replies[count - 1] ?? { received: request.headers.authorization ?? null };
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  });
}

const tokensAt = ({ requests }: WebServer) => requests.map(({ headers }) => headers.authorization ?? null);
const sent = () => tokensAt(world.server);

describe('a token captured from a reply', () => {
  it('is sent with later calls of the session, and redacted in results', async () => {
    answer({ access_token: TOKEN, name: 'Ann' });
    world.declare({ stateful: true, connection: { capture: CAPTURE } });
    const results = [await world.callIn('one'), await world.callIn('one'), await world.callIn('other')];
    expect(sent()).toEqual([null, `Bearer ${TOKEN}`, null]);
    expect(results).toMatchObject([
      { result: { access_token: '[redacted]', name: 'Ann' } },
      { result: { received: 'Bearer [redacted]' } },
      { result: { received: null } },
    ]);
  });

  it('is replaced by a newer token', async () => {
    answer({ access_token: TOKEN }, { access_token: `${TOKEN}-2` });
    world.declare({ stateful: true, connection: { capture: CAPTURE } });
    for (let count = 0; count < 3; count++) await world.callIn('s');
    expect(sent()).toEqual([null, `Bearer ${TOKEN}`, `Bearer ${TOKEN}-2`]);
  });

  it('is sent only to its origin, even if the tool now calls another origin', async () => {
    answer({ access_token: TOKEN });
    world.declare({ stateful: true, connection: { capture: CAPTURE } });
    await world.callIn('s');
    const other = await WebServer.start();
    const states = world.states;
    await world.allow(other);
    world.reset();
    world.states = states;
    other.json('/crm', {});
    world.declare({ url: `${other.url}/crm`, stateful: true, connection: { capture: CAPTURE } });
    await world.callIn('s');
    expect(tokensAt(other)).toEqual([null]);
    await other.close();
    await world.allow();
  });

  it('does not follow a redirect to another origin', async () => {
    const other = await WebServer.start();
    await world.allow(other);
    world.reset();
    other.json('/', {});
    world.server.on('/crm', (_request, reply, count) => {
      if (count > 1) return void reply.writeHead(302, { location: other.url }).end();
      reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token: TOKEN }));
    });
    world.declare({ stateful: true, connection: { capture: CAPTURE } });
    await world.callIn('s');
    await world.callIn('s');
    expect(tokensAt(other)).toEqual([null]);
    await other.close();
    await world.allow();
  });

  it.each([
    ['short', 'it has fewer than 8 characters, so it cannot be redacted'],
    [{ a: 1 }, 'it is not a string'],
    ['x'.repeat(9000), 'it has more than 8192 characters'],
    [`${TOKEN}\r\nx: y`, 'it has characters that a header cannot contain'],
  ])('is rejected with the value %j', async (token, fault) => {
    answer({ access_token: token });
    world.declare({ stateful: true, connection: { capture: CAPTURE } });
    const result = await world.callIn('s');
    expect(result).toMatchObject({
      success: false,
      error: `The token at /access_token of the reply cannot be stored: ${fault}.`,
    });
    await world.callIn('s');
    expect(sent()).toEqual([null, null]);
  });

  it('is not captured from an error reply', async () => {
    world.server.on('/crm', (_request, reply) => {
      reply.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token: TOKEN }));
    });
    world.declare({ stateful: true, connection: { capture: CAPTURE } });
    await world.callIn('s');
    await world.callIn('s');
    expect(sent()).toEqual([null, null]);
  });
});
