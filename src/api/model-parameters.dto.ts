import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsNumber,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { EFFORTS } from '../config/index.js';
import { Omittable } from './omittable.decorator.js';

/**
 * Sampling parameters and reasoning effort; omitted ones are the agent's. An unsupported parameter is rejected, or dropped
 * with a warning in the log.
 */
export class ModelParametersDto {
  @Omittable()
  @IsNumber()
  @Min(0)
  @Max(2)
  temperature?: number;

  /** Maximum length of a reply, in tokens. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(10_000_000)
  maxTokens?: number;

  @Omittable()
  @IsNumber()
  @Min(0)
  @Max(1)
  topP?: number;

  @Omittable()
  @IsNumber()
  @Min(-2)
  @Max(2)
  frequencyPenalty?: number;

  @Omittable()
  @IsNumber()
  @Min(-2)
  @Max(2)
  presencePenalty?: number;

  /** Stop sequences: the reply ends before the first of them. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(16)
  @IsString({ each: true })
  @MinLength(1, { each: true })
  @MaxLength(1000, { each: true })
  stop?: string[];

  /** The same seed returns the same reply, if the provider supports it. */
  @Omittable()
  @IsInt()
  // No separators: the generator of the OpenAPI document cannot read them in a negative number and omits the field.
  @Min(-2147483648)
  @Max(2_147_483_647)
  seed?: number;

  /** Reasoning effort, mapped to the nearest level of the model; 400 for a model without effort. */
  @Omittable()
  @IsIn(EFFORTS)
  effort?: (typeof EFFORTS)[number];
}
