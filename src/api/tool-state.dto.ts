import { Type } from 'class-transformer';
import { IsInt, IsString, Max, Min } from 'class-validator';
import type { StateType } from '../tool/index.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { LimitQueryDto } from './page-query.dto.js';

/** Which contexts are listed. */
export class ToolStateListQueryDto extends LimitQueryDto {
  /** Of one tool only. */
  @MayBeLeftOut()
  @IsString()
  tool?: string;

  /** Of one session only. */
  @MayBeLeftOut()
  @IsString()
  sessionId?: string;

  /** The `next` of the page before. */
  @MayBeLeftOut()
  @IsString()
  cursor?: string;
}

/** Which part of a history is read. */
export class ToolStateHistoryQueryDto extends LimitQueryDto {
  /** Only what was before this `n`: the `next` of the page before. */
  @MayBeLeftOut()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  before?: number;
}

/** To which version a business state goes back. */
export class ToolStateRollbackDto {
  /**
   * One of those that `versions` lists.
   * @example 3
   */
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  version!: number;
}

/** One state of a context, without its data. */
export class ToolStateHeadDto {
  state_id!: string;
  state_type!: StateType;
  /** Counted from 1, one more with every change. */
  version!: number;
  /** Epoch ms. */
  created_at!: number;
  /** Epoch ms. */
  updated_at!: number;
  /** Epoch ms; `null` for never. */
  expires_at!: number | null;
}

/** One state of a context. */
export class ToolStateDto extends ToolStateHeadDto {
  /** As the tool keeps it. */
  data!: Record<string, unknown>;
}

/** Whose state it is: a tool's in a session. */
export class ToolContextDto {
  context_id!: string;
  tool!: string;
  /** The session's id, or `run:` and the run's for one without a session. */
  session_id!: string;
  /** What keeps it. */
  manager!: string;
  /** Epoch ms. */
  created_at!: number;
  /** Epoch ms. */
  used_at!: number;
  /** Epoch ms; `null` for never. */
  expires_at!: number | null;
}

/** A context in a list. */
export class ListedToolContextDto extends ToolContextDto {
  states!: ToolStateHeadDto[];
}

/** A context with what is in it. */
export class ShownToolContextDto extends ToolContextDto {
  states!: ToolStateDto[];
}

/** A context that is there and cannot be read. */
export class DamagedToolContextDto {
  context_id!: string;
  /** What keeps it. */
  manager!: string;
  /** What asking for it answers, too. */
  code!: string;
  /** What is wrong with it, and what to do. */
  detail!: string;
}

/** Contexts, in the order of their ids. */
export class ToolContextPageDto {
  contexts!: ListedToolContextDto[];
  /** Those of the page that cannot be read. */
  damaged!: DamagedToolContextDto[];
  /** The cursor of the next page; `null` on the last one. */
  next!: string | null;
}

/** What happened to a context. */
export class ToolStateHistoryEntryDto {
  n!: number;
  /** Epoch ms. */
  at!: number;
  kind!: 'execution_start' | 'execution_success' | 'execution_error' | 'rollback';
  /** The key of the call that did it, `runId:tool:…`, or the id of who rolled back. */
  by!: string | null;
  detail!: Record<string, unknown>;
}

/** A part of a context's history, the last first. */
export class ToolStateHistoryDto {
  entries!: ToolStateHistoryEntryDto[];
  /** For `before`; `null` on the last page. */
  next!: number | null;
}

/** A business state as it was. */
export class ToolStateVersionDto {
  version!: number;
  /** Epoch ms. */
  at!: number;
  by!: string | null;
  data!: Record<string, unknown>;
}

/** The business states that are kept, the present one first. */
export class ToolStateVersionsDto {
  versions!: ToolStateVersionDto[];
}
