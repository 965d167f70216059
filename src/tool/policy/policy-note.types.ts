/** What a policy decided about a call, as its run tells it. */
export interface PolicyNote {
  /** The policy's name. */
  readonly policy: string;
  readonly decision: 'allowed' | 'approval' | 'denied' | 'limited';
  readonly reason?: string;
  /** When a limit has room again, epoch ms. */
  readonly resets_at?: number;
}
