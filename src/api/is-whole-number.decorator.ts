import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

/** A whole number in a query, written in digits only; other texts become `NaN`. */
export const IsWholeNumber = (min: number, max: number) =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) => (/^\d+$/.test(String(value)) ? Number(value) : Number.NaN)),
    IsInt({ message: '$property must be a whole number, in digits only' }),
    Min(min),
    Max(max),
  );
