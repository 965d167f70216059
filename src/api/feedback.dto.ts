import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsIn, IsNumber, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { IsCursor, TIME_PLACE } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { TimesQueryDto } from './time-range-query.dto.js';

/** A score in a query. */
const IsScoreText = () =>
  applyDecorators(
    // An empty text is no number.
    Transform(({ value }: { value: unknown }) => Number(value === '' ? Number.NaN : value)),
    IsNumber(),
    Min(0),
    Max(1),
  );

/** Feedback on a run: at least one field. */
export class FeedbackRequestDto {
  /** 0 (bad) to 1 (good), stored to a thousandth. */
  @Omittable()
  @IsNumber()
  @Min(0)
  @Max(1)
  score?: number;

  /** Reason of the score; not blank. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'comment must not be blank' })
  @MaxLength(10_000)
  comment?: string;

  /** The answer that the run should have given. */
  @Omittable()
  @IsString()
  @MaxLength(200_000)
  correction?: string;
}

/** Feedback of one person on a run. */
export class FeedbackDto {
  run_id!: string;
  agent!: string;
  /** Id of the principal who gave it. */
  given_by!: string;
  /** 0 (bad) to 1 (good). */
  score!: number | null;
  comment!: string | null;
  correction!: string | null;
  /** Epoch ms. */
  created_at!: number;
}

/** The feedback on a run, newest first. */
export class RunFeedbackDto {
  feedback!: FeedbackDto[];
}

/** Filter of feedback by its run, time and score. */
export class FeedbackFilterDto extends TimesQueryDto {
  /** Name of an agent, or of a workflow as `workflow:name`. */
  @Omittable()
  @IsString()
  agent?: string;

  /** Lowest score. */
  @Omittable()
  @IsScoreText()
  minScore?: number;

  /** Highest score. */
  @Omittable()
  @IsScoreText()
  maxScore?: number;

  /** `true`: only feedback with a correction. */
  @Omittable()
  @IsIn(['true', 'false'])
  corrected?: 'true' | 'false';
}

/** A page of feedback. */
export class FeedbackQueryDto extends FeedbackFilterDto {
  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('feedback', TIME_PLACE)
  cursor?: string;

  /** Maximum number of entries in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** A page of feedback, newest first. */
export class FeedbackPageDto {
  feedback!: FeedbackDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}

/** The feedback on the runs of one agent. */
export class AgentFeedbackDto {
  agent!: string;
  count!: number;
  /** Feedback with a score. */
  scored!: number;
  /** 0 to 1; `null` without a score. */
  mean_score!: number | null;
  comments!: number;
  corrections!: number;
}

/** Feedback by agent. */
export class FeedbackSummaryDto {
  agents!: AgentFeedbackDto[];
}

/** Filter of a dataset. With a score or `corrected` it has runs with such feedback, else all completed runs. */
export class DatasetQueryDto extends FeedbackFilterDto {
  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('dataset', TIME_PLACE)
  cursor?: string;

  /** Maximum number of runs in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** A run as a line of a dataset. */
export class DatasetLineDto {
  /** The id of the run. */
  id!: string;
  /** The question to the agent, or the input of the workflow. */
  input!: unknown;
  /** The newest correction, else the answer of the run. */
  expected!: unknown;
  metadata!: Record<string, unknown>;
}

/** A page of a dataset, newest first. */
export class DatasetPageDto {
  lines!: DatasetLineDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
