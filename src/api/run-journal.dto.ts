import { PageQueryDto } from './page-query.dto.js';

/** A page of a journal. */
export class RunJournalQueryDto extends PageQueryDto {
  /** The place that is there already: the position of a step and the number of an event. */
  declare after?: number;

  /** The most steps, and the most events, the page may have. */
  declare limit?: number;
}

/** A recorded step. Times are epoch ms. */
export class JournalStepDto {
  /** Counted from 1, in the order of the loop. */
  position!: number;
  /** What a fork is told as `fromStep`: `model:1`, `tool:1:2`. */
  name!: string;
  kind!: string;
  /** The model or tool that it is about. */
  subject!: string;
  /** Any JSON value. */
  result!: unknown;
  /** Which execution of the run recorded it; 0 for one that was copied from another run. */
  epoch!: number;
  created_at!: number;
}

/** A recorded event. Times are epoch ms. */
export class JournalEventDto {
  /** Its place in the run's stream. */
  n!: number;
  /** One of `RunEventType`; of those, what is recorded. */
  type!: string;
  /** The event as the stream told it. */
  data!: unknown;
  created_at!: number;
}

/** What a run has recorded, byte for byte what it is replayed from. Times are epoch ms. */
export class RunJournalDto {
  run_id!: string;
  agent!: string;
  status!: string;
  session_id!: string | null;
  /** The run that it is a fork of. */
  forked_from!: string | null;
  loop_version!: number;
  created_at!: number;
  finished_at!: number | null;
  /** What the run was given, as it is stored. */
  input!: unknown;
  /** The agent's definition, as it is stored. */
  definition!: unknown;
  steps!: JournalStepDto[];
  events!: JournalEventDto[];
  /** What to give as `after` for the next page; `null` on the last one. */
  next!: number | null;
}
