import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors/index.js';
import { newId, type Principal } from '../kernel/index.js';
import { CreationKeyStore, type IdempotentRequest } from '../run/index.js';
import { markReplay } from './idempotent-replay.mapper.js';

interface Creation<T> {
  readonly create: (id: string) => Promise<T>;
  /** Rejects if there is no such thing. */
  readonly find: (id: string) => Promise<T>;
}

/**
 * Creates something once, however often its request is sent. The id is reserved first: the repetition of a request that a
 * crash interrupted creates the thing with the reserved id.
 */
@Injectable()
export class IdempotentCreationService {
  private readonly logger = new Logger(IdempotentCreationService.name);

  constructor(private readonly keys: CreationKeyStore) {}

  /**
   * @param request of the `Idempotency-Key`; without it the thing is always created
   * @throws AppError `IDEMPOTENCY_KEY_REUSED`; the error of `find` if the thing was deleted
   */
  async run<T>(
    principal: Principal,
    request: IdempotentRequest | undefined,
    reply: FastifyReply,
    { create, find }: Creation<T>,
  ): Promise<T> {
    if (!request) return create(newId());
    const reserved = await this.keys.reserve(principal, request, newId(), Date.now());
    if (reserved.isCreated) return this.replayed(reply, await find(reserved.id));
    if (!reserved.isNew) {
      const found = await find(reserved.id).catch(() => undefined);
      if (found !== undefined) return this.replayed(reply, found);
    }
    let created: T;
    try {
      created = await create(reserved.id);
    } catch (error) {
      // A concurrent repetition may have been faster.
      const found = reserved.isNew ? undefined : await find(reserved.id).catch(() => undefined);
      if (found !== undefined) return this.replayed(reply, found);
      if (reserved.isNew && error instanceof AppError) await this.keys.release(principal, request);
      throw error;
    }
    // The thing exists: without the mark a repetition finds it all the same.
    await this.keys.markCreated(principal, request).catch((err: unknown) => {
      this.logger.warn({ err }, 'Failed to mark an Idempotency-Key as used');
    });
    return created;
  }

  private replayed<T>(reply: FastifyReply, found: T): T {
    markReplay(reply, { kind: 'replayed' });
    return found;
  }
}
