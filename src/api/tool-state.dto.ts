import { IsInt, IsString, Max, Min } from 'class-validator';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { IsCursor } from './list-cursor.js';
import type { StateType } from '../tool-state/index.js';
import { Omittable } from './omittable.decorator.js';
import { LimitQueryDto } from './page-query.dto.js';

/** Filter of the list of contexts. */
export class ToolStateListQueryDto extends LimitQueryDto {
  /** Name of a tool. */
  @Omittable()
  @IsString()
  tool?: string;

  /** Id of a session. */
  @Omittable()
  @IsString()
  sessionId?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('states', /^[\w-]{1,128}$/)
  cursor?: string;
}

/** Selects a page of a history. */
export class ToolStateHistoryQueryDto extends LimitQueryDto {
  /** Only entries before this `n`: the `next` of the previous page. */
  @Omittable()
  @IsWholeNumber(1, 2_147_483_647)
  before?: number;
}

/** Selects the version for a rollback. */
export class ToolStateRollbackDto {
  /**
   * A version listed by `versions`.
   * @example 3
   */
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  version!: number;
}

/** A state of a context, without its data. */
export class ToolStateHeadDto {
  state_id!: string;
  state_type!: StateType;
  /** Counted from 1; each change adds one. */
  version!: number;
  /** Epoch ms. */
  created_at!: number;
  /** Epoch ms. */
  updated_at!: number;
  /** Epoch ms; `null` for never. */
  expires_at!: number | null;
}

/** A state of a context. */
export class ToolStateDto extends ToolStateHeadDto {
  /** The data that the tool stored. */
  data!: Record<string, unknown>;
}

/** A context: a tool in a session. */
export class ToolContextDto {
  context_id!: string;
  tool!: string;
  /** The session's id; `run:` and the run's id for a run without a session. */
  session_id!: string;
  /** Name of the state manager that stores the context. */
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

/** A context with the data of its states. */
export class ShownToolContextDto extends ToolContextDto {
  states!: ToolStateDto[];
}

/** A context that exists but cannot be read. */
export class DamagedToolContextDto {
  context_id!: string;
  /** Name of the state manager that stores the context. */
  manager!: string;
  /** The error code; a request for the context returns the same code. */
  code!: string;
  /** The damage, and the remedy. */
  detail!: string;
}

/** Contexts, in the order of their ids. */
export class ToolContextPageDto {
  contexts!: ListedToolContextDto[];
  /** Unreadable contexts of the page. */
  damaged!: DamagedToolContextDto[];
  /** The cursor of the next page; `null` on the last page. */
  next!: string | null;
}

/** An entry in a context's history. */
export class ToolStateHistoryEntryDto {
  n!: number;
  /** Epoch ms. */
  at!: number;
  kind!: 'execution_start' | 'execution_success' | 'execution_error' | 'rollback';
  /** The key of the call, `runId:tool:…`, or the id of the principal who rolled back. */
  by!: string | null;
  detail!: Record<string, unknown>;
}

/** A page of a context's history, newest first. */
export class ToolStateHistoryDto {
  entries!: ToolStateHistoryEntryDto[];
  /** The `before` of the next page; `null` on the last page. */
  next!: number | null;
}

/** An earlier or present version of a business state. */
export class ToolStateVersionDto {
  version!: number;
  /** Epoch ms. */
  at!: number;
  by!: string | null;
  data!: Record<string, unknown>;
}

/** Stored versions of the business state, the present one first. */
export class ToolStateVersionsDto {
  versions!: ToolStateVersionDto[];
}
