import { PageQueryDto } from './page-query.dto.js';

/** A page of a journal. */
export class RunJournalQueryDto extends PageQueryDto {
  /** End of the previous page: the position of a step and the number of an event. */
  declare after?: number;

  /** Maximum number of steps, and of events, in the page. */
  declare limit?: number;
}

/** A recorded step. Times are epoch ms. */
export class JournalStepDto {
  /** Counted from 1, in the order of the loop. */
  position!: number;
  /** The `fromStep` of a fork, such as `model:1` or `tool:1:2`. */
  name!: string;
  kind!: string;
  /** The step's model or tool. */
  subject!: string;
  /** Any JSON value. */
  result!: unknown;
  /** The execution of the run that recorded the step, from 1; 0 for a step copied from another run. */
  epoch!: number;
  /** When the step was recorded, at the end of its action. */
  created_at!: number;
  /** Start of the action; `null` for a step without one, and for steps from before the upgrade to this version. */
  started_at!: number | null;
  /** Time from the start to the first text of a streamed reply, in ms. */
  first_token_ms!: number | null;
  /** Of a model call: the requests to providers, with retries and fallbacks. */
  attempts!: number | null;
}

/** The request of a model call, rebuilt from the journal with the present configuration. */
export class StepRequestDto {
  /** The body as JSON; `null` for a model without a provider's API. */
  body!: unknown;
  /** SHA-256 (base64url) of the body that was sent last; `null` if none was sent, or before the upgrade to this version. */
  sent_hash!: string | null;
  /** SHA-256 of `body` as JSON. */
  hash!: string | null;
  /** Whether both are equal; `null` if one is unknown. They differ if the configuration has changed, or another model replied. */
  is_same!: boolean | null;
}

/** A recorded event. Times are epoch ms. */
export class JournalEventDto {
  /** Number of the event in the run's stream. */
  n!: number;
  /** A recorded `RunEventType`. */
  type!: string;
  /** The event as in the stream. */
  data!: unknown;
  created_at!: number;
}

/** A run's journal, byte-exact, as replay reads it; a viewer's lacks instructions. Times are epoch ms. */
export class RunJournalDto {
  run_id!: string;
  agent!: string;
  status!: string;
  session_id!: string | null;
  /** The original run of a fork. */
  forked_from!: string | null;
  loop_version!: number;
  created_at!: number;
  finished_at!: number | null;
  /** The run's stored input. */
  input!: unknown;
  /** The stored definition of the agent; for viewers without instructions. */
  definition!: unknown;
  steps!: JournalStepDto[];
  events!: JournalEventDto[];
  /** The `after` of the next page; `null` on the last page. */
  next!: number | null;
}
