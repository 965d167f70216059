/** Followers woken in one turn of the event loop; their writes take a few ms. */
const WAKE_UPS_A_TURN = 100;

/** Wakes followers: at once, but with a limit per turn of the event loop, so that other work is not delayed. */
export class WakeUpExecutor {
  private waiting: (() => void)[] = [];
  /** Since the last pause, which may be long ago. */
  private woken = 0;

  wake(follower: () => void): void {
    if (this.woken < WAKE_UPS_A_TURN) {
      this.woken++;
      follower();
    } else if (this.waiting.push(follower) === 1) this.pause();
  }

  private pause(): void {
    setImmediate(() => {
      const now = this.waiting.slice(0, WAKE_UPS_A_TURN);
      this.waiting = this.waiting.slice(WAKE_UPS_A_TURN);
      this.woken = now.length;
      if (this.waiting.length > 0) this.pause();
      for (const follower of now) follower();
    });
  }
}
