import type { FastifyReply, FastifyRequest } from 'fastify';
import { HEAP_COST, type HeapBudget, HeapReservation } from '../kernel/index.js';
import { heapExhausted } from '../run/index.js';

const RESERVATION = Symbol('RESERVATION');

interface Reserved {
  [RESERVATION]?: HeapReservation;
}

/**
 * Reserves heap for a body, by its declared length, before it is read. The run that it starts may need the reservation
 * longer than the response.
 * @throws AppError `HEAP_EXHAUSTED`
 */
export function reserveBody(heap: HeapBudget, request: FastifyRequest & Reserved, { raw }: FastifyReply): void {
  const bytes = Number(request.headers['content-length'] ?? 0);
  // Fastify refuses a longer one before it reads it.
  const reservation = heap.open(bytes > request.routeOptions.bodyLimit ? 0 : bytes * HEAP_COST.request);
  if (!reservation) throw heapExhausted();
  request[RESERVATION] = reservation;
  raw.once('close', () => reservation.release());
}

/** Reserves more for a body without a declared length, or for a decompressed one. @throws AppError `HEAP_EXHAUSTED` */
export function reserveMore(request: FastifyRequest & Reserved, bytes: number): void {
  if (request[RESERVATION]?.grow(bytes * HEAP_COST.request) === false) throw heapExhausted();
}

/** Continues a request within its reservation. */
export function withReservation(request: FastifyRequest & Reserved, action: () => void): void {
  const reservation = request[RESERVATION];
  if (reservation) reservation.run(action);
  else action();
}
