import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { ConfiguredSecrets } from '../../config/index.js';
import type { LlmConfig } from '../../config/namespaces/index.js';
import { Log, messageOf } from '../../errors/index.js';
import { Cassette } from './cassette.js';

const MEANINGS = {
  replay: 'Model calls are answered from',
  record: 'Model calls are recorded in',
  auto: 'Known model calls are answered from, and new ones recorded in,',
} as const;

/** The cassette of `LLM_CASSETTE`, for a server. */
export class ConfiguredCassette extends Cassette implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Log('Cassette');

  private constructor({ file, ...options }: NonNullable<LlmConfig['cassette']>, secrets: readonly string[]) {
    super(file, { ...options, secrets });
  }

  /** @throws AppError `CONFIG_INVALID` if the file is missing in a replay, or is damaged */
  static of({ cassette }: LlmConfig, { values }: ConfiguredSecrets): Cassette | null {
    return cassette ? new ConfiguredCassette(cassette, values) : null;
  }

  onModuleInit(): void {
    this.logger.log(`${MEANINGS[this.mode]} ${this.file} (LLM_CASSETTE)`);
  }

  /** A server has no caller to throw at. */
  onApplicationShutdown(): void {
    try {
      this.assertDone();
    } catch (error) {
      this.logger.error(`The replay is incomplete. ${messageOf(error)}`);
    }
  }
}
