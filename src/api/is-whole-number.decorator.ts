import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { digitsOf } from '../kernel/index.js';

/** A whole number in a query, written in digits only; other texts become `NaN`. */
export const IsWholeNumber = (min: number, max: number) =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? digitsOf(value) : value)),
    IsInt(),
    Min(min),
    Max(max),
  );
