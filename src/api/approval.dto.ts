import { IsString } from 'class-validator';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { IsCursor } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';

/** Filter of the list of approvals. */
export class ApprovalQueryDto {
  /** Only approvals for runs of this session. */
  @Omittable()
  @IsString()
  sessionId?: string;

  /** Only approvals of calls of this run. */
  @Omittable()
  @IsString()
  runId?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('approvals', /^[\w-]{1,64}$/)
  cursor?: string;

  /** Maximum number of approvals in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** An approval that also covers later calls. */
export class ApprovalDto {
  id!: string;
  /** `run`: calls of the run; `session`: calls of the runs of its session. */
  scope!: 'run' | 'session';
  tool!: string;
  /** SHA-256 (hex) of the tool's definition; a changed definition is not covered. */
  definition!: string;
  /** Hosts and e-mail addresses that arguments may contain, in lower case. */
  addresses!: string[];
  /** The run of the approved call. */
  run_id!: string;
  session_id!: string | null;
  /** Id of the principal whose runs it covers. */
  owner!: string;
  /** Id of the principal who approved; the approval has no effect while it may not make the call. */
  decided_by!: string;
  /** Epoch ms. */
  decided_at!: number;
}

/** A page of approvals, the newest first. */
export class ApprovalPageDto {
  approvals!: ApprovalDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
