import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';

/** A position in a list that is ordered by time, then id. Times are epoch ms. */
interface TimePlace {
  readonly at: number;
  readonly id: string;
}

export function cursorOf({ at, id }: TimePlace): string {
  return `${at}.${id}`;
}

/** @throws AppError `VALIDATION_FAILED` for an invalid cursor */
export function placeOf(cursor: string | undefined): TimePlace | undefined {
  if (cursor === undefined) return undefined;
  const [, at, id] = /^(\d{1,15})\.([\w-]{1,128})$/.exec(cursor) ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  const message = 'cursor must be the "next" of a page';
  throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake('cursor', message, 'isCursor', cursor)] },
  });
}
