import { IsBoolean, IsObject } from 'class-validator';
import { IsId } from './is-id.decorator.js';
import { RawJson } from './raw-json.decorator.js';
import { IsCursor, TIME_PLACE } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { LimitQueryDto, PageQueryDto } from './page-query.dto.js';
import type { SessionMessage, TurnStatus } from '../session/index.js';

/** A new session. */
export class SessionRequestDto {
  /** If omitted, a new id. */
  @Omittable()
  @IsId()
  id?: string;

  /** Any JSON object; models do not receive it. */
  @Omittable()
  @IsObject()
  @RawJson()
  metadata?: Record<string, unknown>;
}

/** Metadata of a session. */
export class SessionMetadataDto {
  /** Any JSON object. */
  @IsObject()
  @RawJson()
  metadata!: Record<string, unknown>;
}

/** Filter of the list of sessions. */
export class SessionListQueryDto extends LimitQueryDto {
  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('sessions', TIME_PLACE)
  cursor?: string;

  /** Maximum number of sessions in the page. */
  declare limit?: number;
}

/** An exported session, format version 1. Times are epoch ms. */
export class SessionExportDto {
  version!: number;
  /** Its id, owner, times and metadata. */
  session!: Record<string, unknown>;
  /** Its turns with their messages, oldest first. */
  turns!: Record<string, unknown>[];
  /** HMAC-SHA256 of this installation over the other fields, valid in the same tenant. */
  signature?: string;
}

/** A session to import. */
export class SessionImportDto {
  /** The complete export. */
  @IsObject()
  @RawJson()
  session!: Record<string, unknown>;

  /** A new id; if omitted, the exported one. */
  @Omittable()
  @IsId()
  id?: string;

  /** Whether to trust an import without a valid signature; needs the scope `sessions:trust`. */
  @Omittable()
  @IsBoolean()
  trusted?: boolean = false;
}

/** A session. Times are epoch ms. */
export class SessionDto {
  id!: string;
  /** Id of the principal who created the session. */
  owner!: string;
  /** Number of turns since the last clear, including erased ones. */
  turn_count!: number;
  message_count!: number;
  /** Metadata of the session. */
  metadata!: Record<string, unknown>;
  /** Whether the session has untrusted content. */
  is_tainted!: boolean;
  /** Whether the session has private data. */
  is_private!: boolean;
  created_at!: number;
  updated_at!: number;
  /** The session of the calling agent, if an agent uses this session to call another agent; else `null`. */
  parent_session_id!: string | null;
  /** Set in lists if the stored row is damaged; the metadata is then empty. */
  is_damaged?: true;
}

/** A page of sessions. */
export class SessionPageDto {
  sessions!: SessionDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}

/** A tool call as the model wrote it. */
export class MessageCallDto {
  id!: string;
  name!: string;
  /** JSON text. */
  arguments!: string;
}

/** A page of a session's history. */
export class MessageQueryDto extends PageQueryDto {
  /** Number of the last turn of the previous page. */
  declare after?: number;

  /** Maximum number of turns in the page. */
  declare limit?: number;
}

/** An image of a tool message. */
export class MessageImageDto {
  type!: 'image';
  /** An HTTPS URL or a data URI. */
  url!: string;
}

/** A message in its turn. Times are epoch ms. */
export class MessageDto {
  turn!: number;
  /** Status of the turn; a failed or cancelled turn may lack an answer. */
  turn_status!: TurnStatus;
  run_id!: string;
  /** Present if the turn is pinned. */
  is_pinned?: true;
  role!: SessionMessage['role'];
  content!: SessionMessage['content'];
  /** Tool calls of an assistant message. */
  tool_calls?: MessageCallDto[];
  /** The call that a tool message answers. */
  tool_call_id?: string;
  /** The tool of a tool message. */
  name?: string;
  /** Images in the tool's result. */
  images?: MessageImageDto[];
  /** Metadata of the message. */
  metadata?: Record<string, unknown>;
  created_at!: number;
}

/** A page of messages in whole turns, oldest first. */
export class MessagePageDto {
  messages!: MessageDto[];
  /** The `after` of the next page; `null` on the last page. */
  next!: number | null;
}
