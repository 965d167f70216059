import { Type } from 'class-transformer';
import { Allow, IsObject, IsString, Matches, MaxLength, ValidateBy, ValidateNested } from 'class-validator';
import { AsItCame } from './as-it-came.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

const IsNameOrChanges = () =>
  ValidateBy({
    name: 'isNameOrChanges',
    validator: {
      validate: (value) =>
        (typeof value === 'string' && value.trim() !== '') ||
        (typeof value === 'object' && value !== null && !Array.isArray(value)),
      defaultMessage: () => "$property must be an agent's name, or an object of changes",
    },
  });

/** Who answers what the new run asks. */
export class ForkModelDto {
  /** As in `LLM_PROVIDER`; the run's own when left out. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'provider must not be blank' })
  provider?: string;

  /** The run's own when left out, or that provider's default. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  // As `model` of a request.
  @Matches(/^[^\p{Cc}\p{Cs}]{1,256}$/u, { message: 'name must be 1 to 256 characters without control characters' })
  name?: string;

  /** `temperature`, `maxTokens`, `topP`, `frequencyPenalty`, `presencePenalty`, `stop`, `seed`. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  parameters?: Record<string, unknown>;
}

/** What is otherwise in the new run. */
export class ForkEditDto {
  /** What the user says instead; only from `model:1`. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'message must not be blank' })
  message?: string;

  @MayBeLeftOut()
  @IsObject()
  @ValidateNested()
  @Type(() => ForkModelDto)
  model?: ForkModelDto;

  /** What the call of the step came to, any JSON value; only from a step of a tool. */
  @Allow()
  @AsItCame()
  toolResult?: unknown;

  /** What a workflow is given instead; only of a workflow's run, from `input`. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  input?: Record<string, unknown>;

  /** What the node of the step gave, any JSON value, `{ "to": "…" }` of a branch; only of a workflow's run, from a node. */
  @Allow()
  @AsItCame()
  output?: unknown;

  /** Another agent's name, or changes of the run's own: `instructions`, `tools` (fewer), `memory`, `limits`. */
  @MayBeLeftOut()
  @IsNameOrChanges()
  @AsItCame()
  agent?: unknown;
}

/** A new run from a place in another one. */
export class ForkRequestDto {
  /**
   * The step at which the new run begins to live; what comes before it is copied and does not happen again. Of a
   * workflow's run `node:<id>`: that node and those after it begin anew; or `input`: all of them.
   * @example 'tool:1:1'
   */
  @IsString()
  @MaxLength(128)
  @Matches(/\S/u, { message: 'fromStep must not be blank' })
  fromStep!: string;

  /** The new run's session, which must not be there yet; a new id when left out. */
  @MayBeLeftOut()
  @Matches(/^[A-Za-z0-9_-]{1,128}$/, { message: 'sessionId must be 1 to 128 of A-Z a-z 0-9 _ -' })
  sessionId?: string;

  @MayBeLeftOut()
  @IsObject()
  @ValidateNested()
  @Type(() => ForkEditDto)
  edit?: ForkEditDto;
}
