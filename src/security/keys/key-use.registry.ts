import type { OnModuleInit } from '@nestjs/common';
import type { ApiKeyStore } from './api-key.store.js';

/** How long "no key was made yet" is believed: a first key made by another process is needed here so much later, in ms. */
const BELIEVED_MS = 3_000;

/**
 * Knows whether requests need a credential: where keys are configured or somebody's own authenticator decides, and once a
 * key was made. That key may be revoked or expire: what needed one before does not become open again.
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

  /** As far as is known, without asking the database: for routes that must answer without it. */
  get isOpen(): boolean {
    return !this.isNeeded;
  }

  async areNeeded(): Promise<boolean> {
    const age = performance.now() - this.readAt;
    if (this.isNeeded || age < BELIEVED_MS) return this.isNeeded;
    const isEmpty = await this.store.isEmpty();
    this.readAt = performance.now();
    if (!isEmpty) this.isNeeded = true;
    return this.isNeeded;
  }

  /** A first key was made here. */
  noteKey(): void {
    this.isNeeded = true;
  }
}
