import type { OnModuleInit } from '@nestjs/common';
import type { ApiKeyStore } from './api-key.store.js';

/** Cache time of "no key exists", in ms: delay until a first key created by another process is required here. */
const CACHE_MS = 3_000;

/**
 * Whether requests need a credential: if keys are configured, the application has its own authenticator, or a key was
 * ever created. A revoked or expired key does not reopen the server.
 */
export class KeyUseRegistry implements OnModuleInit {
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(
    private isNeeded: boolean,
    private readonly store: ApiKeyStore,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.areNeeded();
  }

  /** Last known state, without a query: for routes that must answer without the database. */
  get isOpen(): boolean {
    return !this.isNeeded;
  }

  async areNeeded(): Promise<boolean> {
    const age = performance.now() - this.readAt;
    if (this.isNeeded || age < CACHE_MS) return this.isNeeded;
    const isEmpty = await this.store.isEmpty();
    this.readAt = performance.now();
    if (!isEmpty) this.isNeeded = true;
    return this.isNeeded;
  }

  /** Records that this process created a key. */
  noteKey(): void {
    this.isNeeded = true;
  }
}
