import { SlidingWindowPolicy } from './sliding-window.policy.js';

/** The newest turns, and before them what a model made of all others. */
export class SummaryPolicy extends SlidingWindowPolicy {
  override readonly name = 'summary';
  override readonly summarises = true;
}
