import { AppError } from '../../errors/index.js';
import { imagesOf, withoutImages, type Message } from '../../llm/index.js';
import type { Loop } from '../reasoning.types.js';

const NOTE = 'An image that the model’s provider refused is not shown';
/** HTTP statuses with which providers reject the content of a request, such as an unreadable image. */
const CONTENT_REFUSALS: readonly unknown[] = [400, 413, 415, 422];

/**
 * Whether an image of the request may have caused this error. The messages of providers vary too much to match them.
 */
export function mayBeImageRefusal(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'MODEL_REFUSED') return false;
  const status = error.details?.['provider_status'];
  return status === undefined || CONTENT_REFUSALS.includes(status);
}

/**
 * The history and the turn of a request. Earlier images are those of the history and of tool results, not of the input.
 */
export type RequestMessages = Pick<Loop, 'turn'> & { readonly history: readonly Message[] };

/** The messages of the next request; without images of the history if the provider has refused them in this run. */
export function requestMessages({ request, turn, areEarlierImagesRefused }: Loop): RequestMessages {
  return { history: areEarlierImagesRefused ? withoutImages(request.history, NOTE) : request.history, turn };
}

export function countEarlierImages({ history, turn }: RequestMessages): number {
  return [...history, ...turn.slice(1)].reduce((sum, message) => sum + imagesOf(message).length, 0);
}

/** The messages with a note in place of each earlier image. */
export function withoutEarlierImages({ history, turn }: RequestMessages): RequestMessages {
  return { history: withoutImages(history, NOTE), turn: [...turn.slice(0, 1), ...withoutImages(turn.slice(1), NOTE)] };
}

/** Removes the refused earlier images from the rest of the run and from its stored turn. */
export function dropEarlierImages(loop: Loop): void {
  loop.areEarlierImagesRefused = true;
  replaceFrom(loop.turn, 1);
}

/** Removes images that no model has accepted from the stored turn, so that later turns are not refused. */
export function dropUnacceptedImages({ turn, acceptedMessages }: Loop): void {
  replaceFrom(turn, acceptedMessages);
}

function replaceFrom(turn: Message[], start: number): void {
  turn.splice(start, turn.length, ...withoutImages(turn.slice(start), NOTE));
}
