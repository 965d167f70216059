import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { RunAdmissionService } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { SessionAdminService, SessionService } from '../session/index.js';
import { parseIdempotencyKey } from './client-request.js';
import { IdempotentCreationService } from './idempotent-creation.service.js';
import { NumberPipe } from './number.pipe.js';
import {
  MessagePageDto,
  MessageQueryDto,
  SessionDto,
  SessionExportDto,
  SessionImportDto,
  SessionListQueryDto,
  SessionMetadataDto,
  SessionPageDto,
  SessionRequestDto,
} from './session.dto.js';
import { toMessagePage, toPlace, toSessionPage, toSessionView } from './session.mapper.js';

@Requires('sessions:read')
@Controller('sessions')
export class SessionController {
  constructor(
    private readonly sessions: SessionService,
    private readonly sessionAdmin: SessionAdminService,
    private readonly creations: IdempotentCreationService,
    private readonly admission: RunAdmissionService,
    private readonly access: AccessLogService,
  ) {}

  /** Creates a session without messages. An `Idempotency-Key` makes a repeated request return the same session. */
  @Requires('sessions:write')
  @Post()
  async create(
    @CurrentPrincipal() principal: Principal,
    @Body() body: SessionRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<SessionDto> {
    const session = await this.creations.run(principal, parseIdempotencyKey(key, 'sessions', body), reply, {
      create: (id) =>
        this.admission.admit(() =>
          this.sessionAdmin.create(principal, { id: body.id ?? id, metadata: body.metadata ?? {} }),
        ),
      find: (id) => this.sessions.get(principal, body.id ?? id),
    });
    return toSessionView(session);
  }

  /** The sessions that the caller may see, newest first. */
  @Get()
  async list(@CurrentPrincipal() principal: Principal, @Query() query: SessionListQueryDto): Promise<SessionPageDto> {
    const limit = query.limit ?? 50;
    const listed = await this.sessionAdmin.list(principal, limit + 1, toPlace(query.cursor));
    this.access.record(principal, 'read', 'sessions', '');
    return toSessionPage(listed, limit);
  }

  /**
   * Imports an exported session. The caller becomes its owner. Without a valid signature of this installation the session
   * is tainted, and system messages need the scope `sessions:trust`. An `Idempotency-Key` makes a repeated request return
   * the same session.
   */
  @Requires('sessions:write')
  @Post('import')
  async import(
    @CurrentPrincipal() principal: Principal,
    @Body() body: SessionImportDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<SessionDto> {
    const { id, trusted: isTrusted } = body;
    // Without an id the session keeps that of its export.
    const importedId = id ?? String((body.session['session'] as { id?: unknown } | undefined)?.id);
    const session = await this.creations.run(principal, parseIdempotencyKey(key, 'sessions/import', body), reply, {
      create: () =>
        this.admission.admit(() =>
          this.sessionAdmin.import(principal, body.session, id, { isTrusted, at: 'session.' }),
        ),
      find: () => this.sessions.get(principal, importedId),
    });
    this.access.record(principal, 'import', 'session', session.id);
    return toSessionView(session);
  }

  /** A session. */
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<SessionDto> {
    const session = await this.sessions.get(principal, id);
    this.access.record(principal, 'read', 'session', id);
    return toSessionView(session);
  }

  /** Deletes a session; the journals of its runs stay until their retention ends. 409 while a run uses the session. */
  @Requires('sessions:write')
  @Delete(':id')
  @HttpCode(204)
  async remove(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.sessionAdmin.remove(principal, id);
    this.access.record(principal, 'erase', 'session', id);
  }

  /** The session's messages, whole turns a page, oldest first. */
  @Get(':id/messages')
  async messages(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { after = 0, limit = 50 }: MessageQueryDto,
  ): Promise<MessagePageDto> {
    const turns = await this.sessions.turns(principal, id, after, limit + 1);
    this.access.record(principal, 'read', 'session.messages', id);
    return toMessagePage(turns, limit);
  }

  /**
   * Deletes all messages, including those of the session's child sessions; the session stays. 409 while a run uses the
   * session.
   */
  @Requires('sessions:write')
  @Delete(':id/messages')
  @HttpCode(204)
  async clear(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.sessionAdmin.clear(principal, id);
    this.access.record(principal, 'erase', 'session.messages', id);
  }

  /** The session's metadata. */
  @Get(':id/metadata')
  async metadata(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<SessionMetadataDto> {
    const { metadata } = await this.sessions.get(principal, id);
    this.access.record(principal, 'read', 'session', id);
    return { metadata: { ...metadata } };
  }

  /** Replaces the session's metadata. */
  @Requires('sessions:write')
  @Put(':id/metadata')
  async setMetadata(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: SessionMetadataDto,
  ): Promise<SessionMetadataDto> {
    await this.sessionAdmin.setMetadata(principal, id, body.metadata);
    return { metadata: body.metadata };
  }

  /** Pins a turn: with the memory policy `lru`, runs receive it as long as it fits in their window. */
  @Requires('sessions:write')
  @Put(':id/turns/:turn/pin')
  @HttpCode(204)
  async pin(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('turn', NumberPipe) turn: number,
  ): Promise<void> {
    await this.sessionAdmin.pin(principal, id, turn, true);
  }

  /** Unpins a turn. */
  @Requires('sessions:write')
  @Delete(':id/turns/:turn/pin')
  @HttpCode(204)
  async unpin(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('turn', NumberPipe) turn: number,
  ): Promise<void> {
    await this.sessionAdmin.pin(principal, id, turn, false);
  }

  /** The whole session, in the format of `import`, signed for the tenant. */
  @Get(':id/export')
  async export(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<SessionExportDto> {
    const exported = await this.sessionAdmin.export(principal, id);
    this.access.record(principal, 'export', 'session', id);
    return exported;
  }
}
