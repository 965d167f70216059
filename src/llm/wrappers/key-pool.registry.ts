import { Inject, Injectable, type OnModuleInit, type OnModuleDestroy } from '@nestjs/common';
import { unwatchFile, watchFile } from 'node:fs';
import { Log, messageOf } from '../../errors/index.js';
import { keysIn, type ProviderAccess } from '../../config/index.js';
import { llmConfig, type LlmConfig } from '../../config/namespaces/index.js';
import { KeyPool, type KeyPoolState } from './key-pool.policy.js';

/** Polling interval of key files, in ms. Mounted files have no change notifications. */
const LOOK_EVERY_MS = 1000;

/** The key pools of the providers with several keys or a key file. */
@Injectable()
export class KeyPoolRegistry implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Log(KeyPoolRegistry.name);
  private readonly pools = new Map<string, KeyPool>();
  private readonly files = new Map<string, string>();

  constructor(@Inject(llmConfig.KEY) config: LlmConfig) {
    for (const [provider, access] of Object.entries<ProviderAccess>(config.access)) {
      const { apiKeys, apiKeyFile } = access;
      if (apiKeyFile !== undefined) this.files.set(provider, apiKeyFile);
      if (apiKeys && apiKeys.length > 0) this.pools.set(provider, new KeyPool(apiKeys));
    }
  }

  /** Watches the key files; changes apply without a restart. */
  onModuleInit(): void {
    for (const [provider, file] of this.files)
      watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, () => this.read(provider, file));
  }

  onModuleDestroy(): void {
    for (const file of this.files.values()) unwatchFile(file);
  }

  /** The pool of a provider; undefined without several keys. */
  of(provider: string): KeyPool | undefined {
    return this.pools.get(provider);
  }

  /** States of the key pools, by provider. */
  states(): ReadonlyMap<string, KeyPoolState> {
    return new Map([...this.pools].map(([provider, pool]) => [provider, pool.state()]));
  }

  private read(provider: string, file: string): void {
    try {
      const keys = keysIn(file);
      this.pools.get(provider)?.replace(keys);
      this.logger.log(`${keys.length} API keys of ${provider} were read from their file again`);
    } catch (error) {
      this.logger.error(`The API keys of ${provider} stay as they are: ${file}: ${messageOf(error)}`);
    }
  }
}
