import { Body, Controller, Delete, Get, Header, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { ALL_SCOPES, CurrentPrincipal, Requires, visibilityOf } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { type ApiKeyPage, type ApiKeyRecord, ApiKeyService, type NewApiKey } from '../security/keys/index.js';
import { parseIdempotencyKey } from './client-request.js';
import { IdempotentCreationService } from './idempotent-creation.service.js';
import { toEpochMs } from './is-time.decorator.js';
import { type KeyDto, KeyListQueryDto, KeyPageDto, KeyRequestDto, NewKeyDto } from './key.dto.js';
import { placeIn, toCursor } from './list-cursor.js';

/** @param body validated */
function toNewKey({ name, role, scopes = [ALL_SCOPES], visibility, expiresAt }: KeyRequestDto): NewApiKey {
  return {
    name,
    role,
    scopes,
    visibility: visibility ?? null,
    expiresAt: expiresAt === undefined ? null : toEpochMs(expiresAt),
  };
}

function toKeyView(key: ApiKeyRecord): KeyDto {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    scopes: [...key.scopes],
    visibility: visibilityOf({ roles: [key.role], ...(key.visibility && { visibility: key.visibility }) }),
    created_at: key.createdAt,
    created_by: key.createdBy,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
  };
}

function toNewKeyView(record: ApiKeyRecord, key: string): NewKeyDto {
  return Object.assign(toKeyView(record), { key });
}

function toKeyPage({ keys, next }: ApiKeyPage): KeyPageDto {
  return { keys: keys.map(toKeyView), next: toCursor('keys', next) };
}

@Requires('keys')
@Controller('keys')
export class KeyController {
  constructor(
    private readonly creations: IdempotentCreationService,
    private readonly keys: ApiKeyService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Creates an API key for the caller's tenant. Only this response contains the key itself: with an `Idempotency-Key` a
   * repeated request returns the same record without it.
   */
  @Post()
  @Header('cache-control', 'no-store')
  async create(
    @CurrentPrincipal() principal: Principal,
    @Body() body: KeyRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
  ): Promise<NewKeyDto> {
    const request = parseIdempotencyKey(idempotencyKey, 'keys', body);
    return this.creations.run<NewKeyDto>(principal, request, reply, {
      create: async (id) => {
        const { key, record } = await this.keys.create(principal, toNewKey(body), id);
        this.access.record(principal, 'create', 'key', record.id);
        return toNewKeyView(record, key);
      },
      find: async (id) => toKeyView(await this.keys.get(principal, id)),
    });
  }

  /** The tenant's API keys, newest first, including revoked keys; without those of `API_KEYS`. */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: KeyListQueryDto): Promise<KeyPageDto> {
    return toKeyPage(await this.keys.list(principal, query.limit ?? 50, placeIn(query.cursor)));
  }

  /**
   * Revokes an API key: at once here, within seconds in other processes. Runs that wait for a decision end when they
   * resume.
   */
  @Delete(':id')
  @HttpCode(204)
  async revoke(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.keys.revoke(principal, id);
    this.access.record(principal, 'revoke', 'key', id);
  }
}
