import { SlidingWindowPolicy } from './sliding-window.policy.js';

/** The newest turns, after a summary of all earlier turns. */
export class SummaryPolicy extends SlidingWindowPolicy {
  override readonly name = 'summary';
  override readonly summarises = true;
}
