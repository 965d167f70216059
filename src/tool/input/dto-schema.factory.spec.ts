import { describe, expect, it } from 'vitest';
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  Contains,
  IsArray,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsIP,
  IsNumber,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Min,
  ValidateNested,
} from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema';
import { createDtoInput } from './dto-input.factory.js';
import { createDtoSchema, type DtoClass } from './dto-schema.factory.js';

enum Level {
  low = 1,
  high,
}

class Place {
  @IsNumber()
  lat!: number;

  @IsInt()
  @Min(1)
  zoom: number = 3;
}

class Cat {
  @IsIn(['cat'])
  kind!: 'cat';

  @IsInt()
  lives!: number;
}

class Dog {
  @IsIn(['dog'])
  kind!: 'dog';

  @IsString()
  tricks!: string;
}

@JSONSchema({ description: 'A trip.' })
class Trip {
  @ApiProperty({ description: 'Where it begins.', example: { lat: 1 } })
  @ValidateNested()
  @Type(() => Place)
  from!: Place;

  @IsArray()
  @ArrayMaxSize(3)
  @ValidateNested({ each: true })
  @Type(() => Place)
  stops!: Place[];

  @IsOptional()
  @ValidateNested()
  @Type(() => Trip)
  back?: Trip;

  @IsEnum(Level)
  level: Level = Level.low;

  @JSONSchema({ description: 'The recipient.', default: 'a@b.test' })
  @IsEmail()
  mail!: string;

  @ValidateNested()
  @Type(() => Object, {
    keepDiscriminatorProperty: true,
    discriminator: {
      property: 'kind',
      subTypes: [
        { name: 'cat', value: Cat },
        { name: 'dog', value: Dog },
      ],
    },
  })
  animal!: Cat | Dog;
}

class Loose {
  @IsUrl()
  @IsOptional()
  url?: string;

  @IsIP()
  @IsOptional()
  ip?: string;

  @Matches(/^[A-Z]+$/i)
  @IsOptional()
  word?: string;

  @Contains('a.b')
  @IsOptional()
  part?: string;

  @IsIn([1, 'one', null])
  @IsOptional()
  one?: unknown;

  @IsInt({ each: true })
  @Min(0, { each: true })
  @IsOptional()
  counts?: number[];
}

const GOOD = { from: { lat: 1 }, stops: [{ lat: 2, zoom: 5 }], mail: 'x@y.test', animal: { kind: 'cat', lives: 9 } };

async function check(dto: DtoClass, args: unknown): Promise<unknown> {
  const input = await createDtoInput(dto, 'see to it').validate(args);
  return input.valid ? input.value : input.reason;
}

