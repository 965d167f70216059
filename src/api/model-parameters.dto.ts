import { ArrayMaxSize, IsArray, IsInt, IsNumber, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** How the model chooses its words; what is left out is the agent's. What the model does not take is refused, or dropped with a warning in the log. */
export class ModelParametersDto {
  @MayBeLeftOut()
  @IsNumber()
  @Min(0)
  @Max(2)
  temperature?: number;

  /** The longest reply, in tokens. */
  @MayBeLeftOut()
  @IsInt()
  @Min(1)
  @Max(10_000_000)
  maxTokens?: number;

  @MayBeLeftOut()
  @IsNumber()
  @Min(0)
  @Max(1)
  topP?: number;

  @MayBeLeftOut()
  @IsNumber()
  @Min(-2)
  @Max(2)
  frequencyPenalty?: number;

  @MayBeLeftOut()
  @IsNumber()
  @Min(-2)
  @Max(2)
  presencePenalty?: number;

  /** Texts that end the reply where they would come. */
  @MayBeLeftOut()
  @IsArray()
  @ArrayMaxSize(16)
  @IsString({ each: true })
  @MinLength(1, { each: true })
  @MaxLength(1000, { each: true })
  stop?: string[];

  /** The same seed gives the same reply, as far as the provider can. */
  @MayBeLeftOut()
  @IsInt()
  // Written so: what the OpenAPI document is made from reads a negative number with separators as none, and leaves the field out.
  @Min(-2147483648)
  @Max(2_147_483_647)
  seed?: number;
}
