import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { DISPLAYED_IMAGES } from '../kernel/media/index.js';
import { RunFileService } from '../run/files/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { NumberPipe } from './number.pipe.js';

@Requires('runs:read')
@Controller('runs')
export class RunFileController {
  constructor(
    private readonly files: RunFileService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * The content of a file, to which a tool result of the run refers as `[file 1: …]`. A download, except for PNG, JPEG,
   * WebP and GIF. The run may also be one of an imported session. 404 for a run without this file.
   */
  @Get(':id/files/:n')
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('n', NumberPipe) n: number,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Uint8Array> {
    const { mediaType, bytes } = await this.files.get(principal, id, n);
    this.access.record(principal, 'read', 'run.file', id);
    // The content is untrusted: no type but the given one, no script, no document of this origin.
    reply.headers({
      'content-type': mediaType,
      'content-disposition': DISPLAYED_IMAGES.has(mediaType) ? 'inline' : 'attachment',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'cache-control': 'private, no-store',
    });
    return bytes;
  }
}
