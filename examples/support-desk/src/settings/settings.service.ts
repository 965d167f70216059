import { Injectable } from '@nestjs/common';

/** What the environment says. */
@Injectable()
export class Settings {
  readonly port = Number(process.env['PORT'] ?? 3000);
  readonly dataDir = process.env['DATA_DIR'] ?? 'data';
}
