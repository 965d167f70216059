import { Injectable } from '@nestjs/common';

/** Settings from the environment. */
@Injectable()
export class Settings {
  readonly port = Number(process.env['PORT'] ?? 3000);
  readonly dataDir = process.env['DATA_DIR'] ?? 'data';
}
