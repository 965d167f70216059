import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { plainToInstance } from 'class-transformer';
import { IsArray, IsIn, IsInt, IsOptional, IsString, MaxLength, Min, ValidateIf, validateSync } from 'class-validator';
import * as fc from 'fast-check';
import { ChatRequestDto } from '../src/api/chat-request.dto.js';
import { isSurelyValid } from '../src/server/dto-rules.js';

class BaseDto {
  @IsString()
  @MaxLength(3)
  name!: string;

  @IsOptional()
  @IsArray()
  @IsInt({ each: true })
  numbers?: number[];
}

class WholeDto extends BaseDto {
  @IsOptional()
  @IsIn(['a', 'b'])
  kind?: string;

  @ValidateIf(({ kind }: WholeDto) => kind === 'a')
  @IsInt()
  @Min(1)
  count?: number;
}

const OPTIONS = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true };

/** Random JSON objects, most of them nearly valid. */
function nearTo(fields: Record<string, readonly unknown[]>): fc.Arbitrary<Record<string, unknown>> {
  const values = Object.entries(fields).map(([name, near]) => [
    name,
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...near) }, fc.jsonValue()),
  ]);
  return fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] });
}

const WHOLE = nearTo({
  name: ['x', 'xyz', 'long', null],
  numbers: [[1, 2], [1.5], 1, []],
  kind: ['a', 'b'],
  count: [1, 0],
});
const CHAT = nearTo({
  query: ['hello', ''],
  sessionId: ['s1'],
  includeDetails: [true],
  agent: ['default'],
  images: [undefined, []],
});

describe('isSurelyValid', () => {
  it.each([
    ['own and inherited fields', WholeDto, WHOLE],
    ['a chat request', ChatRequestDto, CHAT],
  ] as const)('accepts only requests that class-validator accepts, too: %s', (_what, type, requests) => {
    let sure = 0;
    const property = fc.property(requests, (request) => {
      const dto = plainToInstance<object, object>(type, request);
      const isSure = isSurelyValid(dto, OPTIONS);
      sure += Number(isSure);
      return !isSure || validateSync(dto, OPTIONS).length === 0;
    });
    fc.assert(property, { numRuns: 1000, seed: 11 });
    expect(sure).toBeGreaterThan(50);
  });

  it.each([
    [{ name: 'xyz', numbers: [1], kind: 'a', count: 1 }, true],
    [{ name: 'xyz', kind: 'b', count: 'whatever' }, true],
    [{ name: 'xyz', kind: 'a', count: 'whatever' }, false],
    [{ name: 'xyz', other: 1 }, false],
    [{ numbers: [1] }, false],
  ])('returns for %j: %s', (request, isSure) => {
    expect(isSurelyValid(plainToInstance(WholeDto, request), OPTIONS)).toBe(isSure);
  });

  it('refuses a class without rules and other options', () => {
    expect(isSurelyValid({}, OPTIONS)).toBe(false);
    expect(isSurelyValid(plainToInstance(WholeDto, { name: 'x' }), { ...OPTIONS, groups: ['g'] })).toBe(false);
  });
});
