import { ValidateBy } from 'class-validator';

export type ListName =
  | 'access'
  | 'approvals'
  | 'dataset'
  | 'deliveries'
  | 'evals'
  | 'feedback'
  | 'keys'
  | 'runs'
  | 'schedules'
  | 'sessions'
  | 'states'
  | 'usage'
  | 'waiting';

/** Maximum size of a cursor, in characters. */
const MAX_LENGTH = 1000;

/**
 * A cursor of the list: its name, then the position in base64url, so that a cursor of another list is refused.
 * @param place position as the store returns it; `null` on the last page
 */
export function toCursor(list: ListName, place: string | null): string | null {
  return place === null ? null : `${list}.${Buffer.from(place).toString('base64url')}`;
}

/** The position in a cursor that `IsCursor` accepted. */
export function placeIn(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : Buffer.from(cursor.slice(cursor.indexOf('.') + 1), 'base64url').toString();
}

/** @param place pattern of the positions of the list */
export const IsCursor = (list: ListName, place: RegExp) =>
  ValidateBy({
    name: 'isCursor',
    constraints: [list],
    validator: {
      validate: (value) => typeof value === 'string' && isCursor(value, list, place),
      defaultMessage: () => '$property must be the "next" of a page of this list',
    },
  });

/** A position in a list that is ordered by time (epoch ms), then id. */
export const TIME_PLACE = /^\d{1,15}\.[\p{L}\p{M}\p{Nd}_.:@-]{1,128}$/u;

function isCursor(text: string, list: ListName, place: RegExp): boolean {
  if (!text.startsWith(`${list}.`) || text.length > MAX_LENGTH) return false;
  const found = placeIn(text) ?? '';
  // Other texts would decode to the same position.
  return place.test(found) && toCursor(list, found) === text;
}

export interface TimePlace {
  /** Epoch ms. */
  readonly at: number;
  readonly id: string;
}

export function timePlaceIn(cursor: string | undefined): TimePlace | undefined {
  const [, at, id] = /^(\d+)\.(.+)$/u.exec(placeIn(cursor) ?? '') ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}
