import { describe, expect, it } from 'vitest';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, ValidateBy, ValidateNested } from 'class-validator';
import { createValidationPipe } from './validation.pipe.js';

/** Number of values that were validated. */
let count = 0;

const Counted = () => ValidateBy({ name: 'isCounted', validator: { validate: () => ++count < 0 } });

class Item {
  @Counted()
  name!: string;
}

class Body {
  @Counted()
  first!: string;

  @IsArray()
  @ArrayMaxSize(10)
  @ValidateNested({ each: true })
  @Type(() => Item)
  items!: Item[];
}

async function mistakes(body: object): Promise<readonly { field: string }[]> {
  count = 0;
  const refusal: unknown = await createValidationPipe()
    .transform(body, { type: 'body', metatype: Body })
    .catch((error: unknown) => error);
  return (refusal as { details: { errors: { field: string }[] } }).details.errors;
}

describe('the validation of a body', () => {
  it('ends at the hundredth unknown field, before any rule', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field_${at}`, at]));
    expect(await mistakes({ first: 'a', ...fields })).toHaveLength(100);
    expect(count).toBe(0);
  });

  it('checks one element more than a list may have', async () => {
    const items = Array.from({ length: 5_000 }, () => ({ name: 'a' }));
    expect((await mistakes({ first: 'a', items })).map(({ field }) => field)).toContain('items');
    expect(count).toBeLessThanOrEqual(2 * 11 + 2);
  });
});
