import { IsInt } from 'class-validator';
import { join } from 'node:path';
import { z } from 'zod';
import { CodeNode, Tool, ToolNode, WorkflowBuilder, WorkflowCode } from '../../src/index.js';
import type { FakeLlm } from './fake-llm.js';
import { startJackdaw, type Jackdaw } from './jackdaw.js';
import { untilStatus } from './mcp/scripted-servers.js';
import type { WebServer } from './web-server.js';

const DIGITS_SERVER = join(import.meta.dirname, 'mcp/digits-server.mjs');
/** An integer that no JavaScript number represents. */
export const ID = '9123456789012345677';
const INTEGER = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
const ANY = { type: 'object', properties: { id: {} } };

class IdDto {
  @IsInt()
  id!: number;
}

class IdTools {
  @Tool({ description: 'Looks.', effect: 'read', input: INTEGER })
  look({ id }: { id: number | string }): string {
    return `looked at ${typeof id} ${id}`;
  }

  @Tool({ description: 'Looks.', effect: 'read', input: ANY })
  loose({ id }: { id: unknown }): string {
    return `looked at ${JSON.stringify(id)}`;
  }

  @Tool({ description: 'Looks.', effect: 'read' })
  dto({ id }: IdDto): string {
    return `looked at ${typeof id} ${id}`;
  }

  @Tool({ description: 'Looks.', effect: 'read', input: z.object({ id: z.coerce.number() }) })
  coerced({ id }: { id: number }): string {
    return `looked at ${typeof id} ${id}`;
  }

  @Tool({ description: 'Looks.', effect: 'read', input: INTEGER, approval: 'always' })
  asked({ id }: { id: number | string }): string {
    return `looked at ${typeof id} ${id}`;
  }

  @WorkflowCode({ name: 'code_look', effect: 'read' })
  code({ id }: IdDto): string {
    return `looked at ${id}`;
  }
}

const WORKFLOW = new WorkflowBuilder('find', { description: 'Finds.' })
  .withInput(INTEGER)
  .add(new ToolNode('first', 'stdio__look', { id: '{{input.id}}' }))
  .add(new ToolNode('second', 'post_order', { id: '{{first.result.got.id}}', note: 'no. {{input.id}}' }), {
    after: 'first',
  })
  .build();
const CODE = new WorkflowBuilder('code', { description: 'Finds.' })
  .withInput(INTEGER)
  .add(new CodeNode('only', 'code_look', { id: '{{input.id}}' }))
  .build();

/**
 * An application with every kind of tool that takes an `id`: methods, MCP servers (`stdio`, and over HTTP `json` and
 * `events`) and REST endpoints. They all answer with the digits that they received.
 */
export async function startDigitsWorld(llm: FakeLlm, web: WebServer): Promise<Jackdaw> {
  const { answerTo } = (await import(DIGITS_SERVER)) as { answerTo(this: void, line: string): string | undefined };
  const noted = { ...INTEGER, properties: { id: { type: 'integer' }, note: { type: 'string' } } };
  const http = (path: string) => ({ type: 'http', enabled: true, http: { url: `${web.url}${path}` } }) as const;
  const jackdaw = await startJackdaw({
    llm,
    tools: [new IdTools()],
    env: { OUTGOING_ALLOW: `127.0.0.1:${web.port}` },
    options: {
      mcpServers: [
        {
          name: 'stdio',
          enabled: true,
          type: 'stdio',
          stdio: { command: process.execPath, args: [DIGITS_SERVER] },
        },
        { name: 'json', ...http('/json') },
        { name: 'events', ...http('/events') },
      ],
      restTools: [
        {
          name: 'post_order',
          description: 'Orders.',
          parameters: noted,
          method: 'POST',
          url: `${web.url}/orders`,
          effect: 'read',
          untrusted: false,
        },
        {
          name: 'get_order',
          description: 'Returns an order.',
          parameters: INTEGER,
          method: 'GET',
          url: `${web.url}/order/{id}`,
          query: { also: '{id}' },
          untrusted: false,
        },
      ],
      workflows: [WORKFLOW, CODE],
      agents: ['native', 'react', 'xml'].map((protocol) => ({
        name: protocol,
        model: { provider: 'openai' },
        protocol: protocol as 'native' | 'react' | 'xml',
        instructions: 'You look.',
      })),
    },
  });
  web.on('/json', ({ body }, reply) => {
    const answer = body === '' ? undefined : answerTo(body);
    if (answer === undefined) reply.writeHead(body === '' ? 405 : 202).end();
    else reply.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(answer);
  });
  web.on('/events', ({ body }, reply) => {
    const answer = body === '' ? undefined : answerTo(body);
    if (answer === undefined) return void reply.writeHead(body === '' ? 405 : 202).end();
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    const at = answer.indexOf('9123') + 5;
    const text = `id: 12345678901234567\r\ndata: ${answer}\r\n\r\n`;
    // Splits the reply in the middle of a number.
    reply.write(text.slice(0, at + 30));
    reply.end(text.slice(at + 30));
  });
  web.on('/orders', ({ body }, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' }).end(`{"got":${body},"next":[${ID}0]}`);
  });
  web.on(`/order/${ID}`, ({ path }, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' }).end(`{"path":"${path}","id":${ID}}`);
  });
  await Promise.all(['stdio', 'json', 'events'].map((name) => untilStatus(jackdaw, name)));
  return jackdaw;
}