describe('the schema of a DTO class', () => {
  it('contains nested classes, lists of them, unions, and itself', () => {
    expect(createDtoSchema(Trip, 'x')).toEqual({
      type: 'object',
      description: 'A trip.',
      required: ['from', 'stops', 'animal'],
      properties: {
        from: { $ref: '#/$defs/Place', description: 'Where it begins.', examples: [{ lat: 1 }] },
        stops: { type: 'array', maxItems: 3, items: { $ref: '#/$defs/Place' } },
        back: { $ref: '#' },
        level: { type: 'number', enum: [1, 2], default: 1 },
        mail: { type: 'string', format: 'email', description: 'The recipient.', default: 'a@b.test' },
        animal: {
          oneOf: [
            { $ref: '#/$defs/Cat', properties: { kind: { const: 'cat' } }, required: ['kind'] },
            { $ref: '#/$defs/Dog', properties: { kind: { const: 'dog' } }, required: ['kind'] },
          ],
        },
      },
      $defs: {
        Place: {
          type: 'object',
          required: ['lat'],
          properties: { lat: { type: 'number' }, zoom: { type: 'integer', minimum: 1, default: 3 } },
        },
        Cat: {
          type: 'object',
          required: ['kind', 'lives'],
          properties: { kind: { type: 'string', enum: ['cat'] }, lives: { type: 'integer' } },
        },
        Dog: {
          type: 'object',
          required: ['kind', 'tricks'],
          properties: { kind: { type: 'string', enum: ['dog'] }, tricks: { type: 'string' } },
        },
      },
    });
  });

  it('distinguishes classes of the same name', () => {
    class Second {
      @IsString()
      name!: string;
    }
    Object.defineProperty(Second, 'name', { value: 'Place' });
    class Both {
      @ValidateNested()
      @Type(() => Place)
      a!: unknown;

      @ValidateNested()
      @Type(() => Second)
      b!: unknown;
    }
    expect(createDtoSchema(Both, 'x')).toMatchObject({
      properties: { a: { $ref: '#/$defs/Place' }, b: { $ref: '#/$defs/Place_2' } },
      $defs: { Place_2: { properties: { name: { type: 'string' } } } },
    });
  });

  it('accepts every value that class-validator accepts', async () => {
    for (const given of [
      { url: 'example.com' },
      { ip: '::1' },
      { ip: '127.0.0.1' },
      { word: 'aBc' },
      { part: 'xa.by' },
      { one: 'one' },
      { counts: [0, 1] },
    ]) {
      expect(await check(Loose, given)).toEqual(given);
    }
  });

  it.each<[unknown, string]>([
    [{ url: 7 }, '"url" must be string, got number'],
    [{ url: 'no url' }, '"url": url must be a URL address, got string'],
    [{ ip: 'x' }, '"ip" must match format "ipv4", got string'],
    [{ part: 'axb' }, '"part" must match pattern "a\\.b", got string'],
    [{ one: 2 }, '"one" must be one of 1, "one", null, got 2'],
    [{ counts: [1.5] }, '"counts[0]" must be integer, got 1.5'],
  ])('refuses %j', async (args, reason) => {
    expect(await check(Loose, args)).toContain(reason);
  });

  it('creates an instance of the declared class of a field whose @Type is in another copy of class-transformer', async () => {
    class Journey {
      @ValidateNested()
      place!: Place;
    }
    const input = createDtoInput(Journey, '');
    expect(input.schema).toMatchObject({ properties: { place: { $ref: '#/$defs/Place' } } });
    const { value } = (await input.validate({ place: { lat: 1, zoom: 2 } })) as unknown as { readonly value: Journey };
    expect(value.place).toBeInstanceOf(Place);
  });

  it('rejects a class that is unknown at run time or has no decorators', () => {
    class Untyped {
      @ValidateNested()
      places!: Place[];
    }
    class Silent {
      x = 1;
    }
    class Holder {
      @ValidateNested()
      @Type(() => Silent)
      silent!: Silent;
    }
    expect(() => createDtoSchema(Untyped, 'x')).toThrow('Untyped.places holds another class');
    expect(() => createDtoSchema(Holder, 'decorate it')).toThrow(
      'Silent inside of Holder has no class-validator decorators: decorate it',
    );
  });
});

describe('the input of a DTO class', () => {
  it('consists of instances at every level, with initial values', async () => {
    const value = (await check(Trip, { ...GOOD, back: GOOD })) as Trip;
    expect(value.from).toBeInstanceOf(Place);
    expect(value.stops).toEqual([expect.any(Place)]);
    expect(value.animal).toBeInstanceOf(Cat);
    expect(value.back).toBeInstanceOf(Trip);
    expect(value).toMatchObject({ ...GOOD, from: { lat: 1, zoom: 3 }, level: Level.low, back: { level: Level.low } });
  });

  it.each<[object, string]>([
    [{ from: { lat: 'north' } }, '"from.lat" must be number, got string'],
    [{ stops: [{ lat: 1 }, { lat: 1, zoom: 0 }] }, '"stops[1].zoom" must be >= 1, got 0'],
    [{ from: { lat: 1, lon: 2 } }, 'unknown argument "from.lon" (known: lat, zoom)'],
    [{ back: { ...GOOD, from: null } }, '"back.from" must be object, got null'],
    [{ level: 3 }, '"level" must be one of 1, 2, got 3'],
    [{ animal: { kind: 'cow' } }, '"animal" fits none of its forms'],
    [{ animal: { kind: 'cat', lives: 9, tricks: 'x' } }, 'tricks'],
    [{ mail: 'x' }, '"mail" must match format "email", got string'],
  ])('is rejected with the path, the rule and the type: %j', async (wrong, reason) => {
    expect(await check(Trip, { ...GOOD, ...wrong })).toContain(reason);
  });
});
