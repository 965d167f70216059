import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { AccessLogService, ApiKeyService, CurrentPrincipal, Requires } from '../security/index.js';
import { KeyListQueryDto, KeyPageDto, KeyRequestDto, NewKeyDto } from './key.dto.js';
import { placeIn } from './list-cursor.js';
import { toKeyPage, toNewKey, toNewKeyView } from './key.mapper.js';

@Requires('keys')
@Controller('keys')
export class KeyController {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly access: AccessLogService,
  ) {}

  /** Creates an API key for the caller's tenant. Only this response contains the key itself. */
  @Post()
  @Header('cache-control', 'no-store')
  async create(@CurrentPrincipal() principal: Principal, @Body() body: KeyRequestDto): Promise<NewKeyDto> {
    const { key, record } = await this.keys.create(principal, toNewKey(body));
    this.access.record(principal, 'create', 'key', record.id);
    return toNewKeyView(record, key);
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
