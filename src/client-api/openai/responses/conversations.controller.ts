import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { Principal } from '../../../kernel/index.js';
import { CurrentPrincipal, Requires } from '../../../security/index.js';
import { ConversationService } from './conversation.service.js';

/** OpenAI's conversations: a conversation is a session. Only runs add items. */
@Requires('sessions:read')
@Controller('v1/conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationService) {}

  /** Creates a session. */
  @Requires('sessions:write')
  @Post()
  @HttpCode(200)
  create(@CurrentPrincipal() principal: Principal, @Body() body: unknown): Promise<object> {
    return this.conversations.create(principal, body);
  }

  /** A session. */
  @Get(':id')
  get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<object> {
    return this.conversations.get(principal, id);
  }

  /** Replaces the metadata of a session. */
  @Requires('sessions:write')
  @Post(':id')
  @HttpCode(200)
  update(@CurrentPrincipal() principal: Principal, @Param('id') id: string, @Body() body: unknown): Promise<object> {
    return this.conversations.update(principal, id, body);
  }

  /** Deletes a session. */
  @Requires('sessions:write')
  @Delete(':id')
  remove(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<object> {
    return this.conversations.remove(principal, id);
  }

  /** The messages of a session as items, the newest turns first by default. */
  @Get(':id/items')
  items(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: { readonly order?: string; readonly limit?: string; readonly after?: string },
  ): Promise<object> {
    return this.conversations.items(principal, id, query);
  }

  /** An item of a session. */
  @Get(':id/items/:item')
  item(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('item') item: string,
  ): Promise<object> {
    return this.conversations.item(principal, id, item);
  }

  /** The history of a session cannot be changed. */
  @Requires('sessions:write')
  @Post(':id/items')
  addItems(): never {
    return this.conversations.refuseChange();
  }

  /** The history of a session cannot be changed. */
  @Requires('sessions:write')
  @Delete(':id/items/:item')
  removeItem(): never {
    return this.conversations.refuseChange();
  }
}
