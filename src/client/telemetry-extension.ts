import { Extension, type ExtensionHost } from '../agent/index.js';
import type { RunNoticeListener } from '../run/index.js';

/** Passes everything that runs record to one listener. */
export class TelemetryExtension extends Extension {
  readonly name = 'telemetry';
  readonly version = '1.0.0';

  constructor(private readonly listener: RunNoticeListener) {
    super();
  }

  override register(host: ExtensionHost): void {
    host.on('**', this.listener);
  }
}
