import { Type } from 'class-transformer';
import { Allow, IsObject, IsString, Matches, MaxLength, ValidateBy, ValidateNested } from 'class-validator';
import { IsId } from './is-id.decorator.js';
import { RawJson } from './raw-json.decorator.js';
import { Omittable } from './omittable.decorator.js';

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

/** The model of the new run. */
export class ForkModelDto {
  /** As in `LLM_PROVIDER`; if omitted, the original run's. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'provider must not be blank' })
  provider?: string;

  /** If omitted, the original run's, or the default of `provider`. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  // The same rule as for `model` of a request.
  @Matches(/^[^\p{Cc}\p{Cs}]{1,256}$/u, { message: 'name must be 1 to 256 characters without control characters' })
  name?: string;

  /** `temperature`, `maxTokens`, `topP`, `frequencyPenalty`, `presencePenalty`, `stop`, `seed`, `effort`. */
  @Omittable()
  @IsObject()
  @RawJson()
  parameters?: Record<string, unknown>;
}

/** Changes in the new run. */
export class ForkEditDto {
  /** The user's new message; only from `model:1`. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'message must not be blank' })
  message?: string;

  @Omittable()
  @IsObject()
  @ValidateNested()
  @Type(() => ForkModelDto)
  model?: ForkModelDto;

  /** New result of the step's call, any JSON value; only from a tool step. */
  @Allow()
  @RawJson()
  toolResult?: unknown;

  /** New input of a workflow; only for a workflow run, from `input`. */
  @Omittable()
  @IsObject()
  @RawJson()
  input?: Record<string, unknown>;

  /**
   * New output of the step's node, any JSON value (`{ "to": "…" }` for a branch); only for a workflow run, from a node.
   */
  @Allow()
  @RawJson()
  output?: unknown;

  /** Name of another agent, or changes to the original one: `instructions`, `tools` (fewer), `memory`, `limits`. */
  @Omittable()
  @IsNameOrChanges()
  @RawJson()
  agent?: unknown;
}

/** A fork request: a new run from a step of another run. */
export class ForkRequestDto {
  /**
   * First step that the new run executes; earlier steps are copied and do not repeat. For a workflow run: `node:<id>`
   * (that node and those after it start again), or `input` (all nodes).
   * @example 'tool:1:1'
   */
  @IsString()
  @MaxLength(128)
  @Matches(/\S/u, { message: 'fromStep must not be blank' })
  fromStep!: string;

  /** The new run's session, which must not exist yet; if omitted, a new id. */
  @Omittable()
  @IsId()
  sessionId?: string;

  @Omittable()
  @IsObject()
  @ValidateNested()
  @Type(() => ForkEditDto)
  edit?: ForkEditDto;
}
