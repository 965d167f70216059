import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { fileLedger, RestWorld } from '../../../test/support/rest-world.js';
import type { OpenApiOperation } from './openapi.types.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

const PDF = { n: 1, mediaType: 'application/pdf', bytes: Buffer.from('%PDF-1.7\r\n\0\xff\r\n--', 'latin1') };
const NAMED = { ...PDF, n: 2, name: 'https://files.example/a/re%22"port.pdf?x=1' };
const IMAGE = { n: 3, mediaType: 'image/png', bytes: Buffer.from([0x89, 0x50, 0, 0xff]) };
const BINARY = { type: 'string', format: 'binary' };
const NOTE = 'The number n of a file that a tool result shows as "[file n: …]".';
const MULTIPART = 'multipart/form-data';

async function importBody(content: object, more: Partial<OpenApiOperation> = {}) {
  const paths = { '/things': { post: { operationId: 'thing', requestBody: { required: true, content } } } };
  const document = { openapi: '3.1.0', info: { title: 'One', version: '1' }, paths };
  return world.registry.importOpenApi({
    document,
    operations: [{ operationId: 'thing', ...more }],
    server: world.server.url,
  });
}
const bodySchema = () =>
  (world.tools.get('thing').definition.inputSchema as { properties: { body: object } }).properties.body;

/** Imports an operation with this body, and calls it with the files above. */
async function send(content: object, body: unknown) {
  await importBody(content);
  world.server.json('/things', {});
  const result = await world.call({ body }, { files: fileLedger(PDF, NAMED, IMAGE) }, 'thing');
  const [request] = world.server.requests;
  return { result, error: result.success ? undefined : result.error, ...request };
}

/** The parts of a multipart request. */
function partsOf({ bytes, headers }: { bytes?: Buffer; headers?: NodeJS.Dict<string | string[]> }) {
  const [, boundary = ''] = /^multipart\/form-data; boundary=(.+)$/.exec(String(headers?.['content-type']))!;
  const text = `\r\n${bytes!.toString('latin1')}`;
  const parts = text.split(`\r\n--${boundary}`);
  expect([parts[0], parts.at(-1)]).toEqual(['', '--\r\n']);
  return parts.slice(1, -1).map((part) => {
    const [head = '', ...rest] = part.slice(2).split('\r\n\r\n');
    return { head, content: Buffer.from(rest.join('\r\n\r\n'), 'latin1') };
  });
}

describe('a multipart body with files', () => {
  const properties = {
    title: { type: 'string' },
    file: { ...BINARY, description: 'The report.' },
    pages: { type: 'array', items: BINARY, maxItems: 3 },
    either: { oneOf: [BINARY, { type: 'array', items: { contentMediaType: 'image/png' } }] },
    none: { anyOf: [BINARY, { type: 'null' }] },
    nullable: { type: ['string', 'null'], format: 'binary' },
    link: { anyOf: [BINARY, { type: 'string', format: 'uri' }] },
  };

  it('has numbers of files as arguments', async () => {
    await importBody({ [MULTIPART]: { schema: { type: 'object', required: ['file'], properties } } });
    const file = { type: 'integer', minimum: 1, description: NOTE };
    expect(bodySchema()).toEqual({
      type: 'object',
      required: ['file'],
      properties: {
        title: { type: 'string' },
        file: { ...file, description: `The report.\n${NOTE}` },
        pages: { type: 'array', items: file, maxItems: 3 },
        either: { oneOf: [file, { type: 'array', items: file }] },
        none: { anyOf: [file, { type: 'null' }] },
        nullable: { ...file, type: ['integer', 'null'] },
        link: { anyOf: [{ type: 'string', format: 'uri' }] },
      },
    });
  });

  it('sends the bytes with name and media type', async () => {
    const encoding = { either: { contentType: 'image/x-own' }, pages: { contentType: 'image/png, application/pdf' } };
    const sent = await send(
      { [MULTIPART]: { schema: { type: 'object', properties }, encoding } },
      { title: 'ü', file: 2, pages: [1, 3], either: [3] },
    );
    const head = (name: string, fileName: string, type: string) =>
      `content-disposition: form-data; name="${name}"; filename="${fileName}"\r\ncontent-type: ${type}`;
    expect(partsOf(sent)).toEqual([
      { head: 'content-disposition: form-data; name="title"', content: Buffer.from('ü') },
      { head: head('file', 're%22%22port.pdf', 'application/pdf'), content: PDF.bytes },
      { head: head('pages', 'file-1.pdf', 'application/pdf'), content: PDF.bytes },
      { head: head('pages', 'file-3.png', 'image/png'), content: IMAGE.bytes },
      { head: head('either', 'file-3.png', 'image/x-own'), content: IMAGE.bytes },
    ]);
    expect(sent.result).toMatchObject({ success: true });
  });

  it('knows a file that only one part of its schema declares', async () => {
    const schema = {
      allOf: [{ properties: { a: { description: 'A.' } } }, { properties: { a: BINARY } }],
      oneOf: [{ properties: { b: BINARY } }],
    };
    const sent = await send({ [MULTIPART]: { schema } }, { a: 1, b: 3 });
    expect(partsOf(sent).map(({ content }) => content)).toEqual([PDF.bytes, IMAGE.bytes]);
  });
});

