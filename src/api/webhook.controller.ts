import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  Headers,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { WEBHOOK_EVENTS } from '../run/event/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { type Webhook, type WebhookDelivery, WebhookService } from '../webhook/index.js';
import { parseIdempotencyKey } from './client-request.js';
import { IdempotentCreationService } from './idempotent-creation.service.js';
import { placeIn, toCursor } from './list-cursor.js';
import {
  type DeliveryDto,
  DeliveryPageDto,
  DeliveryQueryDto,
  NewWebhookDto,
  WebhookChangeDto,
  WebhookDto,
  WebhookListDto,
  WebhookRequestDto,
  WebhookSecretDto,
  WebhookTestDto,
} from './webhook.dto.js';

function toWebhookView(webhook: Webhook): WebhookDto {
  return {
    id: webhook.id,
    url: webhook.url,
    events: [...webhook.events],
    agent: webhook.agent,
    include_content: webhook.hasContent,
    enabled: webhook.isActive,
    disabled_reason: webhook.disabledReason,
    created_at: webhook.createdAt,
    created_by: webhook.createdBy,
  };
}

function toDeliveryView(delivery: WebhookDelivery): DeliveryDto {
  return {
    id: `${delivery.runId}.${delivery.n}`,
    run_id: delivery.runId,
    event: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.dueAt,
    finished_at: delivery.finishedAt,
    response_status: delivery.responseStatus,
    error: delivery.error,
  };
}

@Requires('webhooks')
@Controller('webhooks')
export class WebhookController {
  constructor(
    private readonly creations: IdempotentCreationService,
    private readonly webhooks: WebhookService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Creates a webhook for the caller's tenant. Only this response contains the secret: with an `Idempotency-Key` a repeated
   * request returns the same webhook without it.
   */
  @Post()
  @Header('cache-control', 'no-store')
  async create(
    @CurrentPrincipal() principal: Principal,
    @Body() body: WebhookRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
  ): Promise<NewWebhookDto> {
    const request = parseIdempotencyKey(idempotencyKey, 'webhooks', body);
    const { url, events = [...WEBHOOK_EVENTS], agent = null, includeContent = false } = body;
    return this.creations.run<NewWebhookDto>(principal, request, reply, {
      create: async (id) => {
        const wanted = { url, events, agent, hasContent: includeContent };
        const { webhook, secret } = await this.webhooks.create(principal, wanted, id);
        this.access.record(principal, 'create', 'webhook', id);
        return Object.assign(toWebhookView(webhook), { secret });
      },
      find: async (id) => toWebhookView(await this.webhooks.get(principal, id)),
    });
  }

  /** The webhooks of the tenant, newest first, and the one of `WEBHOOK_URL`. */
  @Get()
  async list(@CurrentPrincipal() principal: Principal): Promise<WebhookListDto> {
    return { webhooks: (await this.webhooks.list(principal)).map(toWebhookView) };
  }

  /** One webhook. */
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<WebhookDto> {
    return toWebhookView(await this.webhooks.get(principal, id));
  }

  /** Changes a webhook; pending deliveries go to the new URL. */
  @Patch(':id')
  async change(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() { includeContent, enabled, url, events }: WebhookChangeDto,
  ): Promise<WebhookDto> {
    const changed = await this.webhooks.change(principal, id, {
      ...(url !== undefined && { url }),
      ...(events && { events }),
      ...(includeContent !== undefined && { hasContent: includeContent }),
      ...(enabled !== undefined && { isActive: enabled }),
    });
    this.access.record(principal, changed.isActive ? 'enable' : 'disable', 'webhook', id);
    return toWebhookView(changed);
  }

  /** Deletes a webhook with its deliveries. */
  @Delete(':id')
  @HttpCode(204)
  async remove(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.webhooks.remove(principal, id);
    this.access.record(principal, 'revoke', 'webhook', id);
  }

  /** Replaces the secret of the signatures. For 24 hours each request has a signature of both secrets. */
  @Post(':id/secret')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async rotate(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<WebhookSecretDto> {
    const secret = await this.webhooks.rotate(principal, id);
    this.access.record(principal, 'create', 'webhook', id);
    return { secret };
  }

  /** Sends a signed message of the type `webhook.test` once, and returns its outcome. */
  @Post(':id/test')
  @HttpCode(200)
  async test(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<WebhookTestDto> {
    const { isDelivered, responseStatus, error } = await this.webhooks.test(principal, id);
    return { delivered: isDelivered, response_status: responseStatus, error };
  }

  /** The deliveries of a webhook, newest run first. They are deleted with their run. */
  @Get(':id/deliveries')
  async deliveries(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { limit = 50, status, cursor }: DeliveryQueryDto,
  ): Promise<DeliveryPageDto> {
    const after = placeIn(cursor);
    const page = { limit, ...(status && { status }), ...(after !== undefined && { after }) };
    const { deliveries, next } = await this.webhooks.history(principal, id, page);
    return { deliveries: deliveries.map(toDeliveryView), next: toCursor('deliveries', next) };
  }

  /** Sends an ended delivery again, with the same `webhook-id`. */
  @Post(':id/deliveries/:delivery/retry')
  @HttpCode(202)
  async retry(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('delivery') delivery: string,
  ): Promise<void> {
    await this.webhooks.redeliver(principal, id, delivery);
  }
}
