import { JournalEventDto, JournalStepDto } from './run-journal.dto.js';

/** The request of a model call of an exported run. */
export class ExportedRequestDto {
  step!: string;
  /** `provider`: the body for the provider's API. `model`: the request to a model without such an API. */
  form!: 'provider' | 'model';
  /** As JSON, rebuilt with the configuration of the exporting server. */
  body!: unknown;
  /** `provider:model`. */
  model?: string;
  /** As the model received it; absent for the form `model`, whose `body` it is. */
  request?: unknown;
  /** SHA-256 (base64url) of `body` as JSON; `null` for the form `model`. */
  hash!: string | null;
  /** SHA-256 of the body that was sent last; `null` if none was sent. */
  sent_hash!: string | null;
}

/** The decision of the exporting server about a recorded tool call. */
export class ExportedCallDto {
  step!: string;
  tool!: string;
  /** JSON text; the arguments of the person who approved the call, if that person edited them. */
  arguments!: string;
  decision!: 'run' | 'approval' | 'rejected';
  /** Whether an approval for a run or a session may cover the call. */
  isCoverable?: boolean;
  /** Error code of a rejected call. */
  code?: string;
  /** Why the call needs approval or is rejected. */
  reason?: string;
  /** The validated arguments; absent for a rejected call. */
  input?: unknown;
}

/** A file of an exported run. */
export class ExportedFileDto {
  /** Number of the file in the run. */
  n!: number;
  media_type!: string;
  /** Base64. */
  data!: string;
  name?: string;
  /** The text before the base64 from which the file was read. */
  prefix?: string;
}

/** The identity that started an exported run. */
export class ExportedPrincipalDto {
  id!: string;
  tenant!: string;
  roles!: string[];
  scopes?: string[];
}

/** A run with its journal and everything that a replay needs. Times are epoch ms. */
export class RunExportDto {
  /** Version of the format. */
  version!: number;
  run_id!: string;
  /** `agent`, `workflow` or `tool`. */
  kind!: string;
  agent!: string;
  status!: string;
  session_id!: string | null;
  /** The original run of a fork. */
  forked_from!: string | null;
  /** The position below the calling run; `null` for a run that no run called. */
  lineage!: unknown;
  loop_version!: number;
  timeout_ms!: number;
  created_at!: number;
  finished_at!: number | null;
  principal!: ExportedPrincipalDto;
  /** The run's stored input. */
  input!: unknown;
  /** The stored definition of the agent. */
  definition!: unknown;
  steps!: JournalStepDto[];
  events!: JournalEventDto[];
  requests!: ExportedRequestDto[];
  calls!: ExportedCallDto[];
  /** The earlier turns that the run has read; `null` if it has read none. */
  history!: unknown;
  files!: ExportedFileDto[];
  /** The ends of its child runs, by id. */
  children!: unknown;
}
