import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenAPIObject } from '@nestjs/swagger';
import { readFileSync } from 'node:fs';
import { OPERATIONS } from '../src/openapi/operation.registry.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

type Node = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly example?: object }>>;
  };
  readonly responses: Readonly<Record<string, { readonly content?: object; readonly description: string }>>;
}

const PROBLEM = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };

let jackdaw: Jackdaw;
let document: OpenAPIObject;
let operations: readonly { readonly place: string; readonly operation: Operation }[];
let schemas: Readonly<Record<string, Node>>;

beforeAll(async () => {
  jackdaw = await startJackdaw({ env: { DOCS_ENABLED: 'true' } });
  document = (await jackdaw.get('/docs/json')).body as unknown as OpenAPIObject;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      place: `${method} ${path}`,
      operation: operation as unknown as Operation,
    })),
  );
  schemas = document.components?.schemas as unknown as typeof schemas;
});
afterAll(() => jackdaw.stop());

/** Paths of the nodes in our own schemas and operations for which `isFound` holds; tools bring their own schemas. */
function placesOf(isFound: (node: Node) => boolean): string[] {
  const own = Object.entries(schemas).filter(([name]) => !name.startsWith('tool.'));
  return [...placesIn(Object.fromEntries(own), '', isFound), ...placesIn(document.paths, '', isFound)];
}

function placesIn(node: unknown, place: string, isFound: (node: Node) => boolean): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.entries(node).flatMap(([key, value]) => placesIn(value, `${place}/${key}`, isFound));
  return !Array.isArray(node) && isFound(node as Node) ? [place, ...inner] : inner;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function kindsOf({ type }: Node): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

