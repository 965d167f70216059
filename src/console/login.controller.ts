import { Controller, Delete, Headers, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors/index.js';
import { BrowserSessionService, isCookieCredential, keyFrom, Public, Requires, SCOPES } from '../security/index.js';

/** Sessions of browsers: pages cannot protect a key from scripts, but no script reads this cookie. */
@Controller('login')
export class LoginController {
  constructor(private readonly sessions: BrowserSessionService) {}

  /**
   * Exchanges the API key of the request for a cookie that authenticates a browser for 12 hours, or until the key is
   * revoked. Changes need a page of this server.
   */
  @Post()
  @HttpCode(204)
  @Requires(...SCOPES)
  async start(
    @Headers() headers: Record<string, string>,
    @Req() { protocol }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const key = keyFrom(headers);
    if (key === undefined || !isCookieCredential(key)) {
      throw new AppError(
        'VALIDATION_FAILED',
        'A login needs an API key of at most 2,000 ASCII characters: send it as `Authorization: Bearer <key>`.',
      );
    }
    reply.header('set-cookie', await this.sessions.start(key, protocol === 'https'));
  }

  /** Removes the cookie. */
  @Delete()
  @HttpCode(204)
  @Public()
  end(@Req() { protocol }: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): void {
    reply.header('set-cookie', this.sessions.end(protocol === 'https'));
  }
}
