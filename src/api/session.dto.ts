import { IsObject, IsString, Matches } from 'class-validator';
import { AsItCame } from './as-it-came.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { LimitQueryDto, PageQueryDto } from './page-query.dto.js';

const ID = /^[A-Za-z0-9_-]{1,128}$/;
const ID_MESSAGE = { message: 'id must be 1 to 128 of A-Z a-z 0-9 _ -' };

/** A conversation to be begun. */
export class SessionRequestDto {
  /** A new one when it is left out. */
  @MayBeLeftOut()
  @Matches(ID, ID_MESSAGE)
  id?: string;

  /** What is kept with it: any JSON object; no model sees it. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  metadata?: Record<string, unknown>;
}

/** What is kept with a session. */
export class SessionMetadataDto {
  /** Any JSON object. */
  @IsObject()
  @AsItCame()
  metadata!: Record<string, unknown>;
}

/** Which sessions are listed. */
export class SessionListQueryDto extends LimitQueryDto {
  /** The `next` of the page before. */
  @MayBeLeftOut()
  @IsString()
  cursor?: string;

  /** The most sessions the page may have. */
  declare limit?: number;
}

/** A session as a file; version 1. Times are epoch ms. */
export class SessionExportDto {
  version!: number;
  /** Its id, owner, times and metadata. */
  session!: Record<string, unknown>;
  /** Its turns with their messages, oldest first. */
  turns!: Record<string, unknown>[];
}

/** A session to be taken in. */
export class SessionImportDto {
  /** What an export gave. */
  @IsObject()
  @AsItCame()
  session!: Record<string, unknown>;

  /** Another id than it had. */
  @MayBeLeftOut()
  @Matches(ID, ID_MESSAGE)
  id?: string;
}

/** A conversation. Times are epoch ms. */
export class SessionDto {
  id!: string;
  /** The id of the principal who began it. */
  owner!: string;
  turn_count!: number;
  message_count!: number;
  /** What is kept with it. */
  metadata!: Record<string, unknown>;
  created_at!: number;
  updated_at!: number;
  /** The session whose agent talks in this one with another agent; `null` for one that somebody talks in. */
  parent_session_id!: string | null;
}

/** A page of sessions. */
export class SessionPageDto {
  sessions!: SessionDto[];
  /** What to give as `cursor` for the next page; `null` on the last one. */
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
  /** The number of the last turn that is already there. */
  declare after?: number;

  /** The most turns the page may have. */
  declare limit?: number;
}

/** A picture that a tool's message has. */
export class MessageImageDto {
  /** `image`. */
  type!: string;
  /** An https URL or a data URI. */
  url!: string;
}

/** A message in its turn. Times are epoch ms. */
export class MessageDto {
  turn!: number;
  /** How its turn ended: a failed or cancelled one may lack an answer. */
  turn_status!: string;
  run_id!: string;
  /** `user`, `assistant` or `tool`. */
  role!: string;
  content!: unknown;
  /** The calls that an assistant's message asks for. */
  tool_calls?: MessageCallDto[];
  /** The call that a tool's message answers. */
  tool_call_id?: string;
  /** The tool that answers. */
  name?: string;
  /** What the tool shows beside its text. */
  images?: MessageImageDto[];
  /** What is kept with it. */
  metadata?: Record<string, unknown>;
  created_at!: number;
}

/** A page of messages, whole turns, oldest first. */
export class MessagePageDto {
  messages!: MessageDto[];
  /** What to give as `after` for the next page; `null` on the last one. */
  next!: number | null;
}
