import { PageQueryDto } from './page-query.dto.js';

/** A conversation. Times are epoch ms. */
export class SessionDto {
  id!: string;
  /** The id of the principal who began it. */
  owner!: string;
  turn_count!: number;
  message_count!: number;
  created_at!: number;
  updated_at!: number;
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
  created_at!: number;
}

/** A page of messages, whole turns, oldest first. */
export class MessagePageDto {
  messages!: MessageDto[];
  /** What to give as `after` for the next page; `null` on the last one. */
  next!: number | null;
}
