import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, Log } from '../errors/index.js';
import { newId, type Principal } from '../kernel/index.js';
import { CreationKeyStore, type IdempotentRequest } from '../run/index.js';
import { markReplay } from './client-request.js';

type ReservedId = Awaited<ReturnType<CreationKeyStore['reserve']>>;

/** A reserved id whose thing does not exist after this time counts as interrupted, in ms. */
const LONGEST_MS = 5_000;
const POLL_MS = 50;

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
  private readonly logger = new Log(IdempotentCreationService.name);

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
    const reserved = await this.reserved(principal, request);
    const { id, isNew, isCreated } = reserved;
    if (isCreated) return this.replayed(reply, await find(id));
    const found = isNew ? undefined : await find(id).catch(() => undefined);
    if (found !== undefined) {
      await this.keys.markCreated(principal, request);
      return this.replayed(reply, found);
    }
    const created = await create(id).catch(async (error: unknown) => {
      // A repetition may have completed this request.
      const { isCreated: isDone } = await this.keys.reserve(principal, request, id, Date.now());
      if (isDone) return this.replayed(reply, await find(id));
      if (error instanceof AppError) await this.keys.release(principal, request);
      throw error;
    });
    // Without the mark a repetition finds the thing all the same.
    await this.keys.markCreated(principal, request).catch((err: unknown) => {
      this.logger.warn({ err }, 'Failed to mark an Idempotency-Key as used');
    });
    return created;
  }

  /** Waits while a concurrent request with the same key creates the thing. */
  private async reserved(principal: Principal, request: IdempotentRequest): Promise<ReservedId> {
    for (;;) {
      const reserved = await this.keys.reserve(principal, request, newId(), Date.now());
      const isInProgress = !reserved.isNew && !reserved.isCreated && Date.now() - reserved.at < LONGEST_MS;
      if (!isInProgress) return reserved;
      await pause(POLL_MS);
    }
  }

  private replayed<T>(reply: FastifyReply, found: T): T {
    markReplay(reply, { kind: 'replayed' });
    return found;
  }
}
