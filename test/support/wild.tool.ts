import { Tool } from '../../src/tool/method/index.js';
import { nestedSchema } from './nested-schema.js';

const READ = { effect: 'read' as const };

/** Tools with schemas and texts that MCP servers declare, and that some provider rejects. */
export class WildTools {
  @Tool({ description: 'Has no properties.', ...READ, input: { type: 'object' } })
  bare(): string {
    return 'bare';
  }

  @Tool({
    description: 'Takes one of two.',
    ...READ,
    input: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { route: { type: 'string' }, file: { type: 'string' } },
      anyOf: [{ required: ['route'] }, { required: ['file'] }],
    },
  })
  union(): string {
    return 'union';
  }

  @Tool({
    description: 'Takes values of several kinds.',
    ...READ,
    input: {
      type: 'object',
      properties: {
        maybe: { type: ['string', 'null'] },
        level: { type: 'integer', enum: [1, 2] },
        any: { description: 'Any value.' },
        list: { type: 'array' },
        link: { type: 'string', format: 'uri', examples: ['https://example.com'] },
        one: { oneOf: [{ const: 'a' }, { $ref: '#/$defs/inner' }] },
        mixed: { type: 'string', anyOf: [{ minLength: 2 }, { pattern: '^a' }] },
        'filter[id]': { type: 'string' },
      },
      required: ['other'],
      $defs: {
        inner: { type: 'object', properties: { again: { $ref: '#/$defs/inner' } }, additionalProperties: false },
      },
    },
  })
  mixed(): string {
    return 'mixed';
  }

  @Tool({ name: '21st_magic', description: 'Is described at length. '.repeat(60), ...READ })
  magic(): string {
    return 'magic';
  }

  @Tool({ description: 'Takes a deep value.', ...READ, input: nestedSchema(11) })
  deep(): string {
    return 'deep';
  }
}