describe('a body of bytes', () => {
  it.each<[string, object, string]>([
    ['application/octet-stream', {}, 'application/octet-stream'],
    ['image/*', { schema: { type: 'string', description: 'A picture.' } }, 'image/png'],
    ['*/*', { schema: BINARY }, 'image/png'],
    ['application/vnd.own', { schema: BINARY }, 'application/vnd.own'],
    ['audio/mpeg', {}, 'audio/mpeg'],
  ])('of the type %s is a file', async (type, media, sentType) => {
    const { bytes, headers, result } = await send({ [type]: media }, 3);
    expect(result).toMatchObject({ success: true });
    expect([bytes, headers?.['content-type']]).toEqual([IMAGE.bytes, sentType]);
    expect(bodySchema()).toMatchObject({ type: 'integer', minimum: 1, description: expect.stringContaining(NOTE) });
  });

  it('is worse than text or JSON', async () => {
    const { body } = await send({ 'application/octet-stream': { schema: BINARY }, 'application/json': {} }, { a: 1 });
    expect(body).toBe('{"a":1}');
  });
});

describe('a file of a request', () => {
  it('that does not exist is a mistake that the model can correct', async () => {
    const { error } = await send({ [MULTIPART]: { schema: { properties: { file: BINARY } } } }, { file: 9 });
    expect(error).toBe(
      'The request was not sent: there is no file 9 for the argument "body.file"; name a file that a tool result of this run, ' +
        'or of an earlier turn that you see, shows as "[file n: …]".',
    );
    expect(await world.call({ body: { file: 1 } }, {}, 'thing')).toMatchObject({
      error: expect.stringContaining('there is no file 1 for'),
    });
    expect(await world.call({ body: { file: '[file 1: application/pdf]' } }, {}, 'thing')).toMatchObject({
      code: 'TOOL_INVALID_ARGUMENTS',
      error: expect.stringContaining('body.file'),
    });
    expect(world.server.requests).toEqual([]);
  });

  it('is not sent if the files have more than 10 MiB together', async () => {
    await importBody({ [MULTIPART]: { schema: { properties: { files: { type: 'array', items: BINARY } } } } });
    world.server.json('/things', {});
    const large = { ...PDF, bytes: Buffer.alloc(5 * 1024 * 1024, 0xff) };
    const site = { files: fileLedger(large, { ...IMAGE, bytes: Buffer.alloc(1) }) };
    expect(await world.call({ body: { files: [1, 1] } }, site, 'thing')).toMatchObject({ success: true });
    expect(await world.call({ body: { files: [1, 1, 3] } }, site, 'thing')).toMatchObject({
      error: 'The request was not sent: the files of a request may have 10,485,760 bytes together.',
    });
    expect(world.server.requests).toHaveLength(1);
  });

  it('cannot be an argument of a cached call', async () => {
    const content = { [MULTIPART]: { schema: { properties: { file: BINARY } } } };
    await expect(importBody(content, { effect: 'read', cacheTtlMs: 1000 })).rejects.toThrow(
      'thing takes files: remove its cacheTtlMs, since a number is another file in another run',
    );
  });
});