describe('the OpenAPI document', () => {
  it('gives every operation a unique id of the table and a described tag', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const known = new Set(Object.values(OPERATIONS).map(({ id }) => id));
    expect(ids.filter((id) => !known.has(id) && !id.startsWith('call_'))).toEqual([]);
    expect([...known].filter((id) => !ids.includes(id))).toEqual([]);
    const described = new Set(document.tags?.filter(({ description }) => description !== '').map(({ name }) => name));
    expect(operations.flatMap(({ operation }) => operation.tags).filter((tag) => !described.has(tag))).toEqual([]);
  });

  it('requires no header', () => {
    const headers = operations
      .flatMap(({ operation }) => operation.parameters ?? [])
      .filter((each) => each.in === 'header');
    expect(headers.length).toBeGreaterThan(4);
    expect(headers.filter(({ required }) => required)).toEqual([]);
  });

  it('requires no body without a required field', () => {
    const bodies = new Map(operations.map(({ place, operation }) => [place, operation.requestBody?.required]));
    for (const path of [
      '/api/runs/{id}/approve',
      '/api/runs/{id}/deny',
      '/api/sessions',
      '/api/workflows/{name}/runs',
    ]) {
      expect([path, bodies.get(`post ${path}`)]).toEqual([path, false]);
    }
    expect(bodies.get('post /api/agent/chat')).toBe(true);
  });

  it('has no object without properties or a type of its values', () => {
    const isBare = (node: Node): boolean =>
      kindsOf(node).includes('object') && !('properties' in node) && !('additionalProperties' in node);
    expect(placesOf(isBare)).toEqual([]);
  });

  it('has no number that is whole', () => {
    const fractions = placesOf((node) => kindsOf(node).includes('number'));
    expect(
      fractions
        .map((place) => place.split('/').at(-1))
        .filter(
          (name) => !/^(schema|cost|score|mean_score|temperature|topP|(frequency|presence)Penalty)$/.test(name ?? ''),
        ),
    ).toEqual([]);
  });

  it('closes the schemas of request bodies', () => {
    for (const name of ['ChatRequestDto', 'ModelParametersDto', 'GivenImageDto', 'ApproveDto', 'SessionRequestDto']) {
      expect(schemas[name]).toHaveProperty('additionalProperties', false);
    }
    expect(schemas['ChatAnswerDto']).not.toHaveProperty('additionalProperties');
  });

  it('contains the bounds of validators that are named constants', () => {
    expect(schemas['BackgroundRequestDto']).toMatchObject({
      properties: {
        priority: { type: 'integer', minimum: 0, maximum: 9 },
        deadlineMs: { type: 'integer', minimum: 1, maximum: 2_592_000_000 },
        references: { items: { type: 'integer', minimum: 1 }, maxItems: 100 },
      },
    });
  });

  it('lists closed sets of values', () => {
    const runStatus = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'];
    const { properties } = schemas['RunAnswerDto'] as { readonly properties: Record<string, Node> };
    expect(new Set(properties['status']?.['enum'] as string[])).toEqual(new Set(runStatus));
    expect(properties['finish_reason']).toMatchObject({
      type: ['string', 'null'],
      enum: expect.arrayContaining(['stop', null]),
    });
    expect(schemas['MessageDto']).toHaveProperty('properties.role.enum');
  });

  it('describes values of any type and alternatives', () => {
    const { properties } = schemas['ChatRequestDto'] as { readonly properties: Record<string, Node> };
    expect(properties['toolChoice']).toMatchObject({
      anyOf: [{ enum: expect.arrayContaining(['auto']) }, { required: ['name'] }],
    });
    expect(schemas['InputDto']).not.toHaveProperty('properties.value.type');
  });

  it('describes the payload of every event', () => {
    const { enum: types } = schemas['RunEventType'] as { readonly enum: readonly string[] };
    const { anyOf } = schemas['RunEvent'] as { readonly anyOf: readonly { readonly $ref: string }[] };
    const described = anyOf.flatMap(({ $ref }) => {
      const { properties } = schemas[$ref.split('/').at(-1) ?? ''] as { readonly properties: { readonly type: Node } };
      return properties.type['enum'] as string[];
    });
    expect(new Set(described)).toEqual(new Set(types));
  });

  it('marks exactly the health routes and the logout as public', () => {
    const open = operations.filter(({ operation }) => operation.security?.length === 0).map(({ place }) => place);
    expect(open.toSorted()).toEqual([
      'delete /api/login',
      'get /api/agent/health',
      'get /api/health/live',
      'get /api/health/ready',
    ]);
    expect(Object.keys(document.components?.securitySchemes ?? {})).toEqual(['bearer', 'apiKey']);
  });

  it('documents the errors of every operation as problem details, with the scope that it needs', () => {
    for (const { place, operation } of operations) {
      for (const [status, { content, description }] of Object.entries(operation.responses)) {
        expect([place, status, description]).not.toContain('');
        const isProblem = Number(status) >= 400 && !/health|\/mcp$/.test(place);
        expect([place, status, content]).toEqual([place, status, isProblem ? PROBLEM : content]);
      }
    }
    const chat = operations.find(({ place }) => place === 'post /api/agent/chat');
    expect(Object.keys(chat?.operation.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '202', '400', '401', '403', '404', '409', '413', '415', '422', '429', '503']),
    );
    expect(chat?.operation.responses['403']?.description).toContain('`chat`');
  });

  it('has an example of every JSON body, which the server accepts', async () => {
    const bodies = operations.flatMap(({ place, operation: { requestBody } }) => {
      const json = requestBody?.content['application/json'];
      return json ? [{ place, example: json.example }] : [];
    });
    expect(bodies.length).toBeGreaterThan(20);
    expect(bodies.filter(({ example }) => !example).map(({ place }) => place)).toEqual([]);
    const send = async ({ place, example }: (typeof bodies)[number], expected: readonly number[]): Promise<void> => {
      const path = place.replace('post ', '').replace(/\{\w+\}/g, '1');
      const { status, text } = await jackdaw.post(path, example);
      expect([place, expected.includes(status), text]).toEqual([place, true, text]);
    };
    const posts = bodies.filter(({ place }) => place.startsWith('post'));
    // The server has no run, state or MCP server for these; a faulty body would answer 400.
    const elsewhere = posts.filter(({ place }) => /\{/.test(place));
    for (const each of elsewhere) await send(each, [404]);
    const here = posts.filter(({ place }) => !/\{|mcp/.test(place));
    expect(here.length).toBeGreaterThanOrEqual(9);
    // The first key closes the server to requests without one.
    const last = (place: string) => Number(place === 'post /api/keys');
    for (const each of here.toSorted((a, b) => last(a.place) - last(b.place))) await send(each, [200, 201, 202]);
  });

  it('has a summary of one sentence for every operation', () => {
    const summaries = operations.map(({ operation: { summary = '' } }) => summary);
    expect(summaries.filter((each) => each === '' || /[.?!]\s/.test(each))).toEqual([]);
  });

  it('is docs/openapi.json, but for the tools: `npm run openapi:document` writes it', () => {
    const isOfTool = ([name, value]: [string, unknown]) =>
      name.startsWith('tool.') || (isNode(value) && isNode(value['post']) && 'x-tool' in value['post']);
    const withoutTools = (all: object = {}) =>
      Object.fromEntries(Object.entries(all).filter((each) => !isOfTool(each)));
    const { components, paths, ...rest } = document;
    const plain = {
      ...rest,
      paths: withoutTools(paths),
      components: { ...components, schemas: withoutTools(components?.schemas) },
    };
    expect(JSON.parse(readFileSync('docs/openapi.json', 'utf8'))).toEqual(plain);
  });

  it('has one relative server', () => {
    expect(document.servers).toEqual([{ url: '..', description: 'This server' }]);
  });
});
