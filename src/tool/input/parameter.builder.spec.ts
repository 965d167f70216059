import { describe, expect, it } from 'vitest';
import { Parameter, parametersSchema } from './parameter.builder.js';

describe('Parameter', () => {
  it('describes every type', () => {
    const point = [Parameter.number('x').required(), Parameter.number('y')];
    expect(
      parametersSchema([
        Parameter.string('city', 'Where', true).minLength(1).maxLength(50),
        Parameter.string('unit').enum(['c', 'f']).default('c').description('Of degrees'),
        Parameter.integer('days').min(1).max(7),
        Parameter.boolean('wind'),
        Parameter.array('tags', Parameter.string('tag').minLength(2)),
        Parameter.object('point', point).required(),
      ]),
    ).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where', minLength: 1, maxLength: 50 },
        unit: { type: 'string', enum: ['c', 'f'], default: 'c', description: 'Of degrees' },
        days: { type: 'integer', minimum: 1, maximum: 7 },
        wind: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string', minLength: 2 } },
        point: {
          type: 'object',
          properties: { x: { type: 'number' }, y: { type: 'number' } },
          required: ['x'],
          additionalProperties: false,
        },
      },
      required: ['city', 'point'],
      additionalProperties: false,
    });
  });

  it('returns a new parameter at every step', () => {
    const plain = Parameter.integer('n');
    const limited = plain.min(1).required();
    expect(plain.toSchema()).toEqual({ type: 'integer' });
    expect(plain.isRequired).toBe(false);
    expect([limited.toSchema(), limited.isRequired]).toEqual([{ type: 'integer', minimum: 1 }, true]);
  });

  it.each([
    ['minimum', () => Parameter.string('s').min(1), 'string parameter "s" cannot have "minimum"'],
    ['minLength', () => Parameter.integer('n').minLength(1), 'that is for string'],
    ['items', () => Parameter.string('s').items(Parameter.string('t')), 'that is for array'],
    ['properties', () => Parameter.array('a').properties([]), 'that is for object'],
    ['two of a name', () => parametersSchema([Parameter.string('s'), Parameter.integer('s')]), 'named "s"'],
  ])('refuses %s where it makes no sense', (_case, build, reason) => {
    expect(build).toThrow(expect.objectContaining({ code: 'TOOL_INVALID', message: expect.stringContaining(reason) }));
  });
});
