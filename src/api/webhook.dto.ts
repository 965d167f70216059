import {
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsString,
  IsUrl,
  Matches,
  MaxLength,
} from 'class-validator';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../run/event/index.js';
import type { DeliveryStatus } from '../webhook/index.js';
import { IsCursor } from './list-cursor.js';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { Omittable } from './omittable.decorator.js';

const DELIVERY_STATUSES: readonly DeliveryStatus[] = ['pending', 'delivered', 'failed'];
/** Also local names; the guarded client decides which hosts are called. */
const ANY_HOST = { protocols: ['http', 'https'], require_protocol: true, require_tld: false };
const HTTP_URL = { message: '$property must be an http or https URL' };

/** A new webhook of the caller's tenant. */
export class WebhookRequestDto {
  /**
   * URL that receives the events as POST requests. Non-public hosts need an entry in `OUTGOING_ALLOW`.
   * @example 'https://app.example/hooks/jackdaw'
   */
  @IsString()
  @MaxLength(2000)
  @IsUrl(ANY_HOST, HTTP_URL)
  url!: string;

  /** Events to send; by default all. Runs that another run called send none. */
  @Omittable()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(WEBHOOK_EVENTS, { each: true })
  events?: WebhookEvent[];

  /** Only runs of this agent, or of a workflow as `workflow:name`; by default all. */
  @Omittable()
  @Matches(/^[^\p{Cc}\p{Cs}]{1,255}$/u, { message: 'agent must be 1 to 255 characters without control characters' })
  agent?: string;

  /** Whether requests contain the answer of the run, and the arguments of waiting calls. */
  @Omittable()
  @IsBoolean()
  includeContent?: boolean = false;
}

/** Changes of a webhook; absent fields stay. */
export class WebhookChangeDto {
  /** As in a new webhook. */
  @Omittable()
  @IsString()
  @MaxLength(2000)
  @IsUrl(ANY_HOST, HTTP_URL)
  url?: string;

  @Omittable()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(WEBHOOK_EVENTS, { each: true })
  events?: WebhookEvent[];

  @Omittable()
  @IsBoolean()
  includeContent?: boolean;

  /** Whether events are sent. Events of the time in which it is false are lost. */
  @Omittable()
  @IsBoolean()
  enabled?: boolean;
}

/** A webhook without its secret. */
export class WebhookDto {
  /** `configured` for the one of `WEBHOOK_URL`. */
  id!: string;
  url!: string;
  events!: WebhookEvent[];
  /** `null` for all agents. */
  agent!: string | null;
  include_content!: boolean;
  enabled!: boolean;
  /** `person`, `gone` (the receiver replied 410) or `restored` (the database is a copy); `null` while it is enabled. */
  disabled_reason!: 'person' | 'gone' | 'restored' | null;
  /** Epoch ms. */
  created_at!: number;
  /** Id of the principal who created it. */
  created_by!: string;
}

/** A new webhook with its secret. */
export class NewWebhookDto extends WebhookDto {
  /** Secret of the signatures (`whsec_…`). Only the first response contains it, not its repetition. */
  secret?: string;
}

/** A new secret. */
export class WebhookSecretDto {
  /** Secret of the signatures (`whsec_…`). The earlier one signs too for 24 hours. */
  secret!: string;
}

/** All webhooks of the tenant, newest first. */
export class WebhookListDto {
  webhooks!: WebhookDto[];
}

/** Outcome of a test message. */
export class WebhookTestDto {
  /** Whether the receiver replied with a status from 200 to 299. */
  delivered!: boolean;
  /** HTTP status of the reply; `null` without one. */
  response_status!: number | null;
  error!: string | null;
}

/** Filter of the deliveries of a webhook. */
export class DeliveryQueryDto {
  @Omittable()
  @IsIn(DELIVERY_STATUSES)
  status?: DeliveryStatus;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('deliveries', /^[\w-]{1,64}\.\d{1,9}$/)
  cursor?: string;

  /** Maximum number of deliveries in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** The delivery of one event to a webhook. Times are epoch ms. */
export class DeliveryDto {
  /** The `webhook-id` of its requests. */
  id!: string;
  run_id!: string;
  event!: WebhookEvent;
  status!: DeliveryStatus;
  attempts!: number;
  created_at!: number;
  /** Time of the next attempt; `null` after the last. */
  next_attempt_at!: number | null;
  finished_at!: number | null;
  /** HTTP status of the last reply; `null` without one. */
  response_status!: number | null;
  error!: string | null;
}

/** A page of deliveries, newest run first. */
export class DeliveryPageDto {
  deliveries!: DeliveryDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
