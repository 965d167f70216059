/** A policy's decision about a call, as published in run events. */
export interface PolicyNote {
  /** The policy's name. */
  readonly policy: string;
  readonly decision: 'allowed' | 'approval' | 'denied' | 'limited';
  readonly reason?: string;
  /** Reset time of the limit, epoch ms. */
  readonly resets_at?: number;
}
